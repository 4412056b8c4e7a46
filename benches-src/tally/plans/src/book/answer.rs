//! How the calculator answers: whether a thread per connection would do.

/// How threads stand to their bounds: the worst of these is the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The whole interval keeps to the bound.
    Yes,
    /// The bound lies within the interval, and the median keeps to it.
    Probably,
    /// The interval reaches from no effect to beyond the bound, and the median is beyond it: noise
    /// is no reason to take tasks.
    Open,
    /// The bound lies within the interval, the median beyond it, and no effect is excluded.
    Hardly,
    /// There is no number, or no interval.
    Unknown,
    /// The whole interval lies beyond the bound.
    No,
    /// The case cannot be.
    Senseless,
}

impl State {
    pub const ALL: [State; 7] =
        [State::Yes, State::Probably, State::Open, State::Hardly, State::Unknown, State::No, State::Senseless];

    /// A word for scripts and colours.
    pub fn word(self) -> &'static str {
        match self {
            State::Yes => "yes",
            State::Probably => "probably",
            State::Open => "open",
            State::Hardly => "hardly",
            State::Unknown => "unknown",
            State::No => "no",
            State::Senseless => "senseless",
        }
    }

    /// Whether there is an answer.
    pub fn is_known(self) -> bool {
        !matches!(self, State::Unknown | State::Senseless)
    }

    /// Whether the answer is the same, sure or not.
    pub fn is_like(self, other: State) -> bool {
        let threads = |state: State| matches!(state, State::Yes | State::Probably);
        let tasks = |state: State| matches!(state, State::Hardly | State::No);
        let open = |state: State| state == State::Open;
        [threads, tasks, open].iter().any(|kind| kind(self) && kind(other))
    }

    /// Which to use, in a table.
    pub fn choice(self) -> &'static str {
        match self {
            State::Yes => "threads will do",
            State::Probably => "threads, probably",
            State::Open => "too uncertain",
            State::Hardly => "tasks, probably",
            State::No => "tasks",
            State::Unknown | State::Senseless => "not known",
        }
    }
}
