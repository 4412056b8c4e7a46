//! The calculator's live view: the same formulas in Vega's language, over the same inputs, with a slider for each setting.

use anyhow::{Context, Result};
use serde_json::{Value as Json, json};

use super::{Printer, QUESTION, unit};
use crate::book::expression::Expression;
use crate::print::calculator::{At, Case, Panel, Setting, Who};
use crate::print::charts;
use crate::print::downloads;

impl Printer<'_> {
    /// What to set in the live view, so that it shows a case.
    pub(super) fn signals(&self, case: &Case) -> Result<Json> {
        let mut signals = serde_json::Map::new();
        for setting in &self.data.settings {
            signals.insert(format!("{}_step", setting.name), json!(step(setting, self.data.set(case, setting)?)));
        }
        for input in self.data.inputs.iter().filter(|input| input.options.len() > 1) {
            signals.insert(format!("{}_option", input.name), json!(self.data.chosen(case, input)?.name));
        }
        Ok(Json::Object(signals))
    }

    /// Writes what the live view needs; its path from a page.
    pub(super) fn live(&self) -> Result<String> {
        let wide = self.specification(640)?;
        let narrow = self.specification(290)?;
        let both = json!({ "wide": charts::live(&wide), "narrow": charts::live(&narrow) });
        let path = format!("{}/calculator.live.js", self.view.machine.slug());
        // A script and not JSON, because a page that was opened from a folder may load only scripts.
        downloads::write(self.view, &path, &format!("(window.charts ??= {{}}).calculator = {both};\n"))
    }

    /// The live view's specification: the file's, with this machine's rows, the sliders, and the formulas.
    fn specification(&self, width: u32) -> Result<Json> {
        let first = self.data.cases.first().context("the calculator has no case")?;
        let mut bounds = Vec::new();
        for output in &self.data.outputs {
            if let Some(bound) = &output.bound {
                bounds.push((output.name.as_str(), script(&Expression::parse(&bound.formula)?, None)));
            }
        }
        let chosen = self.data.inputs.iter().map(|input| {
            let name = &input.name;
            let option = if input.options.len() > 1 { format!("{name}_option") } else { "datum.option".to_owned() };
            format!("(datum.input !== '{name}' || datum.option === {option})")
        });
        let (low, median, high) =
            (self.scripts("input_low")?, self.scripts("input_median")?, self.scripts("input_high")?);
        let titles = [
            ("$low", low.as_str()),
            ("$median", median.as_str()),
            ("$high", high.as_str()),
            ("$bound", &choose(&bounds)),
            ("$chosen", &chosen.collect::<Vec<_>>().join(" && ")),
            ("$question", QUESTION),
        ];
        let mut specification = charts::specification(&self.view.project, "calculator", &self.rows()?, &titles)?;
        specification["params"] = self.params(first)?;
        // What the file itself says is for who edits it; this is read aloud.
        specification["description"] =
            "What a service spends on threads, and on tasks, as the sliders above are set. A bar or a point for each \
                                        output; the table after it has worked cases."
                .into();
        specification["config"]["view"]["continuousWidth"] = width.into();
        Ok(specification)
    }

    /// Every output's formula in Vega's language, of this field of its input.
    fn scripts(&self, field: &str) -> Result<String> {
        let mut scripts = Vec::new();
        for output in &self.data.outputs {
            let input = self.data.input_of(output)?;
            scripts.push((output.name.as_str(), script(&output.expression()?, Some((&input.name, field)))));
        }
        Ok(choose(&scripts))
    }

    fn params(&self, first: &Case) -> Result<Json> {
        let mut params = Vec::new();
        let signals = self.signals(first)?;
        for setting in &self.data.settings {
            let Setting { name, unit, .. } = setting;
            let (steps, size) = (setting.steps(), setting.size()?);
            let slider = format!("{name}_step");
            let at = format!("({})[{slider}]", json!(steps));
            params.push(json!({
                "name": slider,
                "value": signals[&slider],
                "bind": { "input": "range", "min": 0, "max": steps.len() - 1, "step": 1, "name": setting.label },
            }));
            params.push(json!({ "name": name, "expr": format!("{at} * {size}") }));
            params.push(json!({ "name": format!("{name}_words"), "expr": format!("format({at}, ',~r') + ' {unit}'") }));
        }
        for input in self.data.inputs.iter().filter(|input| input.options.len() > 1) {
            let name = format!("{}_option", input.name);
            let names: Vec<&str> = input.options.iter().map(|option| option.name.as_str()).collect();
            let labels: Vec<&str> = input.options.iter().map(|option| option.label.as_str()).collect();
            params.push(json!({
                "name": name,
                "value": signals[&name],
                "bind": { "input": "select", "options": names, "labels": labels, "name": input.label },
            }));
        }
        Ok(params.into())
    }

    fn rows(&self) -> Result<Vec<Json>> {
        let mut rows = Vec::new();
        for (order, output) in self.data.outputs.iter().enumerate() {
            let input = self.data.input_of(output)?;
            for option in &input.options {
                for who in output.whose() {
                    let value = option.value(self.view, *who)?;
                    let kind = if *who == Who::Task { "task" } else { "thread" };
                    let bound = output.bound.as_ref().filter(|_| *who != Who::Task);
                    let mut row = json!({
                        "output": output.name, "label": output.label, "panel": axis(output.panel),
                        "unit": unit(output.panel), "order": order, "who": who.word(), "kind": kind,
                        "input": input.name, "option": option.name,
                        "at": bound.map(|bound| if bound.at == At::Most { "most" } else { "least" }),
                    });
                    match value {
                        Ok(estimate) => {
                            row["input_median"] = estimate.median.into();
                            row["input_low"] = estimate.interval.map(|(low, _)| low).into();
                            row["input_high"] = estimate.interval.map(|(_, high)| high).into();
                        }
                        Err(missing) => row["missing"] = missing.word.into(),
                    }
                    rows.push(row);
                }
            }
        }
        Ok(rows)
    }
}

/// What an axis of the live view is headed.
fn axis(panel: Panel) -> &'static str {
    match panel {
        Panel::Cores => "percent of a core",
        Panel::Shares => "percent",
        Panel::Bytes => "bytes",
        Panel::Time => "seconds",
        Panel::Number => "threads or tasks",
    }
}

/// The slider's step that is nearest.
fn step(setting: &Setting, number: f64) -> usize {
    let steps = setting.steps();
    let off = |step: &f64| (step / number).ln().abs();
    (0..steps.len()).min_by(|a, b| off(&steps[*a]).total_cmp(&off(&steps[*b]))).unwrap_or(0)
}

/// An expression in Vega's language: settings are signals, the input is a field of the row.
fn script(expression: &Expression, input: Option<(&str, &str)>) -> String {
    match expression {
        Expression::Number(number) => number.to_string(),
        Expression::Leaf(leaf) => match input {
            Some((name, field)) if leaf.name == name => format!("datum.{field}"),
            _ => leaf.name.clone(),
        },
        Expression::Binary(a, operator, b) => {
            format!("({} {} {})", script(a, input), operator.sign(), script(b, input))
        }
        Expression::In(_, formula) => script(formula, input),
    }
}

/// In Vega's language: what belongs to the row's output, and else nothing.
fn choose(of: &[(&str, String)]) -> String {
    of.iter()
        .rev()
        .fold("null".to_owned(), |other, (name, script)| format!("datum.output === '{name}' ? {script} : {other}"))
}
