//! The calculator: what threads and tasks would cost a service that a reader describes, from records and a few formulas.
//!
//! Settings, inputs, formulas and worked cases are data (`calculator.toml` of a chapter); the table and the live view are both made
//! from the same formulas. A formula has one measured input, once, and grows with it: so the ends of the input's interval give
//! those of the output's, and nothing has to be assumed about distributions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::expression::{Expression, Operator};
use crate::plan::Plans;
use crate::project::Project;
use crate::quantity::{Measured, Missing, Quantity, Unit};
use crate::statistics::Estimate;
use crate::view::View;

/// A chapter's `calculator.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calculator {
    /// Whose it is.
    #[serde(skip)]
    pub chapter: String,
    /// What a reader sets.
    #[serde(rename = "setting")]
    pub settings: Vec<Setting>,
    /// What is taken from records.
    #[serde(rename = "input")]
    pub inputs: Vec<Input>,
    /// What is computed.
    #[serde(rename = "output")]
    pub outputs: Vec<Output>,
    /// Worked cases; the first is where a reader begins.
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
}

/// A number that describes a service.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// What formulas call it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// The unit in which it is set: none, `µs`, `ms` or `GiB`.
    pub unit: String,
    /// Where its slider begins.
    pub least: f64,
    /// Where its slider ends.
    pub most: f64,
}

/// What is measured of threads and of tasks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What formulas call it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// What it may stand for. Where there are several, a case says which.
    #[serde(rename = "option")]
    pub options: Vec<Choice>,
}

/// A pair of rivals in one experiment's record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What cases and flags call it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// What exactly it is.
    pub note: String,
    /// The experiment whose record has both.
    pub experiment: String,
    /// The thread's quantity.
    pub thread: String,
    /// The task's.
    pub task: String,
}

/// What is computed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// What the live view calls it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// What it counts, and so on which axis it stands.
    pub panel: Panel,
    /// For which of the input's quantities.
    #[serde(default)]
    pub of: Of,
    /// From settings and one input.
    pub formula: String,
    /// What threads must keep to if they are to do.
    #[serde(default)]
    pub bound: Option<Bound>,
}

/// What an output counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Panel {
    /// CPU time per time.
    Cores,
    /// Parts of something.
    Shares,
    /// Memory.
    Bytes,
    /// Time, in seconds.
    Time,
    /// Threads, tasks, or what limits them.
    Number,
}

/// Which quantities an output is computed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// For threads and for tasks, side by side.
    #[default]
    Each,
    /// For what a thread takes beyond a task.
    Extra,
}

/// A bound that an output is held against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// From settings alone.
    pub formula: String,
    /// Whether the output must be at least or at most so much.
    pub at: At,
    /// What speaks against threads where it is not, in a word or two.
    pub objection: String,
    /// What the bound is, in a word or two.
    pub label: String,
}

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// At most so much.
    Most,
    /// At least so much.
    Least,
}

/// A service.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    /// What it is.
    pub name: String,
    /// Numbers of settings, in the setting's own unit, and words for inputs that have several options.
    #[serde(flatten)]
    pub values: BTreeMap<String, toml::Value>,
}

/// Whose quantity a value was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A thread's.
    Thread,
    /// A task's.
    Task,
    /// A thread's beyond a task's.
    Extra,
}

impl Who {
    /// A word for scripts and colours.
    pub fn word(self) -> &'static str {
        match self {
            Who::Thread => "thread",
            Who::Task => "task",
            Who::Extra => "extra",
        }
    }
}

/// How an output stands to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The whole interval keeps to it.
    Kept,
    /// The bound lies within the interval, or there is none.
    Undecided,
    /// The whole interval lies beyond it.
    Broken,
}

/// An output's number, in seconds, bytes or plainly.
pub type Value = Result<Estimate, Missing>;

/// Would a thread per connection do?
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// It keeps to every bound.
    Yes,
    /// It breaks these.
    No(Vec<String>),
    /// These are not decided.
    Undecided(Vec<String>),
    /// These are not known, for want of a number.
    Unknown(Vec<String>),
}

impl Answer {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Answer::Yes => "yes".to_owned(),
            Answer::No(what) => format!("no: {}", what.join(", ")),
            Answer::Undecided(what) => format!("undecided: {}", what.join(", ")),
            Answer::Unknown(what) => format!("not known: {}", what.join(", ")),
        }
    }
}

impl Setting {
    /// Its label without what explains it, which stands behind a comma.
    pub fn short(&self) -> &str {
        self.label.split(',').next().unwrap_or(&self.label)
    }

