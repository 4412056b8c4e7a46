//! `tally list`: what there is, in which state; or about machines.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;

use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::cmd::json_array;
use crate::print::across;
use crate::print::escape::html;
use crate::print::render::{self, Form};
use crate::print::table::{Cell, Table};
use crate::print::view::{View, newest};
use crate::project::Machine;
use crate::record::{self, Header};

mod machines;
mod steadiness;

/// What there is, and in which state
#[derive(Args)]
pub struct List {
    /// Every machine with records, its facts and its doubts
    #[arg(long, conflicts_with = "shown")]
    pub machines: bool,
    /// With --machines: what they are, in one sentence
    #[arg(long, requires = "machines")]
    pub line: bool,
    /// What was expected of an experiment before it was measured
    #[arg(long, value_name = "EXPERIMENT", conflicts_with_all = ["machines", "shown"])]
    pub prediction: Option<String>,
    /// In one line, whose numbers are shown
    #[arg(long)]
    pub shown: bool,
}

impl List {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        if let Some(experiment) = &self.prediction {
            return prediction(view, experiment, form);
        }
        if self.machines && self.line {
            return kinds(view, form);
        }
        if self.machines {
            return machines::print(view, form);
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
            let entry = |(name, state, when, experiment): &(String, &str, String, &Experiment)| {
                let (programs, command) = (experiment.programs(), experiment.command());
                serde_json::json!({
                    "experiment": name, "state": state, "measured": when, "programs": programs, "command": command,
                })
            };
            json_array(&entries, entry)
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
            let mut table = Table::new("All experiments", ["experiment", "question", "state", "measured"]);
            for (name, state, when, experiment) in &entries {
                table.row(html(name), [&experiment.question, *state, when].map(Cell::text));
            }
            table.page()
        }
    })
}

/// When they were measured, and with which effort.
fn when(headers: &[(&Plan, &Experiment, Arc<Header>)]) -> String {
    let headers = || headers.iter().map(|(_, _, header)| &**header);
    format!("measured {}, effort {}", record::days(headers()), record::efforts(headers()))
}

fn shown(view: &View, form: Form) -> Result<String> {
    let headers = view.headers(&view.machine)?;
    let line = match newest(&headers) {
        Some((_, _, header)) => format!(
            "The numbers on this page are from {}: {}; {}.",
            view.phrase(&view.machine),
            header.machine.summary(),
            when(&headers)
        ),
        None => format!("There are no numbers from {} yet.", view.phrase(&view.machine)),
    };
    let line = match view.stands_in_for() {
        Some(Machine::Local) => {
            format!(
                "Your machine has not measured the experiments of this page; what else it measured stands on \
                 other pages. {line}{}",
                aged(view)?
            )
        }
        Some(shown) => {
            let shown = view.phrase(&shown);
            format!("What stands on this page was not measured on {shown}. {line}{}", aged(view)?)
        }
        None => line,
    };
    Ok(match form {
        Form::Page => {
            let machines = view.way_to("machines.md");
            let more = match view.stands_in_for() {
                Some(Machine::Local) => measured_by(view),
                _ => full_only(view)?,
            };
            format!(
                "<p class=\"shown\" data-machine=\"{}\">{} <a href=\"{machines}\">More about it</a>{more}</p>\n",
                html(view.machine.slug()),
                html(&line)
            )
        }
        Form::Text => line + "\n",
        Form::Json => serde_json::json!({ "machine": view.machine.slug(), "summary": line }).to_string() + "\n",
    })
}

/// What changed since another machine measured what stands on its page, said once for all numbers.
fn aged(view: &View) -> Result<String> {
    let mut said = String::new();
    for (plan, experiment) in view.at_home(view.page.as_deref().unwrap_or_default()) {
        let header = view.header_on(&view.machine, plan, experiment)?;
        let complaint = header.and_then(|(_, aged)| aged.complaint());
        said += &complaint.map_or(String::new(), |words| format!(" Those of {} were {words}.", experiment.name));
    }
    Ok(said)
}

/// What measures here what stands on a page that is another machine's.
fn measured_by(view: &View) -> String {
    let own = view.at_home(view.page.as_deref().unwrap_or_default());
    let command = |experiment: &Experiment| format!("<code class=\"command\">{}</code>", html(&experiment.command()));
    let commands: Vec<String> = own.into_iter().map(|(_, experiment)| command(experiment)).collect();
    format!(" To measure it here: {}", commands.join(", "))
}

fn kinds(view: &View, form: Form) -> Result<String> {
    let line = across::kinds(view)?;
    Ok(match form {
        Form::Page => format!("<p class=\"shown\">{}</p>\n", html(&line)),
        Form::Text => line + "\n",
        Form::Json => serde_json::json!({ "machines": line }).to_string() + "\n",
    })
}

/// What a full run would add to the chapter of a page, where this machine's quick one is shown.
fn full_only(view: &View) -> Result<String> {
    if view.machine != Machine::Local {
        return Ok(String::new());
    }
    let mut lacking = 0;
    for (plan, experiment) in view.plans.experiments().filter(|(plan, _)| view.is_in_chapter(&plan.chapter)) {
        let is_added = experiment.is_full_only() && experiment.is_asked_for(&[]);
        lacking += usize::from(is_added && view.kept(plan, experiment)?.is_err());
    }
    Ok(match lacking {
        0 => String::new(),
        1 => " A full run adds one experiment to this chapter.".to_owned(),
        many => format!(" A full run adds {many} experiments to this chapter."),
    })
}
