//! What can be said of a claim.

/// What the data say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The interval lies in the band of agreement.
    Holds,
    /// Outside the band, on the same side of no effect.
    Shifted,
    /// None of the others can be said, or the difference is below the noise floor.
    Inconclusive,
    /// On the other side of no effect, or at it.
    DoesNotHold,
    /// There is no number.
    NotMeasured,
}

impl Verdict {
    /// As pages say it.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Shifted => "shifted",
            Verdict::Inconclusive => "inconclusive",
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
            Verdict::Holds => ("holds", "hold"),
            Verdict::Shifted => ("has another figure", "have another figure"),
            Verdict::Inconclusive => ("is undecided", "are undecided"),
            Verdict::DoesNotHold => ("does not hold", "do not hold"),
            Verdict::NotMeasured => ("is not measured", "are not measured"),
        };
        if claims == 1 { one } else { several }
    }
}
