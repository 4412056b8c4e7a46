//! How the calculator answers: whether a thread per connection would do.

/// How threads stand to their bounds: the worst of these is the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The whole interval keeps to the bound.
    Yes,
    /// The bound lies within the interval, and the median keeps to it.
    Probably,
    /// The bound lies within the interval, and the median beyond it.
    Hardly,
    /// There is no number, or no interval.
    Unknown,
    /// The whole interval lies beyond the bound.
    No,
    /// The case cannot be.
    Senseless,
}

impl State {
    pub const ALL: [State; 6] =
        [State::Yes, State::Probably, State::Hardly, State::Unknown, State::No, State::Senseless];

    /// A word for scripts and colours.
    pub fn word(self) -> &'static str {
        match self {
            State::Yes => "yes",
            State::Probably => "probably",
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
        let threads = |state| matches!(state, State::Yes | State::Probably);
        self.is_known() && other.is_known() && threads(self) == threads(other)
    }

    /// Which to use, in a table.
    pub fn choice(self) -> &'static str {
        match self {
            State::Yes => "threads will do",
            State::Probably => "threads, probably",
            State::Hardly => "tasks, probably",
            State::No => "tasks",
            State::Unknown | State::Senseless => "not known",
        }
    }
}
