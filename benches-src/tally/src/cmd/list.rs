//! `tally list`: what there is, in which state; or about one program; or about machines.

use std::fs;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;

use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::compute::quantity::Missing;
use crate::print::escape::html;
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::project::{Machine, Project};
use crate::record::machine::Facts;
use crate::record::sources::Freshness;
use crate::record::{self, Header, Record};

/// What there is, and in which state
#[derive(Args)]
pub struct List {
    /// A program: what one operation of it is, and how to run it
    #[arg(conflicts_with_all = ["machines", "shown"])]
    pub program: Option<String>,
    /// Every machine with records, its facts and its doubts
    #[arg(long, conflicts_with = "shown")]
    pub machines: bool,
    /// What was expected of an experiment before it was measured
    #[arg(long, value_name = "EXPERIMENT", conflicts_with_all = ["program", "machines", "shown"])]
    pub prediction: Option<String>,
    /// In one line, whose numbers are shown
    #[arg(long)]
    pub shown: bool,
}

impl List {
    /// Prints it.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        if let Some(program) = &self.program {
            return about_program(view, program, form);
        }
        if let Some(experiment) = &self.prediction {
            return prediction(view, experiment, form);
        }
        if self.machines {
            return machines(view, form);
        }
        if self.shown {
            return shown(view, form);
        }
        experiments(view, form)
    }
}

fn prediction(view: &View, experiment: &str, form: Form) -> Result<String> {
    let (_, experiment) = view.plans.experiment(experiment)?;
    let expected = &experiment.prediction;
    Ok(match form {
        Form::Page => {
            format!(
                "<details class=\"prediction\"><summary>Expected before it was measured</summary><p>{}</p></details>\n",
                html(expected)
            )
        }
        Form::Text => format!("{expected}\n"),
        Form::Json => serde_json::json!({ "experiment": experiment.name, "prediction": expected }).to_string() + "\n",
    })
}

fn experiments(view: &View, form: Form) -> Result<String> {
    let mut entries = Vec::new();
    for (plan, experiment) in view.plans.experiments() {
        let kept = view.kept(plan, experiment)?;
        let when = kept.as_ref().as_ref().map_or(String::new(), |(record, _)| {
            format!("{}, {}, {} rounds", record.day(), record.header.effort.word(), record.complete_rounds().len())
        });
        entries.push((format!("{}/{}", plan.chapter, experiment.name), render::state_word(&kept), when, experiment));
    }
    Ok(match form {
        Form::Json => {
            let entry = |(name, state, when, experiment): &(String, &str, String, &Experiment)| serde_json::json!({ "experiment": name, "state": state, "measured": when, "programs": experiment.programs() });
            serde_json::Value::from(entries.iter().map(entry).collect::<Vec<_>>()).to_string() + "\n"
        }
        Form::Text => entries
            .iter()
            .map(|(name, state, when, experiment)| {
                format!(
                    "{name:24} {state:13} {when}\n    {}\n    {}\n",
                    experiment.question,
                    experiment.programs().join(", ")
                )
            })
            .collect(),
        Form::Page => {
            let rows = entries.iter().map(|(name, state, when, experiment)| {
                format!(
                    "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                    html(name),
                    html(&experiment.question),
                    html(state),
                    html(when)
                )
            });
            let wide = render::wide("All experiments");
            format!(
                "{wide}<table>\n<thead><tr><th scope=\"col\">experiment</th><th scope=\"col\">question</th>\
                 <th scope=\"col\">state</th><th scope=\"col\">measured</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
                rows.collect::<String>()
            )
        }
    })
}

/// The first paragraph in `//!`: what one operation is. It is the program's caption everywhere.
pub fn operation(project: &Project, chapter: &str, program: &str) -> Result<String> {
    let listing = Project::listing(chapter, program);
    let path = project.benches().join(&listing);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let first: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
    ensure!(!first.is_empty(), "{listing} does not begin with a //! line that says what one operation is");
    Ok(first.join(" "))
}

/// The text as HTML, with what stands between backticks set as code.
pub fn with_code(text: &str) -> String {
    let escaped = html(text);
    let parts: Vec<&str> = escaped.split("&#96;").collect();
    let [pairs @ .., last] = &parts[..] else { return escaped };
    if pairs.len() % 2 == 1 {
        return escaped;
    }
    let set = |pair: &[&str]| format!("{}<code>{}</code>", pair[0], pair[1]);
    pairs.chunks(2).map(set).collect::<String>() + last
}

