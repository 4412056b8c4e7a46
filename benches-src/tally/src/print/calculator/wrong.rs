//! What is wrong with a calculator.

use anyhow::{Context, Result, bail, ensure};

use super::{Calculator, Case, Choice, Formula, Input, Output, Who};
use crate::print::view::View;

impl Calculator {
    /// Everything that is wrong with it, each in a sentence.
    pub fn wrong(&self, view: &View) -> Vec<String> {
        let options = self.inputs.iter().flat_map(|input| input.options.iter().map(move |option| (input, option)));
        let options = options.filter_map(|(input, option)| {
            let error = option.asked(&view.plans, Who::Extra).err()?;
            Some(format!("input {}, option {}: {error:#}", input.name, option.name))
        });
        let inputs = self.inputs.iter().filter_map(|input| {
            let error = self.input_is_sound(input).err()?;
            Some(format!("input {}: {error:#}", input.name))
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
        options.chain(inputs).chain(outputs).chain(cases).chain(none).collect()
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

    /// Whether it has points exactly where it is measured along a setting that has a logarithm.
    pub(super) fn input_is_sound(&self, input: &Input) -> Result<()> {
        let Some(along) = &input.along else {
            let is_plain = input.options.iter().all(|option| option.at.is_none());
            ensure!(is_plain, "an option is `at` a number, and nothing says along which setting");
            return Ok(());
        };
        ensure!(self.setting(along)?.least > 0.0, "{along} can be 0, and has no logarithm there");
        let is_point = |option: &Choice| option.at.is_some_and(|at| at > 0.0);
        ensure!(input.options.iter().all(is_point), "along {along} each option is `at` a number above 0");
        Ok(())
    }

    pub(super) fn output_is_sound(&self, output: &Output) -> Result<()> {
        let input = self.input_of(output)?;
        // Else the ends of an interval would change places on their way through it.
        for case in &self.cases {
            let case = &with_all_used(case);
            let at = |value| self.number(case, &output.formula.expression, Some((&input.name, value)));
            ensure!(at(1.0)? < at(2.0)?, "{:?} does not grow with {}", output.formula.text, input.name);
        }
        let Some(bound) = self.bound_of(output)? else { return Ok(()) };
        self.setting(&bound.lever)?;
        bound.limits.iter().chain(&bound.cap).try_for_each(|limit| self.is_of_settings(limit))
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
            ensure!(!setting.whole || value.fract() == 0.0, "{name} must be a whole number, and is {value}");
        }
        Ok(())
    }
}

/// A case in which no setting is 0, which would hide an input.
fn with_all_used(case: &Case) -> Case {
    let mut all = case.clone();
    all.values.values_mut().filter(|value| **value == 0.0).for_each(|value| *value = 1.0);
    all
}
