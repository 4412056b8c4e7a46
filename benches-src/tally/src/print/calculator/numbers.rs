//! What follows from a calculator's formulas: the numbers of a case.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::{Calculator, Case, Choice, Input, Output, Value, Who, words};
use crate::book::expression::Expression;
use crate::book::unit::Unit;
use crate::compute::quantity::{Measured, Quantity};
use crate::print::across;
use crate::print::view::View;
use crate::project::Machine;
use crate::statistics::Estimate;

/// A calculator with the numbers of one machine, each read once.
pub struct Numbers<'a> {
    pub data: &'a Calculator,
    /// By input, option, and whose it is.
    values: BTreeMap<(&'a str, &'a str, Who), Value>,
}

impl Choice {
    /// What it is on a machine.
    pub fn measured(&self, view: &View, machine: &Machine, who: Who) -> Result<Measured> {
        across::measured(view, machine, &self.asked(&view.plans, who)?)
    }
}

impl<'a> Numbers<'a> {
    /// The numbers of a machine.
    pub fn read(data: &'a Calculator, view: &View, machine: &Machine) -> Result<Self> {
        let mut values = BTreeMap::new();
        for input in &data.inputs {
            for option in &input.options {
                for who in [Who::Thread, Who::Task, Who::Extra] {
                    let value = option.measured(view, machine, who)?.map(|quantity| in_formulas(&quantity, who));
                    values.insert((input.name.as_str(), option.name.as_str(), who), value);
                }
            }
        }
        Ok(Self { data, values })
    }

    /// Numbers that were not measured.
    #[cfg(test)]
    pub(super) fn of(data: &'a Calculator, values: BTreeMap<(&'a str, &'a str, Who), Value>) -> Self {
        Self { data, values }
    }

    pub fn value(&self, input: &'a Input, option: &'a Choice, who: Who) -> &Value {
        &self.values[&(input.name.as_str(), option.name.as_str(), who)]
    }

    /// An output's number in a case.
    pub fn compute(&self, case: &Case, output: &Output, who: Who) -> Result<Value> {
        let input = self.data.input_of(output)?;
        Ok(match self.taken(case, input, who)? {
            Err(missing) => Err(missing),
            Ok(estimate) => Ok(self.data.apply(case, output, &input.name, &estimate)?),
        })
    }

    /// What an input comes to in a case.
    pub fn taken(&self, case: &Case, input: &'a Input, who: Who) -> Result<Value> {
        let Some(along) = input.along.as_ref().filter(|_| !case.asked.contains_key(&input.name)) else {
            return Ok(self.value(input, self.data.chosen(case, input)?, who).clone());
        };
        match self.points(input, who)[..] {
            [] => Ok(self.value(input, &input.options[0], who).clone()),
            ref points => Ok(Ok(on_line(points, case.number_of(along)?))),
        }
    }

    /// A worked case with this machine's numbers in it, where it is like what was measured.
    pub fn worked(&self, case: &Case) -> Result<Case> {
        let Some(input) = self.data.like(case)? else { return Ok(case.clone()) };
        // What was measured of few connections alone, or of many, makes no case of others.
        if !self.has_measured(case, true)? {
            return Ok(case.clone());
        }
        let Ok(task) = self.taken(case, input, Who::Task)? else { return Ok(case.clone()) };
        let seconds = task.median * case.number_of("calls")?.max(1.0);
        let work = words::significant(seconds / self.data.setting("work")?.size);
        Ok(case.with("work", work).with("requests", words::significant(1.0 / seconds)))
    }

    /// Whether a machine measured what a case is like: at the case's own number of the setting, or
    /// else, between two such numbers.
    pub fn has_measured(&self, case: &Case, or_between: bool) -> Result<bool> {
        let input = self.data.like(case)?;
        let Some((input, along)) = input.and_then(|input| Some((input, input.along.as_ref()?))) else {
            return Ok(true);
        };
        let (at, points) = (case.number_of(along)?, self.points(input, Who::Extra));
        let ends = points.first().zip(points.last());
        let is_between = ends.is_some_and(|((first, _), (last, _))| (*first..=*last).contains(&at));
        Ok(is_between && (or_between || points.iter().any(|(own, _)| *own == at)))
    }

    /// Where an input was measured along its setting, with an interval, in the order of the
    /// setting.
    pub fn points(&self, input: &'a Input, who: Who) -> Vec<(f64, Estimate)> {
        let point = |option: &'a Choice| Some((option.at?, self.value(input, option, who).clone().ok()?));
        let mut points: Vec<_> = input.options.iter().filter_map(point).collect();
        points.retain(|(_, estimate)| estimate.interval.is_some());
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        points
    }
}