fn about_program(view: &View, program: &str, form: Form) -> Result<String> {
    let plan = view.plans.chapter_of(program)?;
    let listing = Project::listing(&plan.chapter, program);
    let operation = operation(&view.project, &plan.chapter, program)?;
    let command = command(view, program).unwrap_or_default();
    match form {
        Form::Page => {}
        Form::Text => {
            return Ok(format!("{}/{program}\n{operation}\nbenches-src/{listing}\n{command}\n", plan.chapter));
        }
        Form::Json => {
            let listing = format!("benches-src/{listing}");
            let about = serde_json::json!({ "chapter": plan.chapter, "program": program, "operation": operation, "listing": listing, "command": command });
            return Ok(about.to_string() + "\n");
        }
    }
    let out = format!(
        "<p class=\"listing\"><span class=\"operation\">{}</span> <span class=\"small\">benches-src/{} · <code class=\"command\">{}</code></span></p>\n",
        with_code(&operation),
        html(&listing),
        html(&command)
    );
    Ok(out + &stale(view, program, &listing)?)
}

/// The experiments that run a program, each with its plan.
pub fn experiments_of<'a>(view: &'a View, program: &str) -> impl Iterator<Item = (&'a Plan, &'a Experiment)> {
    view.plans.experiments().filter(move |(_, experiment)| experiment.group(program).is_some())
}

/// The command that runs a program as one of its cells does; none for a program that only others start.
pub fn command(view: &View, program: &str) -> Option<String> {
    let cell = experiments_of(view, program)
        .find_map(|(_, experiment)| experiment.full_cells().ok()?.into_iter().find(|cell| cell.program == program))?;
    Some(format!("cargo program {program} -- {}", cell.arguments().join(" ")))
}

/// A box for each record that was measured with another listing than the one that is shown.
pub fn stale(view: &View, program: &str, listing: &str) -> Result<String> {
    let mut out = String::new();
    for (plan, experiment) in experiments_of(view, program) {
        // Only what concerns this listing: a change in a rival is said at the rival.
        if let Some((_, Freshness::Stale(what))) = view.header_on(&view.machine, plan, experiment)? {
            let concerns = what.iter().filter(|file| **file == listing || !file.contains("/src/bin/"));
            let concerns: Vec<String> = concerns.cloned().collect();
            if !concerns.is_empty()
                && let Some(note) = render::freshness(&Freshness::Stale(concerns), experiment, &view.machine)
            {
                out += &render::boxed(&note);
            }
        }
    }
    Ok(out)
}

/// What was measured on a machine: the header of each record, with its experiment.
fn headers<'a>(view: &'a View, machine: &Machine) -> Result<Vec<(&'a Plan, &'a Experiment, Header)>> {
    let mut headers = Vec::new();
    for (plan, experiment) in view.plans.experiments() {
        let header = view.header_on(machine, plan, experiment)?;
        headers.extend(header.map(|(header, _)| (plan, experiment, header)));
    }
    Ok(headers)
}

