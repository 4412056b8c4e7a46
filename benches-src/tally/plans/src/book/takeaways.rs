//! Findings as flat sentences, which the data choose, and figures that compare. A takeaway has a
//! sentence for every outcome that can happen; the first whose conditions all hold for certain is
//! printed, and the last has none.

pub mod condition;
mod outcomes;

use std::collections::BTreeMap;
use std::mem::take;

use anyhow::{Context, Result, bail, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

use condition::{Condition, NOT_CLEAR, name_in};

use crate::book::plan_file;
use crate::book::programs::Series;
use crate::book::scatter::Scatter;
use crate::book::sentences::braces;
use crate::name::{self, nearest};
use crate::project::Project;

/// The figure whose rows are the rungs.
pub const LADDER: &str = "ladder";

/// Findings as sentences that the data choose: what the front page says in the file beside the
/// chapters, and what a chapter says in its own.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Front {
    /// The findings, each a table `[[takeaway]]`.
    #[serde(default, rename = "takeaway")]
    pub takeaways: Vec<Takeaway>,
    /// The rungs of the ladder on the front page, in the order in which they are shown: tasks on
    /// the left, threads on the right. `tally figure ladder` shows it.
    #[serde(default, rename = "rung")]
    pub ladder: Vec<Pair>,
    /// Figures in which two ways to do things are compared, shown by `tally figure <name>`.
    #[serde(default, rename = "dumbbell")]
    pub dumbbells: Vec<Dumbbell>,
    /// Figures with a dot for each machine, shown by `tally figure <name>`.
    #[serde(default, rename = "scatter")]
    pub scatters: Vec<Scatter>,
    /// Which to use for what, shown by `tally takeaway --advice`.
    #[serde(default)]
    pub advice: Vec<Advice>,
    /// The numbers by which machines are compared at a glance, each a column of `tally list
    /// --machines`.
    #[serde(default)]
    pub glance: Vec<Glance>,
}

/// A finding. One that has the name of an experiment, or of its figure such as `primitives-dots`,
/// is the title of that figure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Takeaway {
    /// What directives call it: lower-case words with hyphens.
    pub id: String,
    /// Its sentences. The first whose conditions all hold for certain is said: `case = [{ when =
    /// ["hop-ratio > 1"], say = "…" }, { say = "…" }]`.
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
    /// Instead of cases, one sentence for all outcomes: `"A hand-over costs threads
    /// {hop-ratio}× as much as tasks."` Words in which its outcomes differ stand in brackets, in
    /// the order of the outcomes: `"It [rises|falls|may change]."`
    #[serde(default)]
    say: Option<String>,
    /// With `say`: the quantity that is more than 1, or less, or cannot be told from it. Without
    /// brackets the sentence then has "only" before this number if it is less, and ends with
    /// ", not clearly different" if that is so.
    #[serde(default)]
    ratio: Option<String>,
    /// With `say`: what must be so for each of its outcomes but the last, as a case says it:
    /// `when = [["hop-ratio > 1"]]`.
    #[serde(default)]
    when: Vec<Vec<String>>,
}

impl Takeaway {
    /// Makes cases of its sentence, where it has one for all of them.
    fn spell_out(&mut self) -> Result<()> {
        let Some(say) = self.say.take() else {
            ensure!(
                self.ratio.is_none() && self.when.is_empty(),
                "ratio and when go with say, and cases have their own"
            );
            return Ok(());
        };
        ensure!(self.cases.is_empty(), "it has both say and cases");
        self.cases = match self.ratio.take() {
            Some(_) if !self.when.is_empty() => bail!("it has both ratio and when"),
            Some(ratio) => outcomes::cases(outcomes::of_ratio(&ratio), &outcomes::with_brackets(&ratio, &say))?,
            None => outcomes::cases(take(&mut self.when), &say)?,
        };
        Ok(())
    }
}

