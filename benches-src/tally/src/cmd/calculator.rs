//! `tally calculator`: what threads and tasks would cost a service: worked cases, the reader's own,
//! and what the page's script computes from.

mod page;
mod script;
mod tables;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::book::unit::Unit as Counted;
use crate::print::calculator::numbers::Numbers;
use crate::print::calculator::{Calculator as Data, Case, Choice, Input, Of, Output, Setting, Unit, Value, Who, words};
use crate::print::format::{self, Shown};
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::statistics::Estimate;

/// Whether threads would do: what a service would spend on them, and on tasks
///
/// Without any number it shows worked cases. What is not given is as in the first of them.
#[derive(Args)]
pub struct Calculator {
    /// Connections open, idle ones included
    #[arg(long)]
    connections: Option<f64>,
    /// Requests that arrive in a second
    #[arg(long, alias = "requests-per-second")]
    requests: Option<f64>,
    /// How many calls to others a request makes, and so how often it blocks, but for once
    #[arg(long)]
    calls: Option<f64>,
    /// How long each of them takes, in ms
    #[arg(long)]
    wait_ms: Option<f64>,
    /// CPU time of a request in µs, its reading and writing included, and no switch
    #[arg(long)]
    work_us: Option<f64>,
    /// Memory there is for connections, in GiB
    #[arg(long)]
    memory_gib: Option<f64>,
    /// All of that as the page's address has it, such as connections=200&requests=1000; may be
    /// given several times
    #[arg(long)]
    address: Vec<String>,
    /// What a switch waits for: io or channel [default: io]
    #[arg(long)]
    switch: Option<String>,
    /// What a connection holds: socket-pair, default-stack or small-stack [default: socket-pair]
    #[arg(long)]
    held: Option<String>,
}

impl Calculator {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let data = view.calculator()?;
        let own = self.own(&data)?;
        let numbers = Numbers::read(&data, view, &view.machine)?;
        let worked = data.cases.iter().map(|case| numbers.worked(case));
        let cases = if own.is_empty() { worked.collect::<Result<_>>()? } else { own };
        let printer = Printer { view, numbers, data: &data, cases: &cases };
        match form {
            Form::Text => printer.text(),
            Form::Page => printer.page(),
            Form::Json => Ok(printer.json()?.to_string() + "\n"),
        }
    }

    /// The cases that the flags describe, one to each address; none without any flag.
    fn own(&self, data: &Data) -> Result<Vec<Case>> {
        let first = data.cases.first().context("the calculator has no case")?;
        let mut case = Case { name: "Your service".to_owned(), ..first.clone() };
        let numbers = [
            ("connections", self.connections),
            ("requests", self.requests),
            ("calls", self.calls),
            ("wait", self.wait_ms),
            ("work", self.work_us),
            ("memory", self.memory_gib),
        ];
        let given: Vec<_> = numbers.into_iter().filter_map(|(name, number)| Some((name.to_owned(), number?))).collect();
        let asked = [("one_switch", &self.switch), ("one_held", &self.held)];
        case.asked = asked.into_iter().filter_map(|(name, word)| Some((name.to_owned(), word.clone()?))).collect();
        let is_own = !given.is_empty() || !case.asked.is_empty();
        given.iter().try_for_each(|(name, _)| data.setting(name).map(drop))?;
        case.values.extend(given);
        if !self.address.is_empty() {
            return self.address.iter().map(|address| case.clone().with_address(data, address)).collect();
        }
        data.is_within(&case)?;
        Ok(is_own.then_some(case).into_iter().collect())
    }
}

struct Printer<'a> {
    view: &'a View,
    numbers: Numbers<'a>,
    data: &'a Data,
    cases: &'a [Case],
}

/// A case's row: an output with its numbers.
struct Line<'a> {
    output: &'a Output,
    values: Vec<(Who, Value)>,
}

/// What is asked of each case.
const QUESTION: &str = "Would a thread per connection do?";