/// Any record of a machine tells what machine it is; the newest does so best.
fn newest<'a, 'b>(headers: &'b [(&'a Plan, &'a Experiment, Header)]) -> Option<&'b (&'a Plan, &'a Experiment, Header)> {
    headers.iter().max_by_key(|(_, _, header)| &header.before.time)
}

/// When they were measured, and with which effort.
fn when(headers: &[(&Plan, &Experiment, Header)]) -> String {
    let headers = || headers.iter().map(|(_, _, header)| header);
    format!("measured {}, effort {}", record::days(headers()), record::efforts(headers()))
}

fn shown(view: &View, form: Form) -> Result<String> {
    let headers = headers(view, &view.machine)?;
    let line = match newest(&headers) {
        Some((_, _, header)) => format!(
            "The numbers on this page are from {}: {}; {}.",
            view.machine.name(),
            header.machine.summary(),
            when(&headers)
        ),
        None => format!("There are no numbers from {} yet.", view.machine.name()),
    };
    Ok(match form {
        Form::Page => {
            let machines = view.way_to("machines.md");
            let more = full_only(view)?;
            format!("<p class=\"shown\">{} <a href=\"{machines}\">More about it</a>{more}</p>\n", html(&line))
        }
        Form::Text => line + "\n",
        Form::Json => serde_json::json!({ "machine": view.machine.slug(), "summary": line }).to_string() + "\n",
    })
}

/// What a full run would add to the chapter of a page, where this machine's quick one is shown.
fn full_only(view: &View) -> Result<String> {
    let mut lacking = 0;
    for (plan, experiment) in view.plans.experiments().filter(|(plan, _)| view.is_in_chapter(&plan.chapter)) {
        lacking += usize::from(experiment.is_full_only() && view.kept(plan, experiment)?.is_err());
    }
    Ok(match (&view.machine, lacking) {
        (Machine::Exported(_), _) | (_, 0) => String::new(),
        (_, 1) => " A full run adds one experiment to this chapter.".to_owned(),
        (_, many) => format!(" A full run adds {many} experiments to this chapter."),
    })
}

fn machines(view: &View, form: Form) -> Result<String> {
    let mut out = String::new();
    for machine in view.machines()? {
        let headers = headers(view, &machine)?;
        let newest = newest(&headers);
        let facts = newest.map(|(_, _, header)| &header.machine);
        out += &match form {
            Form::Page => {
                let kept = match newest {
                    Some((plan, experiment, _)) => Some(view.kept_on(&machine, plan, experiment)?),
                    None => None,
                };
                let unreadable = view.store(&machine).unreadable().map(|words| view.unreadable(&anyhow!("{words}")));
                let record = kept.as_ref().map(|kept| kept.as_ref().as_ref().map(|(record, _)| &**record));
                page_machine(view, &machine, unreadable.as_ref().map(Err).or(record), &when(&headers))
            }
            Form::Text => {
                let none = if view.store(&machine).unreadable().is_some() {
                    "unreadable; see: cargo tally check"
                } else {
                    "no records yet"
                };
                let summary = facts.map_or(none.to_owned(), Facts::summary);
                format!("{:32} {summary}\n", machine.slug())
            }
            Form::Json => serde_json::json!({ "machine": machine.slug(), "facts": facts }).to_string() + "\n",
        };
    }
    Ok(out)
}

/// The newest record tells what machine it is.
fn page_machine(view: &View, machine: &Machine, record: Option<Result<&Record, &Missing>>, when: &str) -> String {
    let reference = view.reference_mark(machine);
    let mut out = format!(
        "<section class=\"machine\" id=\"machine-{}\">\n<h2>{}{reference}</h2>\n",
        html(machine.slug()),
        html(machine.name())
    );
    let record = match record {
        Some(Ok(record)) => record,
        Some(Err(missing)) => return out + &render::boxed(missing) + "</section>\n",
        None => return out + "<p class=\"missing\">No records yet.</p>\n</section>\n",
    };
    let facts = &record.header.machine;
    let mut doubts = facts.doubts();
    doubts.extend(session_doubts(record));
    let items: String = doubts.iter().map(|doubt| format!("<li>{}</li>\n", html(doubt))).collect();
    let doubts = if items.is_empty() { String::new() } else { format!("<p>Doubts:</p>\n<ul>\n{items}</ul>\n") };
    let rows = facts.listed().into_iter().map(|(name, value)| {
        let value = match value {
            Ok(value) => html(in_words(name, value)),
            Err(reason) => {
                format!("{}: {}", render::boxed_word(&Missing::new("not known", reason)), html(reason))
            }
        };
        format!("<tr><th scope=\"row\">{}</th><td>{value}</td></tr>\n", html(name))
    });
    let wide = render::wide("What is known of this machine");
    out += &format!(
        "<p>{}; {}.</p>\n{doubts}{wide}<table class=\"facts\">\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
        html(&facts.summary()),
        html(when),
        rows.collect::<String>()
    );
    out + "</section>\n"
}

/// What a reader is told of a fact: a control group that sets no limit says so by a number that means none.
fn in_words<'a>(name: &str, value: &'a str) -> &'a str {
    let no_limit = value == "-1" || value == "max" || value.parse::<u64>().is_ok_and(|bytes| bytes >= 1 << 62);
    if name.starts_with("control group") && no_limit { "none" } else { value }
}

/// What the newest session itself says against its conditions.
fn session_doubts(record: &Record) -> Vec<String> {
    let mut doubts = Vec::new();
    let (before, Some(end)) = (&record.header.before, &record.end) else { return doubts };
    if let (Some(first), Some(last)) = (before.steal_ticks, end.after.steal_ticks)
        && last > first
    {
        doubts.push(format!(
            "the hypervisor took CPU time away during the newest session: in clock ticks, mostly of 10 ms, {}",
            last - first
        ));
    }
    if before.load.is_some_and(|load| load > 0.5) {
        let load = before.load.unwrap_or_default();
        doubts.push(format!(
            "the newest session began at a load average of {load}: something else ran, or had just ended, be it this book's own session before"
        ));
    }
    if end.after.throttled > before.throttled {
        doubts.push("the control group was throttled during the newest session".to_owned());
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_come_in_pairs_or_stay_as_they_are() {
        assert_eq!(with_code("as by `a`, not `b`."), "as by <code>a</code>, not <code>b</code>.");
        assert_eq!(with_code("no code"), "no code");
        assert_eq!(with_code("half `of it"), "half &#96;of it");
        assert_eq!(with_code("<`a`>"), "&#60;<code>a</code>&#62;");
    }
}
