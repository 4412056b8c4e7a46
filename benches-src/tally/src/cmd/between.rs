//! `tally between`: how far sessions of one machine differ, and what that makes of the intervals that are printed.

mod verdicts;

use std::fs;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::book::expression::Expression;
use crate::book::plan::Plans;
use crate::book::published::Published;
use crate::book::renamed;
use crate::cmd::between::verdicts::{Parts, Verdicts};
use crate::compute::between::{Between as Known, Factor};
use crate::compute::derive::{Derivation, in_order, pairs};
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::project::Project;
use crate::record::history::history;
use crate::record::machine::{State, day_of};
use crate::say;

/// How far sessions of one machine differ
#[derive(Args)]
pub struct Between {
    /// Derive it anew from every session in data/machines and data/history, and write
    /// data/between-sessions.toml
    #[arg(long)]
    derive: bool,
    /// Derive it anew from the sessions that it was derived from, and say whether that is what is written there
    #[arg(long, conflicts_with = "derive")]
    check: bool,
    /// Only how a round is correlated with the one before it
    #[arg(long, conflicts_with_all = ["derive", "check"])]
    correlation: bool,
    /// Only the factor by which intervals over rounds are too narrow for that
    #[arg(long, conflicts_with_all = ["derive", "check", "correlation"])]
    too_narrow: bool,
}

const ABOUT: &str = "# How far sessions of one machine differ, derived by `cargo tally between --derive` from every session that the history of\n\
                     # data/machines has. What its fields mean: benches-src/tally/src/compute/between.rs\n\n";

impl Between {
    pub fn only_prints(&self) -> bool {
        !self.derive && !self.check
    }

    /// Derives it, and writes it down or holds it against what is written.
    pub fn derive(&self, project: &Project) -> Result<()> {
        let path = project.between_sessions();
        if self.check {
            let written = Known::load(project)?;
            let found = derived(project, Some(&written.until))?;
            let found = Known { derived: written.derived.clone(), ..found };
            ensure!(
                found == written,
                "{} is not what its sessions come to; run: cargo tally between --derive",
                path.display()
            );
            say!("tally: {} is what {} sessions come to", path.display(), found.sessions);
            return Ok(());
        }
        let text = ABOUT.to_owned() + &toml::to_string(&derived(project, None)?)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say!("tally: wrote {}", path.display());
        Ok(())
    }

    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let known = view.between();
        let one = match (self.correlation, self.too_narrow) {
            (true, _) => Some(known.correlation),
            (_, true) => Some(known.too_narrow),
            _ => None,
        };
        if let Some(one) = one {
            return Ok(format!("{}\n", format::number(one)));
        }
        Ok(match form {
            Form::Page => page(known),
            Form::Text => text(known),
            Form::Json => serde_json::to_string(known)? + "\n",
        })
    }
}

/// What all sessions come to, as far as they began before a moment.
fn derived(project: &Project, until: Option<&str>) -> Result<Known> {
    let plans = Plans::load(project)?;
    let parts = Parts::of(&plans, &Published::load(project)?)?;
    let (mut derivation, mut verdicts) = (Derivation::default(), Verdicts::default());
    for former in history(project)? {
        let mut sessions = former.records()?;
        sessions.retain(|record| until.is_none_or(|until| record.header.before.time.as_str() <= until));
        for header in sessions.iter_mut().map(|record| &mut record.header) {
            if let Ok((_, experiment)) = plans.experiment(&header.experiment) {
                renamed::call(&experiment.renamed, &mut header.cells);
            }
        }
        let sessions = in_order(sessions);
        let experiment = sessions.last().map(|record| record.header.experiment.clone());
        let named = experiment.map_or(Vec::new(), |experiment| named_quantities(&plans, &experiment));
        derivation.add(&former.machine, &sessions, &named)?;
        pairs(&sessions).for_each(|(earlier, later)| verdicts.add(&parts, earlier, later));
    }
    let known = derivation.end(State::read().time);
    let [parts, parts_changed, parts_contradicted] = verdicts.changed(&known)?;
    Ok(Known { parts, parts_changed, parts_contradicted, ..known })
}

