//! What follows from a calculator's formulas: the numbers of a case.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::{Calculator, Case, Choice, Input, Output, Value, Who};
use crate::book::expression::Expression;
use crate::book::unit::Unit;
use crate::compute::quantity::Quantity;
use crate::print::view::View;
use crate::statistics::Estimate;

/// A calculator with the numbers of one machine, each read once.
pub struct Numbers<'a> {
    pub data: &'a Calculator,
    /// By input, option, and whose it is.
    values: BTreeMap<(&'a str, &'a str, Who), Value>,
}

impl<'a> Numbers<'a> {
    /// The numbers of the machine that is shown.
    pub fn read(data: &'a Calculator, view: &View) -> Result<Self> {
        let mut values = BTreeMap::new();
        for input in &data.inputs {
            for option in &input.options {
                for who in [Who::Thread, Who::Task, Who::Extra] {
                    let value = option.measured(view, who)?.map(|quantity| in_formulas(&quantity, who));
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
        Ok(match self.value(input, self.data.chosen(case, input)?, who) {
            Err(missing) => Err(missing.clone()),
            Ok(estimate) => Ok(self.data.apply(case, output, &input.name, estimate)?),
        })
    }
}

/// An input in seconds, bytes or plainly, as formulas take it. What a thread takes beyond a task has the interval that claims are judged by: it may reach
/// to either side of nothing, and its upper end is the most that threads may cost.
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

    /// Whether a name stands for a number that needs no record.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.name == name)
            || self.derived.iter().any(|derived| derived.name == name)
    }

    /// What an input stands for in a case: what was asked for, or the first that the settings keep to.
    pub fn chosen<'a>(&self, case: &Case, input: &'a Input) -> Result<&'a Choice> {
        let is_kept = |option: &&Choice| option.up_to.iter().all(|(name, most)| case.values.get(name) <= Some(most));
        let Some(word) = case.asked.get(&input.name) else {
            return input.options.iter().find(is_kept).with_context(|| format!("{} has no option here", input.name));
        };
        input.options.iter().find(|option| option.name == *word).with_context(|| {
            let known: Vec<&str> = input.options.iter().map(|option| option.name.as_str()).collect();
            format!("{} cannot be {word:?}; there are: {}", input.name, known.join(", "))
        })
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
