//! The calculator on a page: worked cases in a sentence each, and behind them all numbers, formulas
//! and inputs. The page's script puts its form before.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{Line, Printer, QUESTION, plain_unit, plural};
use crate::book::unit::Unit;
use crate::compute::quantity::Missing;
use crate::print::calculator::{Case, Choice, Value, Who};
use crate::print::downloads::{self, BOOK};
use crate::print::escape::{html, identifier};
use crate::print::render::{self, Form};
use crate::print::table::{csv, csv_numbers};
use crate::record::{self, Header};
use crate::statistics::Estimate;

impl Printer<'_> {
    pub(super) fn page(&self) -> Result<String> {
        let cases = self.cases.iter().map(|case| self.case(case)).collect::<Result<String>>()?;
        Ok(format!(
            "<div class=\"calculator\" id=\"calculator\">\n{}{}<p>Worked cases: their settings are assumed, \
             but for the work of requests that our servers took here; their answers are computed.</p>\n\
             <ul class=\"cases\">\n{cases}</ul>\n\
             <details class=\"numbers\"><summary>All numbers, formulas and inputs</summary>\n{}{}{}</details>\n{}\
             </div>\n",
            self.states()?,
            self.script()?,
            self.case_tables()?,
            self.formula_table()?,
            self.input_table()?,
            self.small_print()?
        ))
    }

    /// A worked case and its answer.
    fn case(&self, case: &Case) -> Result<String> {
        let answer = self.numbers.answer(case)?;
        let (word, reason) = answer.text.split_once(": ").unwrap_or((&answer.text, ""));
        Ok(format!(
            "<li id=\"calculator-{}\" class=\"{}\"><strong>{}</strong> <span class=\"legend\">{}</span> <span \
             class=\"said\"><strong>{}</strong>: {}</span></li>\n",
            identifier(&case.name),
            answer.state.word(),
            html(&case.name),
            html(&self.described(case)),
            html(word),
            html(reason)
        ))
    }

    /// The experiments that its inputs are taken from.
    fn experiments(&self) -> BTreeSet<&str> {
        self.inputs().into_iter().map(|(_, option)| option.experiment.as_str()).collect()
    }

    /// What was measured of them, and where.
    fn headers(&self) -> Result<Vec<Header>> {
        let mut headers = Vec::new();
        for name in self.experiments() {
            let (plan, experiment) = self.view.plans.experiment(name)?;
            headers.extend(
                self.view.kept(plan, experiment)?.as_ref().as_ref().ok().map(|(record, _)| record.header.clone()),
            );
        }
        Ok(headers)
    }

    /// What must be known about how fresh the records are, and which no machine has in their place.
    fn states(&self) -> Result<String> {
        let mut out = String::new();
        for name in self.experiments() {
            let (plan, experiment) = self.view.plans.experiment(name)?;
            let note = match self.view.kept(plan, experiment)?.as_ref() {
                Ok((_, freshness)) => render::freshness(freshness, experiment, &self.view.machine),
                // In the table of inputs the reference machine's numbers stand in the gap.
                Err(missing) if self.view.instead_on(Form::Page, missing, plan, experiment).is_some() => None,
                Err(missing) => Some(missing.clone()),
            };
            if let Some(note) = note {
                out += &render::boxed(&Missing::new(note.word, format!("{name}: {}", note.reason)));
            }
        }
        Ok(out)
    }

    /// The worked cases as CSV: what is assumed of each, what is measured, and what follows,
    /// unrounded.
    fn csv(&self) -> Result<String> {
        let heads = ["case", "what", "of", "unit", "median", "low", "high", "formula", "missing"];
        let mut lines = vec![heads.map(str::to_owned).to_vec()];
        for case in self.cases {
            let mut line = |what: &str, of: &str, unit: &str, value: &Value, formula: String| {
                let words = [case.name.as_str(), what, of, unit].map(str::to_owned);
                let numbers = csv_numbers(value.as_ref().ok().copied());
                let missing = value.as_ref().err().map_or(String::new(), ToString::to_string);
                lines.push(words.into_iter().chain(numbers).chain([formula, missing]).collect());
            };
            for setting in &self.data.settings {
                let estimate = Estimate { median: case.number_of(&setting.name)?, interval: None, rounds: 0 };
                line(&setting.label, "assumed", &setting.unit, &Ok(estimate), String::new());
            }
            for input in &self.data.inputs {
                for (option, who) in self.data.options(case, input)?.into_iter().flat_map(with_both) {
                    let measured = option.measured(self.view, &self.view.machine, who)?;
                    let unit = measured.as_ref().map_or("", |quantity| match quantity.unit {
                        Unit::Nanoseconds => "ns",
                        Unit::Bytes => "B",
                        Unit::Count | Unit::Ratio => "",
                    });
                    let what = format!("{}, {}", input.label, option.label);
                    let asked = option.asked(&self.view.plans, who)?;
                    let formula = format!("{}: {}", option.experiment, asked.expression);
                    line(&what, plural(who), unit, &measured.map(|quantity| quantity.estimate), formula);
                }
            }
            for Line { output, values } in self.lines(case)? {
                for (who, value) in &values {
                    line(&output.label, plural(*who), plain_unit(output.unit), value, self.formula(output)?);
                }
            }
        }
        Ok(csv(lines))
    }

    /// Where its numbers come from, the bare numbers, how to compute them again, how to cite them.
    /// The raw records stand under the tables that the inputs lead to.
    fn small_print(&self) -> Result<String> {
        let records = self.headers()?;
        let measured = record::days(&records);
        let machine = self.view.machine.name();
        let context = if records.is_empty() { machine.to_owned() } else { format!("{machine}, {measured}") };
        let csv = downloads::write(self.view, &format!("{}/calculator.csv", self.view.machine.slug()), &self.csv()?)?;
        let parts = [
            format!("<a href=\"{}\">{}</a>", self.view.way_to("machines.md"), html(&context)),
            format!("<a href=\"{csv}\" download>data (CSV)</a>"),
            "<code class=\"command\">cargo tally calculator</code>".to_owned(),
        ];
        let citation = records.first().map(|record| {
            let names = record::listed(records.iter().map(|record| record.experiment.as_str()));
            let revisions =
                record::listed(records.iter().map(|record| record.revision.as_deref().unwrap_or("unknown")));
            let effort = record::efforts(&records);
            let summary = record.machine.summary();
            let text = format!(
                "{BOOK} calculator ({QUESTION}). Machine {machine}: {summary}; measured {measured}, effort {effort}; \
                 computed from the \
                 experiments {names}, revisions {revisions}."
            );
            downloads::citation(self.view, &self.data.chapter, "calculator", &text)
        });
        Ok(downloads::small_letters(&parts, &citation.unwrap_or_default()))
    }
}

fn with_both(option: &Choice) -> [(&Choice, Who); 2] {
    [(option, Who::Thread), (option, Who::Task)]
}