    /// What its slider can be set to: eight steps to a factor of ten.
    pub fn steps(&self) -> Vec<f64> {
        let mut steps = Vec::new();
        for decade in -3..=7 {
            for digit in SERIES {
                let value = digit * 10f64.powi(decade);
                if value >= self.least * (1.0 - 1e-9) && value <= self.most * (1.0 + 1e-9) {
                    steps.push(value);
                }
            }
        }
        steps
    }

    /// How many seconds or bytes one of its unit is.
    pub fn size(&self) -> Result<f64> {
        Ok(match self.unit.as_str() {
            "" => 1.0,
            "µs" => 1e-6,
            "ms" => 1e-3,
            "GiB" => 1_073_741_824.0,
            unknown => bail!("setting {}: unknown unit {unknown:?}; there are: µs, ms, GiB, and none", self.name),
        })
    }
}

/// Round numbers, about a quarter apart.
pub const SERIES: [f64; 8] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0];

impl Output {
    /// What it is computed for.
    pub fn whose(&self) -> &'static [Who] {
        match self.of {
            Of::Each => &[Who::Thread, Who::Task],
            Of::Extra => &[Who::Extra],
        }
    }

    /// Its formula, read.
    pub fn expression(&self) -> Result<Expression> {
        Expression::parse(&self.formula).with_context(|| format!("output {}", self.name))
    }
}

impl Choice {
    /// Somebody's quantity.
    pub fn quantity(&self, plans: &Plans, who: Who) -> Result<Expression> {
        let asked = |text: &str| plans.asked(text, Some(&self.experiment)).map(|asked| asked.expression);
        let (thread, task) = (asked(&self.thread)?, asked(&self.task)?);
        Ok(match who {
            Who::Thread => thread,
            Who::Task => task,
            Who::Extra => Expression::binary(thread, Operator::Minus, task),
        })
    }

    /// The same on the machine that is shown.
    pub fn measured(&self, view: &View, who: Who) -> Result<Measured> {
        let (plan, experiment) = view.plans.experiment(&self.experiment)?;
        view.evaluate(plan, experiment, &self.quantity(&view.plans, who)?)
    }

    /// The same as formulas take it. What lies below the noise floor is not called a difference.
    pub fn value(&self, view: &View, who: Who) -> Result<Value> {
        Ok(match self.measured(view, who)? {
            Err(missing) => Err(missing),
            Ok(quantity) if who == Who::Extra => self.beyond_noise(&quantity).map(|()| in_formulas(&quantity)),
            Ok(quantity) => Ok(in_formulas(&quantity)),
        })
    }

    /// Whether a difference may be called one.
    fn beyond_noise(&self, difference: &Quantity) -> Result<(), Missing> {
        let Self { thread, task, experiment, .. } = self;
        match difference.floor {
            Some(floor) if difference.estimate.median.abs() >= floor => Ok(()),
            Some(_) => Err(Missing::new("within noise", format!("{thread} - {task} is below the noise floor"))),
            None => Err(Missing::new("noise not known", format!("{experiment} has too few rounds for a noise floor"))),
        }
    }
}

/// An input in seconds, bytes or plainly, as formulas take it.
fn in_formulas(quantity: &Quantity) -> Estimate {
    let size = if quantity.unit == Unit::Nanoseconds { 1e-9 } else { 1.0 };
    let Estimate { median, interval, rounds } = quantity.estimate;
    Estimate { median: median * size, interval: interval.map(|(low, high)| (low * size, high * size)), rounds }
}

impl Calculator {
    /// The calculator of the chapter that has one.
    pub fn load(project: &Project) -> Result<Self> {
        let path = project.calculator()?.context("no chapter has a calculator.toml")?;
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let data: Self = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        let folder = path.parent().and_then(Path::file_name).context("a calculator lies in its chapter's folder")?;
        Ok(Self { chapter: folder.to_string_lossy().into_owned(), ..data })
    }

    /// Everything that is wrong with it, each in a sentence.
    pub fn wrong(&self, view: &View) -> Vec<String> {
        let options = self.inputs.iter().flat_map(|input| input.options.iter().map(move |option| (input, option)));
        let options = options.filter_map(|(input, option)| {
            let error = option_is_answered(view, option).err()?;
            Some(format!("input {}, option {}: {error:#}", input.name, option.name))
        });
        let sizes = self.settings.iter().filter_map(|setting| Some(format!("{:#}", setting.size().err()?)));
        let outputs = self.outputs.iter().filter_map(|output| {
            let error = self.output_is_sound(output).err()?;
            Some(format!("output {}: {error:#}", output.name))
        });
        let cases = self.cases.iter().filter_map(|case| {
            let error = self.case_is_sound(case).err()?;
            Some(format!("case {:?}: {error:#}", case.name))
        });
        let none = self.cases.is_empty().then(|| "it has no case".to_owned());
        options.chain(sizes).chain(outputs).chain(cases).chain(none).collect()
    }

