//! `tally calculator`: what threads and tasks would cost a service: worked cases, the reader's own, and a live view.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::calculator::{
    Answer, At, Calculator as Data, Case, Choice, Input, Kept, Output, Panel, Setting, Value, Who,
};
use crate::charts;
use crate::downloads;
use crate::escape::{html, identifier};
use crate::expression::Expression;
use crate::format;
use crate::quantity::{Measured, Missing, Quantity, Unit};
use crate::render::{self, Form};
use crate::statistics::Estimate;
use crate::view::View;

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
        let words = [("one_switch", &self.switch), ("one_held", &self.held)];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, toml::Value::Float(number?))));
        let words = words.into_iter().filter_map(|(name, word)| Some((name, toml::Value::String(word.clone()?))));
        let given: Vec<(&str, toml::Value)> = numbers.chain(words).collect();
        if given.is_empty() {
            return Ok(None);
        }
        for (name, _) in &given {
            let is_known = data.settings.iter().any(|setting| setting.name == *name)
                || data.inputs.iter().any(|input| input.name == *name);
            ensure!(is_known, "benches-src/does-it-matter/calculator.toml has no setting {name:?}, which a flag sets");
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
                let quantity = option.quantity(who)?;
                out += &format!(
                    "    {}: {} = {quantity}\n",
                    plural(who),
                    render::plain(&option.measured(self.view, who)?)
                );
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
                let id = option.quantity(who)?.to_string();
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

    fn page(&self) -> Result<String> {
        let live = self.live()?;
        let mut out = "<figure class=\"calculator\" id=\"calculator\" data-chart=\"calculator\" data-explore=\"Set your own numbers\" "
            .to_owned();
        out += &format!("data-live=\"{live}\">\n{}", self.states()?);
        let heads = self.cases.iter().map(|case| {
            let set = html(&self.signals(case)?.to_string());
            let (id, name) = (identifier(&case.name), html(&case.name));
            Ok(format!("<th scope=\"col\" id=\"calculator-{id}\" data-set=\"{set}\">{name}</th>"))
        });
        out += &format!(
            "<div class=\"wide\" tabindex=\"0\">\n<table>\n<caption><span>Worked cases. What describes them is assumed, what is computed \
             stands on records: {}.</span></caption>\n<thead>\n<tr><th scope=\"col\" colspan=\"2\">a service</th>{}</tr>\n</thead>\n",
            html(self.view.machine.name()),
            heads.collect::<Result<String>>()?
        );
        out += &format!("<tbody>\n{}</tbody>\n<tbody>\n{}</tbody>\n", self.description_rows()?, self.output_rows()?);
        out += "</table>\n</div>\n";
        out += &format!("<figcaption>{}</figcaption>\n</figure>\n", self.rule()?);
        Ok(out + &self.formulas()? + &self.input_table()?)
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

    /// What must be known about how fresh the records are, and which are missing.
    fn states(&self) -> Result<String> {
        let mut out = String::new();
        let options = self.data.inputs.iter().flat_map(|input| &input.options);
        let names: BTreeSet<&str> = options.map(|option| option.experiment.as_str()).collect();
        for name in names {
            let (plan, experiment) = self.view.plans.experiment(name)?;
            let note = match self.view.kept(plan, experiment)?.as_ref() {
                Ok((_, freshness)) => render::freshness(freshness, experiment),
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
        let mut out = "<div class=\"wide\" tabindex=\"0\">\n<table class=\"formulas\">\n<caption><span>How each is computed. An interval is \
                       the input’s, taken through the formula.</span></caption>\n<thead>\n<tr><th scope=\"col\">what</th>\
                       <th scope=\"col\">formula</th></tr>\n</thead>\n<tbody>\n"
            .to_owned();
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
        let mut out = "<div class=\"wide\" tabindex=\"0\">\n<table class=\"inputs\">\n<caption><span>What is taken from records. A number leads \
                       to its table.</span></caption>\n<thead>\n<tr><th scope=\"col\">input</th><th scope=\"col\">thread</th>\
                       <th scope=\"col\">task</th><th scope=\"col\">what it is</th></tr>\n</thead>\n<tbody>\n"
            .to_owned();
        for input in &self.data.inputs {
            for option in &input.options {
                let (plan, experiment) = self.view.plans.experiment(&option.experiment)?;
                let context = render::context(self.view, plan, experiment)?;
                let number = |who| -> Result<String> {
                    let anchor = render::anchor(plan, experiment);
                    Ok(render::inline(&option.measured(self.view, who)?, &option.quantity(who)?, &anchor, &context))
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
        out += "</tbody>\n</table>\n</div>\n";
        Ok(out + "<p class=\"small\"><code class=\"command\">cargo tally calculator</code></p>\n")
    }

    /// What to set in the live view, so that it shows a case.
    fn signals(&self, case: &Case) -> Result<Json> {
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
    fn live(&self) -> Result<String> {
        let wide = self.specification(640)?;
        let narrow = self.specification(290)?;
        let both = json!({ "wide": wide, "narrow": narrow });
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

/// A setting's number with its unit.
fn worded(setting: &Setting, number: f64) -> String {
    let digits = format::grouped(&number.to_string());
    if setting.unit.is_empty() { digits } else { format!("{digits} {}", setting.unit) }
}

/// A value and its interval as they are shown.
fn shown(panel: Panel, estimate: &Estimate) -> (String, String) {
    let (unit, size) = match panel {
        Panel::Number => (Unit::Count, 1.0),
        Panel::Cores | Panel::Shares => (Unit::Count, 100.0),
        Panel::Bytes => (Unit::Bytes, 1.0),
        Panel::Time => (Unit::Nanoseconds, 1e9),
    };
    if panel == Panel::Time && estimate.median <= 0.0 {
        return ("none".to_owned(), "threads take no more".to_owned());
    }
    let Estimate { median, interval, rounds } = *estimate;
    let interval = interval.map(|(low, high)| (low * size, high * size));
    let scaled = Quantity { unit, estimate: Estimate { median: median * size, interval, rounds }, floor: 0.0 };
    let shown = format::quantity(&scaled);
    let value = if matches!(panel, Panel::Cores | Panel::Shares) { format!("{} %", shown.value) } else { shown.value };
    let interval = match (interval, shown.interval) {
        (Some((low, high)), _) if low == high => "exact".to_owned(),
        (_, Some(range)) => range,
        _ => "no interval".to_owned(),
    };
    (value, interval)
}

fn plain(panel: Panel, value: &Value) -> String {
    match value {
        Err(missing) => render::plain(&Measured::Err(missing.clone())),
        Ok(estimate) => {
            let (value, interval) = shown(panel, estimate);
            format!("{value} [{interval}]")
        }
    }
}

/// A row of the table of cases.
fn row(label: &str, cells: String) -> String {
    format!("<tr><th scope=\"row\" colspan=\"2\">{}</th>{cells}</tr>\n", html(label))
}

fn cell(output: &Output, (who, value, kept): &(Who, Value, Option<Kept>)) -> String {
    let marked = if *kept == Some(Kept::Broken) { " class=\"broken\"" } else { "" };
    match value {
        Err(missing) => format!("<td>{}</td>", render::boxed_inline(missing)),
        Ok(estimate) => {
            let (shown, interval) = shown(output.panel, estimate);
            format!(
                "<td{marked}><data value=\"{}\" data-output=\"{}\" data-who=\"{}\">{}</data> <span class=\"interval\">{}</span></td>",
                estimate.median,
                output.name,
                who.word(),
                html(&shown),
                html(&interval)
            )
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

/// How the live view says the same answer: the worst of its rows.
fn rank(answer: &Answer) -> u8 {
    match answer {
        Answer::Yes => 0,
        Answer::Undecided(_) => 1,
        Answer::Unknown(_) => 2,
        Answer::No(_) => 3,
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
    }
}

/// In Vega's language: what belongs to the row's output, and else nothing.
fn choose(of: &[(&str, String)]) -> String {
    of.iter()
        .rev()
        .fold("null".to_owned(), |other, (name, script)| format!("datum.output === '{name}' ? {script} : {other}"))
}