/// What lies between two points, over the setting's logarithm; before the first and beyond the
/// last, what these are.
fn on_line(points: &[(f64, Estimate)], at: f64) -> Estimate {
    let next = points.iter().position(|(own, _)| *own >= at).unwrap_or(points.len());
    if next == 0 || next == points.len() {
        return points[next.min(points.len() - 1)].1;
    }
    let ((from, a), (to, b)) = (points[next - 1], points[next]);
    let share = (at / from).ln() / (to / from).ln();
    let mixed = |a: f64, b: f64| a + share * (b - a);
    let interval = a.interval.zip(b.interval).map(|(a, b)| (mixed(a.0, b.0), mixed(a.1, b.1)));
    Estimate { median: mixed(a.median, b.median), interval, rounds: a.rounds.min(b.rounds) }
}

/// An input in seconds, bytes or plainly, as formulas take it. What a thread takes beyond a task
/// has the interval that claims are judged by: it may reach to either side of nothing, and its
/// upper end is the most that threads may cost.
fn in_formulas(quantity: &Quantity, who: Who) -> Estimate {
    let size = if quantity.unit == Unit::Nanoseconds { 1e-9 } else { 1.0 };
    let interval = if who == Who::Extra { quantity.judged() } else { quantity.estimate.interval };
    Estimate {
        median: quantity.estimate.median * size,
        interval: interval.map(|(low, high)| (low * size, high * size)),
        rounds: quantity.estimate.rounds,
    }
}

impl Calculator {
    /// The one input of an output's formula.
    pub fn input_of(&self, output: &Output) -> Result<&Input> {
        let mut found = Vec::new();
        for leaf in output.formula.expression.leaves() {
            let input = self.inputs.iter().find(|input| input.name == leaf.name);
            let is_known = input.is_some() || self.is_set(&leaf.name);
            ensure!(leaf.is_bare() && is_known, "unknown name {leaf} in {:?}", output.formula.text);
            found.extend(input);
        }
        match found[..] {
            [one] => Ok(one),
            _ => anyhow::bail!("{:?} has {} inputs in it; it must have one, once", output.formula.text, found.len()),
        }
    }

    /// The input that a worked case is like, if it is like one.
    fn like(&self, case: &Case) -> Result<Option<&Input>> {
        let Some(like) = &case.like else { return Ok(None) };
        let found = self.inputs.iter().find(|input| input.name == *like);
        found.with_context(|| format!("{:?} is like {like}, which is no input", case.name)).map(Some)
    }

    /// Whether a name stands for a number that needs no record.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.name == name)
            || self.derived.iter().any(|derived| derived.name == name)
    }

    /// What an input stands for in a case: what was asked for, or the first.
    pub fn chosen<'a>(&self, case: &Case, input: &'a Input) -> Result<&'a Choice> {
        let Some(word) = case.asked.get(&input.name) else {
            return input.options.first().with_context(|| format!("{} has no option", input.name));
        };
        input.options.iter().find(|option| option.name == *word).with_context(|| {
            let known: Vec<&str> = input.options.iter().map(|option| option.name.as_str()).collect();
            format!("{} cannot be {word:?}; there are: {}", input.name, known.join(", "))
        })
    }

    /// What an input stands on in a case: what was asked for, or the first, or every point along
    /// its setting.
    pub fn options<'a>(&self, case: &Case, input: &'a Input) -> Result<Vec<&'a Choice>> {
        if case.asked.contains_key(&input.name) {
            return Ok(vec![self.chosen(case, input)?]);
        }
        Ok(input.reachable().collect())
    }

    /// A formula on an estimate of its input.
    pub(super) fn apply(&self, case: &Case, output: &Output, input: &str, estimate: &Estimate) -> Result<Estimate> {
        let at = |value: f64| self.number(case, &output.formula.expression, Some((input, value)));
        let interval = match estimate.interval {
            Some((low, high)) => Some((at(low)?, at(high)?)),
            None => None,
        };
        Ok(Estimate { median: at(estimate.median)?, interval, rounds: estimate.rounds })
    }

    /// A formula's number, where the input is this.
    pub(super) fn number(&self, case: &Case, formula: &Expression, input: Option<(&str, f64)>) -> Result<f64> {
        Ok(match formula {
            Expression::Number(number) => *number,
            Expression::Leaf(leaf) => match input {
                Some((name, value)) if leaf.name == name => value,
                _ => self.set(case, &leaf.name)?,
            },
            Expression::Binary(a, operator, b) => {
                operator.apply(self.number(case, a, input)?, self.number(case, b, input)?)
            }
            Expression::In(_, formula) => self.number(case, formula, input)?,
        })
    }

    /// A setting's number as formulas take it, or what is derived from settings.
    fn set(&self, case: &Case, name: &str) -> Result<f64> {
        if let Some(derived) = self.derived.iter().find(|derived| derived.name == name) {
            return self.number(case, &derived.formula.expression, None);
        }
        Ok(case.number_of(name)? * self.setting(name)?.size)
    }
}