    fn output_is_sound(&self, output: &Output) -> Result<()> {
        let (input, expression) = (self.input_of(output)?, output.expression()?);
        // Else the ends of an interval would change places on their way through it.
        for case in &self.cases {
            let at = |value| self.number(case, &expression, Some((&input.name, value)));
            ensure!(at(1.0)? < at(2.0)?, "{:?} does not grow with {}", output.formula, input.name);
        }
        let Some(bound) = &output.bound else { return Ok(()) };
        let formula = Expression::parse(&bound.formula)?;
        let is_set = |name: &str| self.settings.iter().any(|setting| setting.name == name);
        match formula.leaves().iter().find(|leaf| !is_set(&leaf.name)) {
            Some(leaf) => bail!("its bound is of settings alone, and {leaf} is none"),
            None => Ok(()),
        }
    }

    fn case_is_sound(&self, case: &Case) -> Result<()> {
        for setting in &self.settings {
            let value = self.set(case, setting)?;
            let near = |step: &f64| (step / value - 1.0).abs() < 1e-9;
            ensure!(setting.steps().iter().any(near), "the slider of {} has no step at {value}", setting.name);
        }
        for input in &self.inputs {
            self.chosen(case, input)?;
        }
        let is_known = |name: &str| {
            self.settings.iter().any(|setting| setting.name == name)
                || self.inputs.iter().any(|input| input.name == name && input.options.len() > 1)
        };
        match case.values.keys().find(|name| !is_known(name)) {
            Some(unknown) => bail!("there is nothing to set that is called {unknown}"),
            None => Ok(()),
        }
    }

    /// The one input of an output's formula.
    pub fn input_of(&self, output: &Output) -> Result<&Input> {
        let expression = output.expression()?;
        let mut found = Vec::new();
        for leaf in expression.leaves() {
            let is_plain = leaf.conditions.is_empty() && leaf.measure == "elapsed";
            let input = self.inputs.iter().find(|input| input.name == leaf.name);
            let is_set = self.settings.iter().any(|setting| setting.name == leaf.name);
            ensure!(is_plain && (input.is_some() || is_set), "unknown name {leaf} in {:?}", output.formula);
            found.extend(input);
        }
        match found[..] {
            [one] => Ok(one),
            _ => bail!("{:?} has {} inputs in it; it must have one, once", output.formula, found.len()),
        }
    }

