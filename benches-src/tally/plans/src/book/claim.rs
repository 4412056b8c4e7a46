//! Claims: sentences that the data can confirm or contradict, with what would do so.

use anyhow::{Context, Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::Plans;
use super::quantities::{Asked, Named};
use super::verdict::Verdict;
use crate::name::nearest;

/// One sentence that the data can confirm or contradict: a file of a chapter's `claims/`, whose
/// name is the claim's id.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `C1` …, from the file's name: letters and digits.
    #[serde(skip)]
    pub id: String,
    /// The sentence, word for word as its source says it.
    pub sentence: String,
    /// Whether it is in our words instead, and stands without quotation marks.
    #[serde(default)]
    pub paraphrased: bool,
    /// The file of `data/published` it comes from, without its ending. Left out, it is a prediction
    /// of this book's own.
    #[serde(default = "own_prediction")]
    pub source: String,
    /// What part of the sentence is checked, where that is not all of it, and how. In sentences.
    #[serde(default)]
    pub note: Option<String>,
    /// The experiment whose record decides. Left out, it is that of the first part's quantity,
    /// which needs a name for that.
    #[serde(default)]
    pub experiment: String,
    /// How its parts are joined, as its sentence joins them.
    #[serde(default)]
    pub joined: Joined,
    /// Why it is compared and not judged, where that is so: it is somebody's own measurement, or
    /// true by construction.
    #[serde(default)]
    pub compared: Option<String>,
    /// What of the sentence no part checks. Then it holds as far as it can be checked, at best.
    #[serde(default)]
    pub unchecked: Option<String>,
    /// The parts, each a quantity with what would agree: `[{ name = "threads over tasks", quantity
    /// = "hop-ratio", at_least = "1" }]`.
    pub parts: Vec<Part>,
    /// How the conclusion begins whatever the verdict, with quantities in braces: `"A hop takes
    /// {thread-hop}"`. The others are its ends then. `{thread-hop range}` is the least and the
    /// largest number of all machines, `{thread-hop machines}` how many have it.
    #[serde(default)]
    pub begins: String,
    /// How it ends where all of the interval agrees: `", as published."`. Needed unless the claim
    /// is only compared.
    #[serde(default)]
    holds: Option<String>,
    /// How it ends where the effect is there, with another figure. Needed where a part says
    /// `no_effect`, and only there.
    #[serde(default)]
    shifted: Option<String>,
    /// How it ends where nothing of the interval agrees. Needed unless the claim is only compared.
    #[serde(default)]
    does_not_hold: Option<String>,
    /// How it ends where none of these can be said. Left out, it says which interval reaches over
    /// what.
    #[serde(default)]
    undecided: Option<String>,
    /// What can be told by other numbers where it is too close to tell: `"An Arc waker does
    /// {arc-atomics} atomic operations."`.
    #[serde(default)]
    too_close: Option<String>,
}

fn own_prediction() -> String {
    "predictions".to_owned()
}

/// How the parts of a claim are joined, as its sentence joins them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Joined {
    /// All of them are to be so.
    #[default]
    And,
    /// One is enough.
    Or,
}

/// One quantity of a claim, with what would agree: at most one of `about`, `at_least`, `at_most`,
/// `between` and `equals`. Each is an expression on numbers and published figures, whose times are
/// in nanoseconds, or the word `published`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A few words, such as `"threads over tasks"`.
    pub name: String,
    /// What is measured here: the name of a quantity, or an expression on the experiment's cells.
    pub quantity: String,
    /// The experiment whose record decides. Left out, it is that of the quantity if that has a
    /// name, and else the claim's.
    #[serde(default)]
    pub experiment: Option<String>,
    /// The figure that was published, as an expression on published figures: `"thread-hop /
    /// task-hop"`. Absent where there is none: nothing of ours stands here.
    #[serde(default)]
    pub published: Option<String>,
    /// The value that is claimed. Left out, it is the published one, where there is one and nothing
    /// else is expected.
    #[serde(default)]
    about: Option<String>,
    /// Agreement with `about` is within this factor either way. Left out, it is 1.25.
    #[serde(default)]
    within: Option<f64>,
    /// The value that would mean that there is no such effect, where `about` claims one.
    #[serde(default)]
    pub no_effect: Option<String>,
    /// The least that agrees.
    #[serde(default)]
    at_least: Option<String>,
    /// The most that agrees.
    #[serde(default)]
    at_most: Option<String>,
    /// The least and the most that agree: `["100", "10000"]`.
    #[serde(default)]
    between: Option<[String; 2]>,
    /// The only value that agrees, of a count that is exact.
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