/// One outcome.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What must be so over whole intervals: two expressions with `>`, `<` or `~` (alike within a
    /// quarter) between them, such as `["hop-ratio > 1"]`. `10 busy connections is yes or probably`
    /// is so if the calculator answers that worked case with one of these words: yes, probably,
    /// open, hardly or no. `hop-ratio range > 1` is so if every machine's number is. The last case
    /// has none, and covers all that is left; every case before it has some.
    #[serde(default)]
    pub when: Vec<String>,
    /// What is said then, with quantities in braces: `"A hop costs threads {hop-ratio}× what it
    /// costs tasks."` `{hop-ratio range}` is the least and the largest number of all machines,
    /// `{hop-ratio machines}` how many have it. `{hop-ratio unclear}` is ", not clearly
    /// different", or ", unclear" in parentheses, if it cannot be told from 1, and nothing
    /// otherwise.
    pub say: String,
    /// Which to use, where it is advice: threads, tasks or either. Machines that choose the same
    /// agree.
    #[serde(default, rename = "use")]
    pub choice: Option<Choice>,
}

/// Which to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// A thread for each.
    Threads,
    /// A task for each.
    Tasks,
    /// It makes no difference that matters.
    Either,
}

impl Choice {
    /// As pages say it.
    pub fn word(self) -> &'static str {
        match self {
            Choice::Threads => "threads",
            Choice::Tasks => "tasks",
            Choice::Either => "either",
        }
    }
}

/// The costs of two, and how many times the left one's the right one's is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// What is done, in a few words.
    pub label: String,
    /// Under which circumstances, in a few words.
    pub detail: String,
    /// The quantity that is the ratio of the two.
    pub ratio: String,
    /// The quantity that the left one costs.
    pub left: String,
    /// The quantity that the right one costs.
    pub right: String,
}

/// A figure in which two are compared, a row for each thing that they do. The takeaway of its name
/// is its title.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// What directives call it: lower-case words with hyphens.
    pub name: String,
    /// What one number of it is, such as `"time per hop"`.
    pub what: String,
    /// Who is compared, on the left.
    pub left: Party,
    /// With whom, on the right.
    pub right: Party,
    /// The things that they do, in the order in which they are shown.
    #[serde(rename = "row")]
    pub rows: Vec<Pair>,
}

/// One of two that are compared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Party {
    /// What it stands for, which decides its colour.
    pub series: Series,
    /// What it is called, such as `"a task"`.
    pub label: String,
}

/// A number by which all machines are compared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Glance {
    /// What it is, in a few words.
    pub label: String,
    /// The quantity.
    pub quantity: String,
}

/// A kind of service, and which to use for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// What somebody builds, in a few words: the name of the calculator's worked case, which
    /// decides, unless there are cases.
    pub service: String,
    /// The number beside the calculator's answer.
    #[serde(default)]
    pub say: Option<String>,
    /// What decides, each case with its `use`.
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
}

impl Front {
    /// Reads what the front page says and what each chapter does; a project may have neither.
    pub fn load(project: &Project) -> Result<Self> {
        let (mut all, mut taken) = (Self::default(), BTreeMap::new());
        for path in project.takeaways() {
            let place = project.place(&path);
            let mut own: Self = plan_file::read(project, &path)?;
            own.check().with_context(|| place.clone())?;
            let ids = own.takeaways.iter().map(|own| ("takeaway", own.id.clone()));
            let names = own.dumbbells.iter().map(|own| ("dumbbell", own.name.clone()));
            let scatters = own.scatters.iter().map(|own| ("scatter", own.name.clone()));
            for key in ids.chain(names).chain(scatters) {
                let (what, id) = key.clone();
                if let Some(other) = taken.insert(key, place.clone()) {
                    bail!("the {what} {id} stands in {other} and in {place}");
                }
            }
            all.takeaways.extend(own.takeaways);
            all.ladder.extend(own.ladder);
            all.dumbbells.extend(own.dumbbells);
            all.scatters.extend(own.scatters);
            all.advice.extend(own.advice);
            all.glance.extend(own.glance);
        }
        Ok(all)
    }