    /// A case's number of a setting, in the setting's unit.
    pub fn set(&self, case: &Case, setting: &Setting) -> Result<f64> {
        let value = case.values.get(&setting.name).with_context(|| format!("{} is not set", setting.name))?;
        let number = value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64));
        let number = number.with_context(|| format!("{} is no number: {value}", setting.name))?;
        ensure!(number.is_finite() && number > 0.0, "{} must be above 0, and is {number}", setting.name);
        Ok(number)
    }

    /// What an input stands for in a case.
    pub fn chosen<'a>(&self, case: &Case, input: &'a Input) -> Result<&'a Choice> {
        if let [only] = &input.options[..] {
            return Ok(only);
        }
        let word = case.values.get(&input.name).and_then(toml::Value::as_str).unwrap_or_default();
        input.options.iter().find(|option| option.name == word).with_context(|| {
            let known: Vec<&str> = input.options.iter().map(|option| option.name.as_str()).collect();
            format!("{} cannot be {word:?}; there are: {}", input.name, known.join(", "))
        })
    }

    /// An output's number in a case.
    pub fn compute(&self, view: &View, case: &Case, output: &Output, who: Who) -> Result<Value> {
        let input = self.input_of(output)?;
        match self.chosen(case, input)?.value(view, who)? {
            Err(missing) => Ok(Err(missing)),
            Ok(estimate) => Ok(Ok(self.apply(case, &output.expression()?, &input.name, estimate)?)),
        }
    }

    /// A formula on an estimate of its input.
    fn apply(&self, case: &Case, formula: &Expression, input: &str, estimate: Estimate) -> Result<Estimate> {
        let at = |value: f64| self.number(case, formula, Some((input, value)));
        let interval = match estimate.interval {
            Some((low, high)) => Some((at(low)?, at(high)?)),
            None => None,
        };
        Ok(Estimate { median: at(estimate.median)?, interval, rounds: estimate.rounds })
    }

    /// A formula's number, where the input is this.
    fn number(&self, case: &Case, formula: &Expression, input: Option<(&str, f64)>) -> Result<f64> {
        Ok(match formula {
            Expression::Number(number) => *number,
            Expression::Leaf(leaf) => match input {
                Some((name, value)) if leaf.name == name => value,
                _ => {
                    let setting = self.settings.iter().find(|setting| setting.name == leaf.name);
                    let setting = setting.with_context(|| format!("unknown name {leaf}"))?;
                    self.set(case, setting)? * setting.size()?
                }
            },
            Expression::Binary(a, operator, b) => {
                operator.apply(self.number(case, a, input)?, self.number(case, b, input)?)
            }
        })
    }

    /// Whether a number keeps to its output's bound; nothing where it has none.
    pub fn keeps(&self, case: &Case, output: &Output, value: &Estimate) -> Result<Option<Kept>> {
        let Some(bound) = &output.bound else { return Ok(None) };
        let limit = self.number(case, &Expression::parse(&bound.formula)?, None)?;
        let Some((low, high)) = value.interval else { return Ok(Some(Kept::Undecided)) };
        Ok(Some(match bound.at {
            At::Most if high <= limit => Kept::Kept,
            At::Most if low > limit => Kept::Broken,
            At::Least if low >= limit => Kept::Kept,
            At::Least if high < limit => Kept::Broken,
            _ => Kept::Undecided,
        }))
    }

    /// Whether a thread per connection would do.
    pub fn answer(&self, view: &View, case: &Case) -> Result<Answer> {
        let (mut broken, mut undecided, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for output in &self.outputs {
            let Some(bound) = &output.bound else { continue };
            let objection = bound.objection.clone();
            // The first is the thread's, or what it takes beyond a task.
            match self.compute(view, case, output, output.whose()[0])? {
                Err(missing) => unknown.push(format!("{objection} ({})", missing.word)),
                Ok(value) => match self.keeps(case, output, &value)? {
                    Some(Kept::Broken) => broken.push(objection),
                    Some(Kept::Undecided) => undecided.push(objection),
                    Some(Kept::Kept) | None => {}
                },
            }
        }
        Ok(match (broken.is_empty(), unknown.is_empty(), undecided.is_empty()) {
            (false, _, _) => Answer::No(broken),
            (_, false, _) => Answer::Unknown(unknown),
            (_, _, false) => Answer::Undecided(undecided),
            _ => Answer::Yes,
        })
    }

    /// A formula in a reader's words.
    pub fn spoken(&self, formula: &str) -> Result<String> {
        Ok(self.speak(&Expression::parse(formula)?))
    }

    fn speak(&self, formula: &Expression) -> String {
        match formula {
            Expression::Number(number) => number.to_string(),
            Expression::Leaf(leaf) => {
                let setting = self.settings.iter().find(|setting| setting.name == leaf.name);
                let input = self.inputs.iter().find(|input| input.name == leaf.name);
                let label = setting.map(Setting::short).or(input.map(|input| input.label.as_str()));
                label.unwrap_or(&leaf.name).to_owned()
            }
            Expression::Binary(a, operator, b) => {
                let (sign, left, right) = match operator {
                    Operator::Plus => ('+', 0, 0),
                    Operator::Minus => ('−', 0, 1),
                    Operator::Times => ('×', 1, 1),
                    Operator::Over => ('/', 1, 2),
                };
                format!("{} {sign} {}", self.bracketed(a, left), self.bracketed(b, right))
            }
        }
    }

    /// In brackets, where it binds less than its place asks for: sums 0, products 1, all else 2.
    fn bracketed(&self, formula: &Expression, place: u8) -> String {
        let binds = match formula {
            Expression::Binary(_, Operator::Plus | Operator::Minus, _) => 0,
            Expression::Binary(..) => 1,
            _ => 2,
        };
        let text = self.speak(formula);
        if binds < place { format!("({text})") } else { text }
    }
}

