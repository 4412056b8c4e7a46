//! What is wrong with a calculator.

use anyhow::{Context, Result, bail, ensure};

use super::{Calculator, Case, Formula, Output, Who};
use crate::print::view::View;

impl Calculator {
    /// Everything that is wrong with it, each in a sentence.
    pub fn wrong(&self, view: &View) -> Vec<String> {
        let options = self.inputs.iter().flat_map(|input| input.options.iter().map(move |option| (input, option)));
        let options = options.filter_map(|(input, option)| {
            let error = option.asked(&view.plans, Who::Extra).err()?;
            Some(format!("input {}, option {}: {error:#}", input.name, option.name))
        });
        let outputs = self.outputs.iter().filter_map(|output| {
            let error = self.output_is_sound(output).err()?;
            Some(format!("output {}: {error:#}", output.name))
        });
        let cases = self.cases.iter().filter_map(|case| {
            let error = self.case_is_sound(case).err()?;
            Some(format!("case {:?}: {error:#}", case.name))
        });
        let none = self.cases.is_empty().then(|| "it has no case".to_owned());
        options.chain(outputs).chain(cases).chain(none).collect()
    }

    /// Whether what is derived stands on settings, and so never on itself.
    pub(super) fn is_derived(&self) -> Result<()> {
        self.derived.iter().try_for_each(|own| self.is_of_settings(&own.formula).context(own.name.clone()))
    }

    fn is_of_settings(&self, formula: &Formula) -> Result<()> {
        let leaves = formula.expression.leaves();
        match leaves.iter().find(|leaf| self.setting(&leaf.name).is_err()) {
            Some(leaf) => bail!("{:?} must be of settings alone, and {leaf} is none", formula.text),
            None => Ok(()),
        }
    }

    pub(super) fn output_is_sound(&self, output: &Output) -> Result<()> {
        let input = self.input_of(output)?;
        // Else the ends of an interval would change places on their way through it.
        for case in &self.cases {
            let at = |value| self.number(case, &output.formula.expression, Some((&input.name, value)));
            ensure!(at(1.0)? < at(2.0)?, "{:?} does not grow with {}", output.formula.text, input.name);
        }
        let Some(bound) = self.bound_of(output)? else {
            ensure!(output.beyond.is_empty(), "`beyond` says when it is held against a bound, and it has none");
            return Ok(());
        };
        output.beyond.keys().chain([&bound.lever]).try_for_each(|name| self.setting(name).map(drop))?;
        bound.limits.iter().try_for_each(|limit| self.is_of_settings(limit))
    }

    pub(super) fn case_is_sound(&self, case: &Case) -> Result<()> {
        for input in &self.inputs {
            self.chosen(case, input)?;
        }
        case.values.keys().try_for_each(|name| self.setting(name).map(drop))?;
        self.is_within(case)
    }

    /// Whether every setting is set, and within its range.
    pub fn is_within(&self, case: &Case) -> Result<()> {
        for setting in &self.settings {
            let (name, least, most) = (&setting.name, setting.least, setting.most);
            let value = case.number_of(name)?;
            ensure!((least..=most).contains(&value), "{name} must be from {least} to {most}, and is {value}");
        }
        Ok(())
    }
}
