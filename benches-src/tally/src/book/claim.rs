//! Claims: sentences that the data can confirm or contradict, with what would do so.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::verdict::Verdict;

/// One sentence that the data can confirm or contradict.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `C1` …
    pub id: String,
    /// The sentence, word for word.
    pub sentence: String,
    /// Whether it is in our words instead, and stands without quotation marks.
    #[serde(default)]
    pub paraphrased: bool,
    /// The file of `data/published` it comes from.
    pub source: String,
    /// What part of the sentence is checked, where that is not all of it, and how.
    #[serde(default)]
    pub note: Option<String>,
    /// The experiment whose record decides.
    pub experiment: String,
    /// How its parts are joined.
    #[serde(default)]
    pub joined: Joined,
    /// Why it is compared and not judged, where that is so: it is somebody's own measurement, or true by construction.
    #[serde(default)]
    pub compared: Option<String>,
    /// What of the sentence no part checks. Then it is undecided at best.
    #[serde(default)]
    pub unchecked: Option<String>,
    /// The parts.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    /// What is concluded, by verdict.
    pub conclusion: Conclusion,
}

/// How the parts of a claim are joined, as its sentence joins them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Joined {
    /// All of them are to be so.
    #[default]
    And,
    /// One is enough.
    Or,
}

/// One quantity of a claim, with what would agree: at most one of `about`, `at_least`, `at_most`, `between` and `equals`. Each is an
/// expression on numbers and published figures, whose times are in nanoseconds, or the word `published`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A few words.
    pub name: String,
    /// What is measured here.
    pub quantity: String,
    /// The experiment whose record decides, where it is not the claim's.
    #[serde(default)]
    pub experiment: Option<String>,
    /// The figure that was published, as an expression on published figures. Absent where there is none: nothing of ours stands here.
    #[serde(default)]
    pub published: Option<String>,
    /// The value that is claimed.
    #[serde(default)]
    about: Option<String>,
    /// Agreement with `about` is within this factor either way.
    #[serde(default)]
    within: Option<f64>,
    /// The value that would mean that there is no such effect, where `about` claims one.
    #[serde(default)]
    pub no_effect: Option<String>,
    #[serde(default)]
    at_least: Option<String>,
    #[serde(default)]
    at_most: Option<String>,
    #[serde(default)]
    between: Option<[String; 2]>,
    #[serde(default)]
    equals: Option<String>,
    /// The same among fewer participants, where sessions agree better; shown beside and not judged.
    #[serde(default)]
    pub beside: Option<String>,
}

/// What would agree with a part, as the plan says it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected<'a> {
    /// Nothing is expected.
    Nothing,
    /// See [`Part`].
    About {
        /// The value.
        value: &'a str,
        /// The factor.
        within: f64,
        /// Where there would be no effect.
        no_effect: Option<&'a str>,
    },
    /// See [`Part`].
    AtLeast(&'a str),
    /// See [`Part`].
    AtMost(&'a str),
    /// See [`Part`].
    Between(&'a str, &'a str),
    /// See [`Part`].
    Equals(&'a str),
}

/// Agreement, where nothing else is said.
const WITHIN: f64 = 1.25;

impl Claim {
    /// What is wrong with how it says what would agree.
    pub fn check(&self) -> Result<()> {
        for part in &self.parts {
            let expected = part.expected().with_context(|| format!("part {:?}", part.name))?;
            let is_compared = self.compared.is_some();
            ensure!(
                (expected == Expected::Nothing) == is_compared,
                "part {:?}: a part of a claim that is judged expects something, and of one that is compared nothing",
                part.name
            );
        }
        let can_shift = self.parts.iter().any(|part| part.no_effect.is_some());
        let says_shifted = self.conclusion.shifted.is_some();
        ensure!(
            can_shift == says_shifted,
            "a sentence for shifted is needed where a part says no_effect, and only there"
        );
        ensure!(
            self.compared.is_some() || self.conclusion.is_whole(),
            "sentences for holds and does-not-hold are missing"
        );
        Ok(())
    }
}

impl Part {
    /// What would agree with it.
    pub fn expected(&self) -> Result<Expected<'_>> {
        let about = self.about.as_deref().map(|value| Expected::About {
            value,
            within: self.within.unwrap_or(WITHIN),
            no_effect: self.no_effect.as_deref(),
        });
        let between = self.between.as_ref().map(|[low, high]| Expected::Between(low, high));
        let all = [
            about,
            self.at_least.as_deref().map(Expected::AtLeast),
            self.at_most.as_deref().map(Expected::AtMost),
            between,
            self.equals.as_deref().map(Expected::Equals),
        ];
        ensure!(
            self.about.is_some() || self.within.or(self.no_effect.as_ref().map(|_| 1.0)).is_none(),
            "within and no_effect belong to about"
        );
        ensure!(self.within.is_none_or(|factor| factor >= 1.0), "within is a factor of 1 (exactly) or above");
        let mut all = all.into_iter().flatten();
        let expected = all.next().unwrap_or(Expected::Nothing);
        ensure!(all.next().is_none(), "one of about, at_least, at_most, between and equals is enough");
        Ok(expected)
    }
}

/// The concluding sentence for each verdict that the data can give, with quantities in braces.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Conclusion {
    /// How it begins whatever the verdict: mostly with the figures. The others are its ends then.
    #[serde(default)]
    begins: String,
    /// All of the interval agrees.
    #[serde(default)]
    holds: Option<String>,
    /// The effect is there, with another figure.
    #[serde(default)]
    shifted: Option<String>,
    /// Nothing of the interval agrees.
    #[serde(default)]
    does_not_hold: Option<String>,
    /// None of these can be said, where that is not just an interval that reaches over a bound.
    #[serde(default)]
    undecided: Option<String>,
}

/// How it ends where a plan does not say it; whoever prints it goes on with which interval reaches over what.
pub const UNDECIDED: &str = ": undecided";

impl Conclusion {
    /// Whether it leaves it to others to say why something is undecided.
    pub fn leaves_undecided(&self) -> bool {
        self.undecided.is_none()
    }

    /// The sentence for a verdict; none where there is no number to conclude from.
    pub fn sentence(&self, verdict: Verdict) -> Option<String> {
        let end = match verdict {
            Verdict::Holds => self.holds.as_deref()?,
            Verdict::Shifted => self.shifted.as_deref()?,
            Verdict::DoesNotHold => self.does_not_hold.as_deref()?,
            Verdict::Undecided => self.undecided.as_deref().unwrap_or(UNDECIDED),
            Verdict::Compared => "",
            Verdict::NotMeasured => return None,
        };
        Some(format!("{}{end}", self.begins))
    }

    fn is_whole(&self) -> bool {
        self.holds.is_some() && self.does_not_hold.is_some()
    }

    /// Those for all verdicts.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        use Verdict::{Compared, DoesNotHold, Holds, Shifted, Undecided};
        [Compared, Holds, Shifted, DoesNotHold, Undecided].into_iter().filter_map(|verdict| self.sentence(verdict))
    }
}

#[cfg(test)]
mod tests;
