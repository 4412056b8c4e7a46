//! The calculator on a page: worked cases, how each number is computed, and from which inputs.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{Line, Printer, QUESTION, plural, shown, unit, worded};
use crate::book::unit::Unit;
use crate::compute::quantity::Missing;
use crate::print::calculator::{Answer, At, Kept, Output, Value, Who};
use crate::print::downloads;
use crate::print::escape::{html, identifier};
use crate::print::render;
use crate::record::{self, Header};
use crate::statistics::Estimate;

impl Printer<'_> {
    pub(super) fn page(&self) -> Result<String> {
        let live = self.live()?;
        let mut out = "<figure class=\"calculator\" id=\"calculator\" data-chart=\"calculator\" data-explore=\"Set your own numbers\" "
            .to_owned();
        out += &format!("data-live=\"{live}\">\n{}", self.states()?);
        let heads = self.cases.iter().map(|case| {
            let set = html(&self.signals(case)?.to_string());
            let (id, name) = (identifier(&case.name), html(&case.name));
            Ok(format!("<th scope=\"col\" id=\"calculator-{id}\" data-set=\"{set}\">{name}</th>"))
        });
        let wide = render::wide("Worked cases");
        out += &format!(
            "{wide}<table>\n<caption><span>Worked cases. What describes them is assumed, what is computed \
             stands on records: {}.</span></caption>\n<thead>\n<tr><th scope=\"col\" colspan=\"2\">a service</th>{}</tr>\n</thead>\n",
            html(self.view.machine.name()),
            heads.collect::<Result<String>>()?
        );
        out += &format!("<tbody>\n{}</tbody>\n<tbody>\n{}</tbody>\n", self.description_rows()?, self.output_rows()?);
        out += "</table>\n</div>\n";
        out += &format!("<figcaption>{}</figcaption>\n</figure>\n", self.rule()?);
        Ok(out + &self.formulas()? + &self.input_table()? + &self.small_print()?)
    }

    /// What the answer to the question means.
    fn rule(&self) -> Result<String> {
        let mut rules = Vec::new();
        for output in &self.data.outputs {
            let Some(bound) = &output.bound else { continue };
            let at = if bound.at == At::Most { "at most" } else { "at least" };
            rules.push(format!("{} is {at} {}", output.label, bound.label));
        }
        Ok(html(&format!(
            "A thread per connection would do, by this rule, where these hold over their whole intervals: {}. What breaks one is marked; \
             the live view has a mark at each of these bounds.",
            rules.join("; ")
        )))
    }

    /// The experiments that its inputs are taken from.
    fn experiments(&self) -> BTreeSet<&str> {
        let options = self.data.inputs.iter().flat_map(|input| &input.options);
        options.map(|option| option.experiment.as_str()).collect()
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

    /// The worked cases as CSV: what is assumed of each, what is measured, and what follows, unrounded.
    fn csv(&self) -> Result<String> {
        let heads = ["case", "what", "of", "unit", "median", "low", "high", "formula", "missing"];
        let mut out = downloads::csv_line(heads.into_iter().map(str::to_owned));
        for case in self.cases {
            let mut line = |what: &str, of: &str, unit: &str, value: &Value, formula: String| {
                let words = [case.name.as_str(), what, of, unit].map(str::to_owned);
                let numbers = downloads::csv_numbers(value.as_ref().ok().copied());
                let missing = value.as_ref().err().map_or(String::new(), ToString::to_string);
                out += &downloads::csv_line(words.into_iter().chain(numbers).chain([formula, missing]));
            };
            for setting in &self.data.settings {
                let estimate = Estimate { median: self.data.set(case, setting)?, interval: None, rounds: 0 };
                line(&setting.label, "assumed", &setting.unit, &Ok(estimate), String::new());
            }
            for input in &self.data.inputs {
                let option = self.data.chosen(case, input)?;
                for who in [Who::Thread, Who::Task] {
                    let measured = option.measured(self.view, who)?;
                    let unit = measured.as_ref().map_or("", |quantity| match quantity.unit {
                        Unit::Nanoseconds => "ns",
                        Unit::Bytes => "B",
                        Unit::Count | Unit::Ratio => "",
                    });
                    let value = measured.map(|quantity| quantity.estimate);
                    let what = format!("{}, {}", input.label, option.label);
                    line(
                        &what,
                        plural(who),
                        unit,
                        &value,
                        format!("{}: {}", option.experiment, option.asked(&self.view.plans, who)?.expression),
                    );
                }
            }
            for Line { output, values } in self.lines(case)? {
                for (who, value, _) in &values {
                    line(&output.label, plural(*who), unit(output.panel), value, self.formula(output)?);
                }
            }
        }
        Ok(out)
    }

    /// What must be known about how fresh the records are, and which are missing.
    fn states(&self) -> Result<String> {
        let mut out = String::new();
        for name in self.experiments() {
            let (plan, experiment) = self.view.plans.experiment(name)?;
            let note = match self.view.kept(plan, experiment)?.as_ref() {
                Ok((_, freshness)) => render::freshness(freshness, experiment, &self.view.machine),
                Err(missing) => Some(missing.clone()),
            };
            if let Some(note) = note {
                out += &render::boxed(&Missing::new(note.word, format!("{name}: {}", note.reason)));
            }
        }
        Ok(out)
    }

    /// What describes the cases, a row each.
    fn description_rows(&self) -> Result<String> {
        let mut out = String::new();
        for setting in &self.data.settings {
            let number = |case| Ok(format!("<td>{}</td>", html(&worded(setting, self.data.set(case, setting)?))));
            out += &row(setting.short(), self.cases.iter().map(number).collect::<Result<String>>()?);
        }
        for input in self.data.inputs.iter().filter(|input| input.options.len() > 1) {
            let word = |case| Ok(format!("<td>{}</td>", html(&self.data.chosen(case, input)?.label)));
            out += &row(&input.label, self.cases.iter().map(word).collect::<Result<String>>()?);
        }
        Ok(out)
    }

    /// What is computed for them: a row for threads and one for tasks, or one for what threads take beyond tasks.
    fn output_rows(&self) -> Result<String> {
        let cases: Vec<Vec<Line>> = self.cases.iter().map(|case| self.lines(case)).collect::<Result<_>>()?;
        let mut out = String::new();
        for (index, output) in self.data.outputs.iter().enumerate() {
            for (nth, who) in output.whose().iter().enumerate() {
                let cells: String = cases.iter().map(|lines| cell(output, &lines[index].values[nth])).collect();
                let label = html(&output.label);
                out += &match (who, nth) {
                    (Who::Extra, _) => row(&output.label, cells),
                    (_, 0) => format!(
                        "<tr><th scope=\"rowgroup\" rowspan=\"2\">{label}</th><th scope=\"row\">{}</th>{cells}</tr>\n",
                        plural(*who)
                    ),
                    _ => format!("<tr class=\"second\"><th scope=\"row\">{}</th>{cells}</tr>\n", plural(*who)),
                };
            }
        }
        let answer = |case| {
            let answer = self.data.answer(self.view, case)?;
            Ok(format!("<td data-answer=\"{}\"><strong>{}</strong></td>", rank(&answer), html(&answer.words())))
        };
        Ok(out + &row(QUESTION, self.cases.iter().map(answer).collect::<Result<String>>()?))
    }

    fn formulas(&self) -> Result<String> {
        let mut out = render::wide("Formulas")
            + "<table class=\"formulas\">\n<caption><span>How each is computed. An interval is \
                       the input’s, taken through the formula.</span></caption>\n<thead>\n<tr><th scope=\"col\">what</th>\
                       <th scope=\"col\">formula</th></tr>\n</thead>\n<tbody>\n";
        for output in &self.data.outputs {
            out += &format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                html(&output.label),
                html(&self.formula(output)?)
            );
        }
        Ok(out + "</tbody>\n</table>\n</div>\n")
    }

    fn input_table(&self) -> Result<String> {
        let mut out = render::wide("Inputs")
            + "<table class=\"inputs\">\n<caption><span>What is taken from records. A number leads \
                       to its table.</span></caption>\n<thead>\n<tr><th scope=\"col\">input</th><th scope=\"col\">thread</th>\
                       <th scope=\"col\">task</th><th scope=\"col\">what it is</th></tr>\n</thead>\n<tbody>\n";
        for input in &self.data.inputs {
            for option in &input.options {
                let (plan, experiment) = self.view.plans.experiment(&option.experiment)?;
                let context = render::context(self.view, plan, experiment)?;
                let number = |who| -> Result<String> {
                    let asked = option.asked(&self.view.plans, who)?;
                    render::inline(self.view, &asked, &self.view.evaluate(&asked)?)
                };
                out += &format!(
                    "<tr><th scope=\"row\">{}, {}</th><td>{}</td><td>{}</td><td class=\"none\">{} <span class=\"legend\">{}</span></td></tr>\n",
                    html(&input.label),
                    html(&option.label),
                    number(Who::Thread)?,
                    number(Who::Task)?,
                    html(&option.note),
                    html(&context)
                );
            }
        }
        Ok(out + "</tbody>\n</table>\n</div>\n")
    }

    /// Where its numbers come from, the bare numbers, how to compute them again, how to cite them. The raw records stand under the tables
    /// that the inputs lead to.
    fn small_print(&self) -> Result<String> {
        let records = self.headers()?;
        let measured = record::days(&records);
        let machine = self.view.machine.name();
        let context = if records.is_empty() { machine.to_owned() } else { format!("{machine}, {measured}") };
        let csv = downloads::write(self.view, &format!("{}/calculator.csv", self.view.machine.slug()), &self.csv()?)?;
        let parts = [
            format!("<a href=\"machines.md\">{}</a>", html(&context)),
            format!("<a href=\"{csv}\" download>data (CSV)</a>"),
            "<code class=\"command\">cargo tally calculator</code>".to_owned(),
        ];
        let citation = records.first().map(|record| {
            let names = record::listed(records.iter().map(|record| record.experiment.as_str()));
            let revisions = record::listed(records.iter().map(|record| record.revision.as_deref().unwrap_or("unknown")));
            let effort = record::efforts(&records);
            let summary = record.machine.summary();
            let text = format!(
                "Tasks beside threads, calculator ({QUESTION}). Machine {machine}: {summary}; measured {measured}, effort {effort}; computed from the \
                 experiments {names}, revisions {revisions}."
            );
            downloads::citation(&text, &self.data.chapter, "calculator")
        });
        Ok(downloads::small_letters(&parts, &citation.unwrap_or_default()))
    }
}

/// A row of the table of cases.
fn row(label: &str, cells: String) -> String {
    format!("<tr><th scope=\"row\" colspan=\"2\">{}</th>{cells}</tr>\n", html(label))
}

fn cell(output: &Output, (who, value, kept): &(Who, Value, Option<Kept>)) -> String {
    let (marked, said) = match kept {
        Some(Kept::Broken) => (" class=\"broken\"", "<span class=\"unseen\"> beyond its bound</span>"),
        _ => ("", ""),
    };
    match value {
        Err(missing) => format!("<td>{}</td>", render::boxed_inline(missing)),
        Ok(estimate) => {
            let shown = shown(output.panel, estimate);
            format!(
                "<td{marked}><data value=\"{}\" data-output=\"{}\" data-who=\"{}\">{}</data>{said}{}</td>",
                estimate.median,
                output.name,
                who.word(),
                html(&shown.value),
                render::beside_in_table(&shown)
            )
        }
    }
}

/// How the live view says the same answer: the worst of its rows.
fn rank(answer: &Answer) -> u8 {
    match answer {
        Answer::Yes => 0,
        Answer::Undecided(_) => 1,
        Answer::Unknown(_) => 2,
        Answer::No(_) => 3,
    }
}
