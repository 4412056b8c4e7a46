//! `tally calculator`: what threads and tasks would cost a service: worked cases, the reader's own, and a live view.

mod live;
mod page;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::book::unit::Unit;
use crate::compute::quantity::Measured;
use crate::print::calculator::{Calculator as Data, Case, Choice, Input, Kept, Output, Panel, Setting, Value, Who};
use crate::print::format::{self, Shown};
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::statistics::Estimate;

/// Whether threads would do: what a service would spend on them, and on tasks
///
/// Without any number it shows worked cases. What is not given is as in the first of them.
#[derive(Args)]
pub struct Calculator {
    /// Requests that arrive in a second
    #[arg(long)]
    requests_per_second: Option<f64>,
    /// How often a request blocks and is woken again
    #[arg(long)]
    switches: Option<f64>,
    /// CPU time of a request in µs, its reading and writing included, and no switch
    #[arg(long)]
    work_us: Option<f64>,
    /// How long a request waits for others, in ms
    #[arg(long)]
    wait_ms: Option<f64>,
    /// Connections open, idle ones included
    #[arg(long)]
    connections: Option<f64>,
    /// Memory there is for them in GiB
    #[arg(long)]
    memory_gib: Option<f64>,
    /// What a switch waits for: io or channel
    #[arg(long)]
    switch: Option<String>,
    /// Whose extra CPU time to look at, with few or many connections busy: few or many
    #[arg(long)]
    served: Option<String>,
    /// What a connection holds: socket-pair, default-stack or small-stack
    #[arg(long)]
    held: Option<String>,
}

impl Calculator {
    /// Prints it.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let data = Data::load(&view.project)?;
        let cases = match self.own(&data)? {
            Some(case) => vec![case],
            None => data.cases.clone(),
        };
        let printer = Printer { view, data: &data, cases: &cases };
        match form {
            Form::Text => printer.text(),
            Form::Page => printer.page(),
            Form::Json => Ok(printer.json()?.to_string() + "\n"),
        }
    }

    /// The case that the flags describe, if there is any flag.
    fn own(&self, data: &Data) -> Result<Option<Case>> {
        let numbers = [
            ("requests_per_second", self.requests_per_second),
            ("switches", self.switches),
            ("work", self.work_us),
            ("wait", self.wait_ms),
            ("connections", self.connections),
            ("memory", self.memory_gib),
        ];
        let words = [("one_switch", &self.switch), ("one_served", &self.served), ("one_held", &self.held)];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, toml::Value::Float(number?))));
        let words = words.into_iter().filter_map(|(name, word)| Some((name, toml::Value::String(word.clone()?))));
        let given: Vec<(&str, toml::Value)> = numbers.chain(words).collect();
        if given.is_empty() {
            return Ok(None);
        }
        for (name, _) in &given {
            let is_known = data.settings.iter().any(|setting| setting.name == *name)
                || data.inputs.iter().any(|input| input.name == *name);
            ensure!(
                is_known,
                "benches-src/{}/calculator.toml has no setting {name:?}, which a flag sets",
                data.chapter
            );
        }
        let mut case = data.cases.first().context("the calculator has no case")?.clone();
        case.name = "Your service".to_owned();
        case.values.extend(given.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Ok(Some(case))
    }
}

struct Printer<'a> {
    view: &'a View,
    data: &'a Data,
    cases: &'a [Case],
}

/// A case's row: an output with its numbers.
struct Line<'a> {
    output: &'a Output,
    values: Vec<(Who, Value, Option<Kept>)>,
}

/// What is asked last of each case.
const QUESTION: &str = "Would a thread per connection do?";

