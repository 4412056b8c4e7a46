//! What can be said of a claim.

/// What the data say, from good to bad.
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
    /// The interval reaches over a bound of what would agree.
    Undecided,
    NotMeasured,
    /// Nothing of the interval agrees, whatever else was not measured.
    DoesNotHold,
}

/// To which side of what was claimed something lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    More,
    Less,
    /// Another time or size, of which neither is more of what was claimed; or parts to different sides.
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
            Verdict::PartlyChecked => "partly checked",
            Verdict::Shifted => "shifted",
            Verdict::Undecided => "undecided",
            Verdict::DoesNotHold => "does not hold",
            Verdict::NotMeasured => "not measured",
        }
    }

    /// The class of what shows it in a page.
    pub fn class(self) -> String {
        self.words().replace(' ', "-")
    }

    /// As a sentence says it of so many claims.
    pub fn said_of(self, claims: usize) -> &'static str {
        let (one, several) = match self {
            Verdict::Compared => ("is only compared", "are only compared"),
            Verdict::Holds => ("holds", "hold"),
            Verdict::PartlyChecked => ("is partly checked", "are partly checked"),
            Verdict::Shifted => ("has another figure", "have another figure"),
            Verdict::Undecided => ("is undecided", "are undecided"),
            Verdict::DoesNotHold => ("does not hold", "do not hold"),
            Verdict::NotMeasured => ("is not measured", "are not measured"),
        };
        if claims == 1 { one } else { several }
    }
}