impl Printer<'_> {
    fn lines(&self, case: &Case) -> Result<Vec<Line<'_>>> {
        let line = |output| {
            let number = |who: &Who| Ok((*who, self.numbers.compute(case, output, *who)?));
            Ok(Line { output, values: output.whose().iter().map(number).collect::<Result<_>>()? })
        };
        self.data.outputs.iter().map(line).collect()
    }

    /// What describes a case, each with its number.
    fn described(&self, case: &Case) -> String {
        let settings = self.data.settings.iter();
        let parts = settings.map(|setting| format!("{} {}", setting.label, with_unit(setting, case)));
        let asked = case.asked.values().cloned();
        parts.chain(asked).collect::<Vec<_>>().join(" · ")
    }

    /// The inputs that the page's script or one of these cases can stand on.
    fn inputs(&self) -> Vec<(&Input, &Choice)> {
        let all = self.data.inputs.iter().flat_map(|input| input.options.iter().map(move |option| (input, option)));
        let is_chosen = |(input, option): &(&Input, &Choice)| {
            let by_case = |case| self.data.chosen(case, input).is_ok_and(|own: &Choice| own.name == option.name);
            input.reachable().any(|own| own.name == option.name) || self.cases.iter().any(by_case)
        };
        all.filter(is_chosen).collect()
    }

    fn text(&self) -> Result<String> {
        let mut out = String::new();
        for case in self.cases {
            out += &format!("{}\n  {}\n", case.name, self.described(case));
            let lines = self.lines(case)?;
            let width = lines.iter().map(|line| line.output.label.chars().count()).max().unwrap_or(0);
            for Line { output, values } in &lines {
                let heads = values.iter().map(|(who, value)| format!("{}: {}", plural(*who), said(output.unit, value)));
                out += &format!("  {:width$}  {}\n", output.label, heads.collect::<Vec<_>>().join("; "));
            }
            out += &format!("  {QUESTION}\n  {}\n\n", self.numbers.answer(case)?.text);
        }
        out += "Formulas\n";
        for (label, formula) in self.formulas()? {
            out += &format!("  {label} = {formula}\n");
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
                    json!({ "label": output.label, "unit": plain_unit(output.unit), "formula": output.formula.text });
                for (who, value) in &values {
                    object[who.word()] = value_json(value);
                }
                outputs.insert(output.name.clone(), object);
            }
            let answer = self.numbers.answer(case)?;
            cases.push(json!({
                "case": case.name, "set": case.values, "asked": case.asked, "outputs": outputs,
                "would_threads_do": answer.state.word(), "answer": answer.text,
            }));
        }
        let mut inputs = Vec::new();
        for (input, option) in self.inputs() {
            for who in [Who::Thread, Who::Task] {
                let measured = option.measured(self.view, &self.view.machine, who)?;
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

    /// Every formula in words, each with what it is of.
    fn formulas(&self) -> Result<Vec<(&str, String)>> {
        let derived = self.data.derived.iter().map(|own| Ok((own.label.as_str(), self.data.spoken(&own.formula))));
        let outputs = self.data.outputs.iter().map(|output| Ok((output.label.as_str(), self.formula(output)?)));
        derived.chain(outputs).collect()
    }

    /// An output's formula in words. Where it is about what threads take beyond tasks, the input is
    /// that.
    fn formula(&self, output: &Output) -> Result<String> {
        let spoken = self.data.spoken(&output.formula);
        if output.of == Of::Each {
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
fn plain_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Cores => "1",
        Unit::Gibibytes => "B",
        Unit::Number => "",
    }
}

/// A setting's number with its unit.
fn with_unit(setting: &Setting, case: &Case) -> String {
    let digits = case.values.get(&setting.name).map_or(String::new(), |number| words::plain(*number));
    format!("{digits} {}", setting.unit).trim().to_owned()
}

/// A value and its interval as they are shown.
fn shown(unit: Unit, estimate: &Estimate) -> Shown {
    match unit {
        Unit::Cores | Unit::Number => format::estimate(Counted::Count, estimate),
        Unit::Gibibytes => format::estimate(Counted::Bytes, estimate),
    }
}

/// The same for a terminal.
fn said(unit: Unit, value: &Value) -> String {
    match value {
        Err(missing) => format!("({missing})"),
        Ok(estimate) => {
            let shown = shown(unit, estimate);
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