impl Printer<'_> {
    fn lines(&self, case: &Case) -> Result<Vec<Line<'_>>> {
        let line = |output| {
            let number = |who: &Who| {
                let value = self.data.compute(self.view, case, output, *who)?;
                let kept = match &value {
                    Ok(estimate) if *who != Who::Task => self.data.keeps(case, output, estimate)?,
                    _ => None,
                };
                Ok((*who, value, kept))
            };
            Ok(Line { output, values: output.whose().iter().map(number).collect::<Result<_>>()? })
        };
        self.data.outputs.iter().map(line).collect()
    }

    /// What describes a case, each with its number.
    fn described(&self, case: &Case) -> Result<String> {
        let mut parts = Vec::new();
        for setting in &self.data.settings {
            parts.push(format!("{} {}", setting.short(), worded(setting, self.data.set(case, setting)?)));
        }
        for input in self.data.inputs.iter().filter(|input| input.options.len() > 1) {
            parts.push(format!("{} {}", input.label, self.data.chosen(case, input)?.label));
        }
        Ok(parts.join(" · "))
    }

    /// The inputs that the cases stand on.
    fn inputs(&self) -> Vec<(&Input, &Choice)> {
        let all = self.data.inputs.iter().flat_map(|input| input.options.iter().map(move |option| (input, option)));
        let is_chosen = |(input, option): &(&Input, &Choice)| {
            self.cases.iter().any(|case| self.data.chosen(case, input).is_ok_and(|own| own.name == option.name))
        };
        all.filter(is_chosen).collect()
    }

    fn text(&self) -> Result<String> {
        let mut out = String::new();
        for case in self.cases {
            out += &format!("{}\n  {}\n", case.name, self.described(case)?);
            let lines = self.lines(case)?;
            let width = lines.iter().map(|line| line.output.label.chars().count()).max().unwrap_or(0);
            for Line { output, values } in &lines {
                let heads =
                    values.iter().map(|(who, value, _)| format!("{}: {}", plural(*who), plain(output.panel, value)));
                let heads: Vec<String> = heads.collect();
                out += &format!("  {:width$}  {}\n", output.label, heads.join("; "));
            }
            out += &format!("  {QUESTION} {}\n\n", self.data.answer(self.view, case)?.words());
        }
        out += "Formulas\n";
        for output in &self.data.outputs {
            out += &format!("  {} = {}\n", output.label, self.formula(output)?);
        }
        out += "\nInputs\n";
        for (input, option) in self.inputs() {
            out += &format!("  {}, {} ({})\n", input.label, option.label, option.experiment);
            for who in [Who::Thread, Who::Task] {
                let asked = option.asked(&self.view.plans, who)?;
                let measured = render::plain(&self.view.evaluate(&asked)?);
                out += &format!("    {}: {measured} = {}\n", plural(who), asked.expression);
            }
        }
        Ok(out)
    }

    fn json(&self) -> Result<Json> {
        let mut cases = Vec::new();
        for case in self.cases {
            let mut outputs = serde_json::Map::new();
            for Line { output, values } in self.lines(case)? {
                let mut object =
                    json!({ "label": output.label, "unit": unit(output.panel), "formula": output.formula });
                for (who, value, _) in &values {
                    object[who.word()] = value_json(value);
                }
                outputs.insert(output.name.clone(), object);
            }
            let answer = self.data.answer(self.view, case)?.words();
            cases
                .push(json!({ "case": case.name, "set": case.values, "outputs": outputs, "would_threads_do": answer }));
        }
        let mut inputs = Vec::new();
        for (input, option) in self.inputs() {
            for who in [Who::Thread, Who::Task] {
                let measured = option.measured(self.view, who)?;
                let (plan, experiment) = self.view.plans.experiment(&option.experiment)?;
                let state = render::state_word(self.view.kept(plan, experiment)?.as_ref());
                let id = option.asked(&self.view.plans, who)?.expression.to_string();
                let mut object = render::json(&id, &measured, self.view.machine.slug(), state);
                object["input"] = json!([input.name, option.name, who.word()]);
                object["experiment"] = json!(option.experiment);
                inputs.push(object);
            }
        }
        Ok(json!({ "cases": cases, "inputs": inputs }))
    }

    /// An output's formula in words. Where it is about what threads take beyond tasks, the input is that.
    fn formula(&self, output: &Output) -> Result<String> {
        let spoken = self.data.spoken(&output.formula)?;
        if output.whose() != [Who::Extra] {
            return Ok(spoken);
        }
        let label = &self.data.input_of(output)?.label;
        Ok(spoken.replace(label, &format!("({label} of a thread − of a task)")))
    }
}

fn plural(who: Who) -> &'static str {
    match who {
        Who::Thread => "threads",
        Who::Task => "tasks",
        Who::Extra => "threads beyond tasks",
    }
}

/// What an output's plain numbers are in, for scripts.
fn unit(panel: Panel) -> &'static str {
    match panel {
        Panel::Cores | Panel::Shares => "1",
        Panel::Bytes => "B",
        Panel::Time => "s",
        Panel::Number => "",
    }
}

/// A setting's number with its unit.
fn worded(setting: &Setting, number: f64) -> String {
    let digits = format::grouped(&number.to_string());
    if setting.unit.is_empty() { digits } else { format!("{digits} {}", setting.unit) }
}

/// A value and its interval as they are shown.
fn shown(panel: Panel, estimate: &Estimate) -> Shown {
    let (unit, size) = match panel {
        Panel::Number => (Unit::Count, 1.0),
        Panel::Cores | Panel::Shares => (Unit::Count, 100.0),
        Panel::Bytes => (Unit::Bytes, 1.0),
        Panel::Time => (Unit::Nanoseconds, 1e9),
    };
    if panel == Panel::Time && estimate.median <= 0.0 {
        let interval = Some("threads take no more".to_owned());
        return Shown { value: "none".to_owned(), interval, is_point: false };
    }
    let Estimate { median, interval, rounds } = *estimate;
    let interval = interval.map(|(low, high)| (low * size, high * size));
    let shown = format::estimate(unit, &Estimate { median: median * size, interval, rounds });
    match panel {
        Panel::Cores | Panel::Shares => Shown { value: format!("{} %", shown.value), ..shown },
        Panel::Number | Panel::Bytes | Panel::Time => shown,
    }
}

fn plain(panel: Panel, value: &Value) -> String {
    match value {
        Err(missing) => render::plain(&Measured::Err(missing.clone())),
        Ok(estimate) => {
            let shown = shown(panel, estimate);
            format!("{} [{}]", shown.value, shown.interval_or_none())
        }
    }
}

fn value_json(value: &Value) -> Json {
    match value {
        Err(missing) => json!({ "missing": missing.word, "reason": missing.reason }),
        Ok(estimate) => {
            let (low, high) = estimate.interval.unzip();
            json!({ "median": estimate.median, "low": low, "high": high, "rounds": estimate.rounds })
        }
    }
}
