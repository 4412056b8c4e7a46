//! Claims: sentences that the data can confirm or contradict, with what would do so.

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
    /// The parts; the claim is as good as its worst.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    /// What is concluded, by verdict.
    pub conclusion: Conclusion,
}

/// One quantity of a claim, with what would agree and what would contradict.
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
    /// The figure published, as an expression on published figures; its times are in nanoseconds.
    pub published: String,
    /// Agreement is within this factor either way of what was published.
    #[serde(default = "default_agreement")]
    pub agreement: f64,
    /// The value that would mean that there is no such effect. Absent where the claim itself is that there is none.
    #[serde(default)]
    pub no_effect: Option<String>,
    /// What was published of it, where it is measured here: from there on, the published figure says in which direction the claim goes.
    #[serde(default)]
    pub no_effect_published: Option<String>,
}

fn default_agreement() -> f64 {
    1.25
}

/// The concluding sentence for each verdict that the data can give, with quantities in braces.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Conclusion {
    /// How it begins whatever the verdict: mostly with the figures. The others are its ends then.
    #[serde(default)]
    begins: String,
    /// The interval lies in the band of agreement.
    holds: String,
    /// Outside the band, on the same side of no effect.
    shifted: String,
    /// On the other side, or at no effect.
    does_not_hold: String,
    /// None of these can be said.
    #[serde(default = "undecided")]
    inconclusive: String,
}

fn undecided() -> String {
    ": undecided, since an interval reaches over a bound of what would agree, or does not clear the noise.".to_owned()
}

impl Conclusion {
    /// The sentence for a verdict; none where there is no number to conclude from.
    pub fn sentence(&self, verdict: Verdict) -> Option<String> {
        let end = match verdict {
            Verdict::Holds => &self.holds,
            Verdict::Shifted => &self.shifted,
            Verdict::DoesNotHold => &self.does_not_hold,
            Verdict::Inconclusive => &self.inconclusive,
            Verdict::NotMeasured => return None,
        };
        Some(format!("{}{end}", self.begins))
    }

    /// Those for all verdicts.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let verdicts = [Verdict::Holds, Verdict::Shifted, Verdict::DoesNotHold, Verdict::Inconclusive];
        verdicts.into_iter().filter_map(|verdict| self.sentence(verdict))
    }
}

#[cfg(test)]
mod tests;