/// How it ends where a plan does not say it; whoever prints it goes on with which interval reaches
/// over what.
pub const UNDECIDED: &str = ": undecided";

/// How an expectation says the published figure.
const PUBLISHED: &str = "published";

/// Agreement, where nothing else is said.
const WITHIN: f64 = 1.25;

impl Claim {
    /// The same with the id that its file's name says.
    pub(super) fn called(self, id: String) -> Self {
        Self { id, ..self }
    }

    /// Its place among others: C2 before C10.
    pub fn place(&self) -> (&str, u32) {
        let letters = self.id.trim_end_matches(|sign: char| sign.is_ascii_digit());
        (letters, self.id[letters.len()..].parse().unwrap_or(0))
    }

    /// Puts in what is left out: what a part expects, and the experiments, which quantities with a
    /// name say.
    pub(super) fn resolve(&mut self, named: &[Named]) -> Result<()> {
        let of_quantity = |name: &str| named.iter().find(|own| own.name == name).map(|own| own.experiment.clone());
        for part in &mut self.parts {
            if self.compared.is_none() && part.published.is_some() && !part.says_what_agrees() {
                part.about = Some(PUBLISHED.to_owned());
            }
            if part.experiment.is_none() {
                part.experiment = of_quantity(&part.quantity);
            }
        }
        if self.experiment.is_empty() {
            let first = self.parts.first().context("it has no parts")?;
            self.experiment = first.experiment.clone().with_context(|| {
                let known = named.iter().map(|own| own.name.as_str());
                let near =
                    nearest(&first.quantity, known).map_or(String::new(), |near| format!("; did you mean {near}?"));
                format!(
                    "it says no experiment, and {:?} is no quantity with a name, which would say it{near}",
                    first.quantity
                )
            })?;
        }
        Ok(())
    }

    /// What is wrong with how it says what would agree.
    pub fn check(&self) -> Result<()> {
        ensure!(!self.parts.is_empty(), "it has no parts");
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
        ensure!(
            can_shift == self.shifted.is_some(),
            "a sentence for shifted is needed where a part says no_effect, and only there"
        );
        ensure!(
            self.compared.is_some() || (self.holds.is_some() && self.does_not_hold.is_some()),
            "sentences for holds and does_not_hold are missing"
        );
        Ok(())
    }

    /// Where a part of it is measured, and how.
    pub fn asked<'a>(&self, plans: &'a Plans, part: &Part) -> Result<Asked<'a>> {
        plans.asked(&part.quantity, Some(part.experiment.as_ref().unwrap_or(&self.experiment)))
    }

    /// Whether it leaves it to others to say why something is undecided.
    pub fn leaves_undecided(&self) -> bool {
        self.undecided.is_none()
    }

    /// The concluding sentence for a verdict, with quantities in braces; none where there is no
    /// number to conclude from.
    pub fn conclusion(&self, verdict: Verdict) -> Option<String> {
        let end = match verdict {
            Verdict::Holds | Verdict::PartlyChecked => self.holds.as_deref()?,
            Verdict::Shifted => self.shifted.as_deref()?,
            Verdict::DoesNotHold => self.does_not_hold.as_deref()?,
            Verdict::Undecided => self.undecided.as_deref().unwrap_or(UNDECIDED),
            Verdict::TooClose => {
                let told = self.too_close.as_ref().map_or(String::new(), |told| format!(" {told}"));
                return Some(format!("{}: too close to tell.{told}", self.begins));
            }
            Verdict::Compared => "",
            Verdict::NotMeasured | Verdict::Divided => return None,
        };
        Some(format!("{}{end}", self.begins))
    }

    /// Those for all verdicts.
    pub fn conclusions(&self) -> impl Iterator<Item = String> {
        use Verdict::{Compared, DoesNotHold, Holds, Shifted, TooClose, Undecided};
        let all = [Compared, Holds, Shifted, DoesNotHold, TooClose, Undecided];
        all.into_iter().filter_map(|verdict| self.conclusion(verdict))
    }
}

impl Part {
    fn says_what_agrees(&self) -> bool {
        let values = [&self.about, &self.at_least, &self.at_most, &self.equals];
        self.between.is_some() || values.into_iter().any(Option::is_some)
    }

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

#[cfg(test)]
mod tests;
