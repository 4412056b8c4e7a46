//! What can be said of a claim.

/// What the data say, from good to bad. Of many machines, what at least half of them say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing is to be said: figures of somebody else's stand beside this machine's.
    Compared,
    /// All of the interval agrees.
    Holds,
    /// The same of all that can be measured; the sentence says more.
    PartlyChecked,
    /// What is claimed is there, with another figure.
    Shifted,
    /// Alike, and the difference that is claimed is smaller than what could be seen.
    TooClose,
    /// The interval reaches over a bound of what would agree.
    Undecided,
    /// No half of the machines says the same.
    Divided,
    NotMeasured,
    /// Nothing of the interval agrees, whatever else was not measured.
    DoesNotHold,
}

/// To which side of what was claimed something lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    More,
    Less,
    /// Another time or size, of which neither is more of what was claimed; or parts to different
    /// sides.
    AnotherFigure,
}

impl Shift {
    pub fn words(self) -> &'static str {
        match self {
            Shift::More => "more than claimed",
            Shift::Less => "less than claimed",
            Shift::AnotherFigure => "another figure",
        }
    }
}

impl Verdict {
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Compared => "compared",
            Verdict::Holds => "holds",
            Verdict::PartlyChecked => "holds as far as it can be checked",
            Verdict::Shifted => "another figure",
            Verdict::TooClose => "too close to tell",
            Verdict::Undecided => "undecided",
            Verdict::Divided => "machines differ",
            Verdict::DoesNotHold => "does not hold",
            Verdict::NotMeasured => "not measured",
        }
    }

    /// The class of what shows it in a page.
    pub fn class(self) -> &'static str {
        match self {
            Verdict::Compared => "compared",
            Verdict::Holds => "holds",
            Verdict::PartlyChecked => "partly-checked",
            Verdict::Shifted => "shifted",
            Verdict::TooClose => "too-close",
            Verdict::Undecided => "undecided",
            Verdict::Divided => "divided",
            Verdict::DoesNotHold => "does-not-hold",
            Verdict::NotMeasured => "not-measured",
        }
    }

    /// Whether it says neither yes nor no.
    pub fn is_open(self) -> bool {
        matches!(self, Verdict::TooClose | Verdict::Undecided)
    }

    /// As a sentence says it of so many claims.
    pub fn said_of(self, claims: usize) -> &'static str {
        let (one, several) = match self {
            Verdict::Compared => ("is only compared", "are only compared"),
            Verdict::Holds => ("holds", "hold"),
            Verdict::PartlyChecked => ("holds as far as it can be checked", "hold as far as they can be checked"),
            Verdict::Shifted => ("has another figure", "have another figure"),
            Verdict::TooClose => ("is too close to tell", "are too close to tell"),
            Verdict::Undecided => ("is undecided", "are undecided"),
            Verdict::Divided => ("differs from machine to machine", "differ from machine to machine"),
            Verdict::DoesNotHold => ("does not hold", "do not hold"),
            Verdict::NotMeasured => ("is not measured", "are not measured"),
        };
        if claims == 1 { one } else { several }
    }
}