    fn check(&mut self) -> Result<()> {
        for takeaway in &mut self.takeaways {
            name::check(&takeaway.id, "a takeaway")?;
            let checked = takeaway.spell_out().and_then(|()| cases_are_whole(&takeaway.cases));
            checked.with_context(|| format!("takeaway {}", takeaway.id))?;
        }
        for dumbbell in &self.dumbbells {
            name::check(&dumbbell.name, "a dumbbell")?;
            ensure!(!dumbbell.rows.is_empty(), "dumbbell {}: it has no row", dumbbell.name);
        }
        for scatter in &self.scatters {
            scatter.is_whole()?;
        }
        for advice in &self.advice {
            let place = || format!("advice on {:?}", advice.service);
            ensure!(advice.say.is_some() == advice.cases.is_empty(), "{}: it has either `say` or cases", place());
            if advice.say.is_some() {
                continue;
            }
            cases_are_whole(&advice.cases).with_context(place)?;
            ensure!(advice.cases.iter().all(|case| case.choice.is_some()), "{}: a case without use", place());
        }
        Ok(())
    }

    /// The names of all figures that compare.
    pub fn figures(&self) -> impl Iterator<Item = &str> + Clone {
        let ladder = (!self.ladder.is_empty()).then_some(LADDER);
        let names = self.dumbbells.iter().map(|own| own.name.as_str());
        names.chain(self.scatters.iter().map(|own| own.name.as_str())).chain(ladder)
    }

    /// The takeaway of this id.
    pub fn takeaway(&self, id: &str) -> Result<&Takeaway> {
        let known = || self.takeaways.iter().map(|takeaway| takeaway.id.as_str());
        let found = self.takeaways.iter().find(|takeaway| takeaway.id == id);
        found.with_context(|| unknown("takeaway", id, known()))
    }

    /// Every case of every sentence, each with what it belongs to.
    pub fn cases(&self) -> impl Iterator<Item = (String, &Case)> {
        let takeaways = self.takeaways.iter().flat_map(|own| own.cases.iter().map(|case| (own.id.clone(), case)));
        let advice = self.advice.iter().flat_map(|own| own.cases.iter().map(|case| (own.service.clone(), case)));
        takeaways.chain(advice)
    }

    /// All expressions that it stands on.
    pub fn expressions(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (_, case) in self.cases() {
            let sides = case.when.iter().filter_map(|text| match Condition::read(text).ok()? {
                Condition::Compared(own) => Some([own.left, own.right]),
                Condition::Answered { .. } => None,
            });
            let sides = sides.flatten();
            all.extend(sides.chain(in_braces(&case.say)).map(|text| name_in(&text).to_owned()));
        }
        let says = self.advice.iter().filter_map(|own| own.say.as_ref());
        all.extend(says.flat_map(|say| in_braces(say)).map(|text| name_in(&text).to_owned()));
        let pairs = self.ladder.iter().chain(self.dumbbells.iter().flat_map(|dumbbell| &dumbbell.rows));
        all.extend(pairs.flat_map(|pair| [&pair.ratio, &pair.right, &pair.left]).cloned());
        all.extend(self.scatters.iter().flat_map(Scatter::quantities).cloned());
        all
    }
}

/// What stands between braces in a sentence.
fn in_braces(text: &str) -> Vec<String> {
    let places = braces(text).unwrap_or_default().into_iter();
    places.map(|place| text[place.start + 1..place.end - 1].to_owned()).collect()
}

/// What is said of a name that nothing has.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = nearest(name, known.clone()).map_or(String::new(), |nearest| format!("did you mean {nearest}? "));
    format!("unknown {what} {name:?}; {nearest}there are: {}", known.collect::<Vec<_>>().join(", "))
}

/// Every outcome is covered: only the last sentence has no condition.
fn cases_are_whole(cases: &[Case]) -> Result<()> {
    let Some((last, before)) = cases.split_last() else { bail!("it has no sentence") };
    ensure!(last.when.is_empty(), "an outcome is missing: the last case, for all that is left, has a condition");
    ensure!(
        before.iter().all(|case| !case.when.is_empty()),
        "a case before the last has no condition, and hides those after it"
    );
    for case in cases {
        let says_so_always = case.say.contains(NOT_CLEAR);
        ensure!(!says_so_always, "`{NOT_CLEAR}` is right where that is so: write {{… unclear}} in its place");
        for text in &case.when {
            Condition::read(text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
