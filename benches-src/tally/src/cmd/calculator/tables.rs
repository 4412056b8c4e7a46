//! The tables behind the answers: all numbers of the worked cases, how each is computed, and from
//! which inputs.

use anyhow::Result;

use super::{Line, Printer, QUESTION, plural, shown, with_unit};
use crate::print::calculator::{At, Case, Kind, Output, Value, Who};
use crate::print::comparison::alone;
use crate::print::escape::html;
use crate::print::render::{self, Form};
use crate::print::table::{Cell, Table};

/// So many columns of numbers have room on a page.
const MOST_CASES: usize = 5;

impl Printer<'_> {
    /// Tables of a few cases each, which have room on a page.
    pub(super) fn case_tables(&self) -> Result<String> {
        self.cases.chunks(MOST_CASES).map(|cases| self.case_table(cases)).collect()
    }

    fn case_table(&self, cases: &[Case]) -> Result<String> {
        let heads: String = cases.iter().map(|case| format!("<th scope=\"col\">{}</th>", html(&case.name))).collect();
        let answer = |case| Ok(format!("<td>{}</td>", self.numbers.state(case)?.choice()));
        let answers = cases.iter().map(answer).collect::<Result<String>>()?;
        Ok(format!(
            "{}<table>\n<caption><span>Worked cases. The settings are assumed, the rest is computed from records: {}.\
             </span></caption>\n\
             <thead>\n<tr><th scope=\"col\" colspan=\"2\">a service</th>{heads}</tr>\n</thead>\n<tbody>\n{}</tbody>\n\
             <tbody>\n{}{}</tbody>\n</table>\n</div>\n",
            render::wide("Worked cases"),
            html(&self.view.phrase(&self.view.machine)),
            self.setting_rows(cases),
            self.output_rows(cases)?,
            row(QUESTION, answers)
        ))
    }

    fn setting_rows(&self, cases: &[Case]) -> String {
        let cells = |setting| -> String {
            let cell = |case: &Case| format!("<td>{}</td>", html(&with_unit(setting, case)));
            cases.iter().map(cell).collect()
        };
        self.data.settings.iter().map(|setting| row(&setting.label, cells(setting))).collect()
    }

    /// A row for threads and one for tasks, or one for what threads take beyond tasks.
    fn output_rows(&self, cases: &[Case]) -> Result<String> {
        let cases: Vec<Vec<Line>> = cases.iter().map(|case| self.lines(case)).collect::<Result<_>>()?;
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
        Ok(out)
    }

    pub(super) fn formula_table(&self) -> Result<String> {
        let caption = "How each number is computed. An interval is the input’s, taken through the formula. CPU time \
                       and memory decide, by the rules at the end, to which all of an interval must keep.";
        let mut table =
            Table::new("Formulas", ["number", "formula"]).with(" class=\"formulas\"").captioned(caption.to_owned());
        for (label, formula) in self.formulas()? {
            table.row(html(label), [Cell::text(&formula)]);
        }
        for bound in &self.data.bounds {
            let least = if bound.at == At::Most { "at most" } else { "at least" };
            let held = self.data.outputs.iter().filter(|output| output.bound.as_ref() == Some(&bound.name));
            let labels: Vec<&str> = held.map(|output| output.label.as_str()).collect();
            let then = match bound.kind {
                Kind::Decides => "threads would do if",
                Kind::Raised => "a limit to be raised, unless",
                Kind::Sense => "no such service, unless",
                Kind::Pool => "so would a pool if",
            };
            table.row(then, [Cell::text(&format!("{}: {least} {}", labels.join("; "), bound.label))]);
        }
        Ok(table.page())
    }

    pub(super) fn input_table(&self) -> Result<String> {
        let caption = "The inputs, from records. A number leads to its table. What is another machine’s stands here \
                       to compare, and enters no answer.";
        let mut table = Table::new("Inputs", ["input", "thread", "task", "note"])
            .with(" class=\"inputs\"")
            .captioned(caption.to_owned());
        for (input, option) in self.inputs() {
            let (plan, experiment) = self.view.plans.experiment(&option.experiment)?;
            let there = match self.view.kept(plan, experiment)?.as_ref() {
                Ok(_) => None,
                Err(missing) => self.view.instead_on(Form::Page, missing, plan, experiment),
            };
            let context = render::context(there.as_ref().unwrap_or(self.view), plan, experiment)?;
            let number = |who| -> Result<Cell> {
                let asked = option.asked(&self.view.plans, who)?;
                Ok(Cell::html(alone(self.view, &asked, &self.view.evaluate(&asked)?)?))
            };
            let note = format!("{} <span class=\"legend\">{}</span>", html(&option.note), html(&context));
            let name = format!("{}, {}", html(&input.label), html(&option.label));
            table.row(name, [number(Who::Thread)?, number(Who::Task)?, Cell::words(note)]);
        }
        Ok(table.page())
    }
}

fn row(label: &str, cells: String) -> String {
    format!("<tr><th scope=\"row\" colspan=\"2\">{}</th>{cells}</tr>\n", html(label))
}

fn cell(output: &Output, (who, value): &(Who, Value)) -> String {
    match value {
        Err(missing) => format!("<td>{}</td>", render::boxed_inline(missing)),
        Ok(estimate) => {
            let shown = shown(output.unit, estimate);
            format!(
                "<td><data value=\"{}\" data-output=\"{}\" data-who=\"{}\">{}</data>{}</td>",
                estimate.median,
                output.name,
                who.word(),
                html(&shown.value),
                render::beside_in_table(&shown)
            )
        }
    }
}