/// The named quantities of an experiment, spelled out; those that cannot be asked any more are none.
fn named_quantities(plans: &Plans, experiment: &str) -> Vec<Expression> {
    let own = plans.quantities().filter(|named| named.experiment == experiment);
    own.filter_map(|named| Some(plans.asked(&named.name, None).ok()?.expression)).collect()
}

fn page(known: &Known) -> String {
    let caption = format!(
        "From {} sessions of data/machines and its history, the last of {}: pairs of sessions of one machine that ran the same listings; {}. \
         Derived on {}.",
        known.sessions,
        day_of(&known.until),
        of_machines(known),
        day_of(&known.derived)
    );
    let (of_all, of_chapters): (Vec<&Factor>, Vec<&Factor>) = known.kinds.iter().partition(|own| own.within.is_none());
    let verdicts = html(&verdicts_in_words(known));
    let by_chapter = "The same in each chapter and each experiment that has enough pairs: there, its own factor is the one that counts.";
    format!(
        "{}<p>{verdicts}</p>\n<details>\n<summary>By chapter and by experiment</summary>\n{}</details>\n",
        table("between-sessions-table", &caption, &of_all),
        table("between-sessions-within", by_chapter, &of_chapters)
    )
}

fn table(id: &str, caption: &str, factors: &[&Factor]) -> String {
    let rows: String = factors.iter().map(|own| row(own)).collect();
    let caption = html(caption);
    format!(
        "{}<table id=\"{id}\">\n<caption><span>{caption}</span></caption>\n<thead><tr><th scope=\"col\">kind</th>\
         <th scope=\"col\">pairs of numbers</th><th scope=\"col\">pairs of sessions</th><th scope=\"col\">a session's own interval misses the other's median</th>\
         <th scope=\"col\">printed intervals are widened by</th><th scope=\"col\">the same from the earlier half</th>\
         <th scope=\"col\">tried on the later half: contains the other's median</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n",
        render::wide(&caption)
    )
}

fn of_machines(known: &Known) -> String {
    let each: Vec<String> = known.machines.iter().map(|(machine, pairs)| format!("{pairs} of {machine}")).collect();
    each.join(", ")
}

fn verdicts_in_words(known: &Known) -> String {
    format!(
        "Of {} parts of claims that two sessions have, neither of which the earlier half knows, {} are judged otherwise by the other session with intervals widened \
         by its factors, and {} are contradicted: they hold, or are there with another figure, by one, and do not by the other.",
        known.parts, known.parts_changed, known.parts_contradicted
    )
}

fn row(kind: &Factor) -> String {
    let cells = words(kind).map(|word| format!("<td>{}</td>", html(&word)));
    format!("<tr><th scope=\"row\">{}</th>{}</tr>\n", html(&name(kind)), cells.concat())
}

fn name(own: &Factor) -> String {
    match &own.within {
        Some(place) => format!("{} in {place}", own.kind.words()),
        None => own.kind.words().to_owned(),
    }
}

fn words(kind: &Factor) -> [String; 6] {
    let factor = |factor: Option<f64>| factor.map_or("too few pairs to say".to_owned(), |factor| format!("{factor}×"));
    let covered = kind.covered.map_or("–".to_owned(), |share| {
        format!("{} of {}, from {} pairs of sessions", format::percent(share), kind.tried, kind.tried_pairs_of_sessions)
    });
    [
        kind.pairs.to_string(),
        kind.pairs_of_sessions.to_string(),
        if kind.pairs > 0 { format::percent(kind.missed) } else { "–".to_owned() },
        factor(kind.factor),
        factor(kind.factor_of_earlier),
        covered,
    ]
}

fn text(known: &Known) -> String {
    let mut out = format!(
        "{} sessions until {}, derived {}; a round's correlation with the one before it {}\n",
        known.sessions, known.until, known.derived, known.correlation
    );
    out += &(verdicts_in_words(known) + "\n");
    for kind in &known.kinds {
        let [pairs, sessions, missed, factor, of_earlier, covered] = words(kind);
        out += &format!(
            "{:75} {pairs:>6} pairs of {sessions:>4} of sessions, missed {missed:>6}, factor {factor}, of the earlier half {of_earlier}: covers {covered}\n",
            name(kind)
        );
    }
    out
}