fn option_is_answered(view: &View, option: &Choice) -> Result<()> {
    option.quantity(&view.plans, Who::Extra).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = r#"
        [[setting]]
        name = "rate"
        label = "requests per second"
        unit = ""
        least = 1
        most = 1000
        [[setting]]
        name = "wait"
        label = "a wait, of the others"
        unit = "ms"
        least = 0.1
        most = 100
        [[input]]
        name = "hop"
        label = "one hop"
        [[input.option]]
        name = "only"
        label = "as it is"
        note = "A hop."
        experiment = "pair"
        thread = "slow[free]"
        task = "fast[free]"
        [[output]]
        name = "under_way"
        label = "under way"
        panel = "number"
        formula = "rate * (wait + 2 * hop)"
        bound = { formula = "rate / 10", at = "most", objection = "their number", label = "a tenth of what comes in a second" }
        [[case]]
        name = "A service"
        rate = 100
        wait = 20
    "#;

    fn data() -> Calculator {
        toml::from_str(DATA).unwrap()
    }

    fn estimate(median: f64, low: f64, high: f64) -> Estimate {
        Estimate { median, interval: Some((low, high)), rounds: 20 }
    }

    fn apply(data: &Calculator, estimate: Estimate) -> Estimate {
        let output = &data.outputs[0];
        data.apply(&data.cases[0], &output.expression().unwrap(), "hop", estimate).unwrap()
    }

    #[test]
    fn littles_law_and_the_interval_goes_through_the_formula() {
        let under_way = apply(&data(), estimate(5e-3, 4e-3, 7e-3));
        // A hundred a second, each there for 20 ms and two hops of 5 ms.
        assert!((under_way.median - 3.0).abs() < 1e-12);
        let (low, high) = under_way.interval.unwrap();
        assert!((low - 2.8).abs() < 1e-12 && (high - 3.4).abs() < 1e-12, "{low} {high}");
        let without = apply(&data(), Estimate { interval: None, ..estimate(5e-3, 0.0, 0.0) });
        assert_eq!(without.interval, None);
    }

    #[test]
    fn a_bound_is_kept_or_broken_by_the_whole_interval() {
        let data = data();
        let keeps =
            |low, high| data.keeps(&data.cases[0], &data.outputs[0], &estimate(9.0, low, high)).unwrap().unwrap();
        assert_eq!(keeps(8.0, 10.0), Kept::Kept);
        assert_eq!(keeps(8.0, 10.1), Kept::Undecided);
        assert_eq!(keeps(10.1, 11.0), Kept::Broken);
        let alone = Estimate { interval: None, ..estimate(9.0, 0.0, 0.0) };
        assert_eq!(data.keeps(&data.cases[0], &data.outputs[0], &alone).unwrap(), Some(Kept::Undecided));
    }

    #[test]
    fn formulas_are_read_aloud_with_their_brackets() {
        let spoken = |formula: &str| data().spoken(formula).unwrap();
        assert_eq!(spoken("rate * (wait + 2 * hop)"), "requests per second × (a wait + 2 × one hop)");
        assert_eq!(spoken("rate / (hop * 2) - (wait - 1)"), "requests per second / (one hop × 2) − (a wait − 1)");
    }

    #[test]
    fn a_formula_has_one_input_once() {
        let mut data = data();
        for (formula, wanted) in [
            ("rate * hop * hop", "has 2 inputs"),
            ("rate * wait", "has 0 inputs"),
            ("rate * skip", "unknown name skip"),
            ("rate * hop[free]", "unknown name hop[free]"),
        ] {
            data.outputs[0].formula = formula.to_owned();
            let error = format!("{:#}", data.input_of(&data.outputs[0]).unwrap_err());
            assert!(error.contains(wanted), "{formula}: {error}");
        }
    }

    #[test]
    fn a_formula_grows_with_its_input_and_its_bound_is_of_settings() {
        let mut data = data();
        assert!(data.output_is_sound(&data.outputs[0]).is_ok());
        for (formula, bound, wanted) in [
            ("rate / hop", "rate", "does not grow with hop"),
            ("rate * (1 - hop)", "rate", "does not grow with hop"),
            ("rate * hop", "rate * hop", "of settings alone"),
        ] {
            data.outputs[0].formula = formula.to_owned();
            data.outputs[0].bound.as_mut().unwrap().formula = bound.to_owned();
            let error = format!("{:#}", data.output_is_sound(&data.outputs[0]).unwrap_err());
            assert!(error.contains(wanted), "{formula}: {error}");
        }
    }

    #[test]
    fn a_case_stands_on_steps_of_the_sliders_and_sets_what_there_is() {
        let data = data();
        assert!(data.case_is_sound(&data.cases[0]).is_ok());
        for (name, value, wanted) in [
            ("rate", 123.0, "no step at 123"),
            ("rate", -1.0, "must be above 0"),
            ("color", 1.0, "nothing to set that is called color"),
        ] {
            let mut case = data.cases[0].clone();
            case.values.insert(name.to_owned(), toml::Value::Float(value));
            let error = format!("{:#}", data.case_is_sound(&case).unwrap_err());
            assert!(error.contains(wanted), "{error}");
        }
        let steps = data.settings[1].steps();
        assert!((steps[0] - 0.1).abs() < 1e-12 && steps.last() == Some(&100.0) && steps.len() == 25, "{steps:?}");
    }
}
