//! `tally between`: how far sessions of one machine differ, and what that makes of the intervals
//! that are printed.

mod verdicts;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::book::expression::Expression;
use crate::book::plan::Plans;
use crate::book::published::Published;
use crate::book::renamed;
use crate::cmd::between::verdicts::{Parts, Verdicts};
use crate::compute::between::{Between as Known, Factor, Unused};
use crate::compute::derive::Derivation;
use crate::compute::numbers::{Taken, in_order};
use crate::compute::spread::Spread;
use crate::compute::unused::unused;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::Form;
use crate::print::table::{Cell, Table};
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
    /// Derive it anew from the sessions that it was derived from, and say whether that is what is
    /// written there
    #[arg(long, conflicts_with = "derive")]
    check: bool,
    /// Only how a round is correlated with the one before it
    #[arg(long, conflicts_with_all = ["derive", "check"])]
    correlation: bool,
    /// Only the factor by which intervals over rounds are too narrow for that
    #[arg(long, conflicts_with_all = ["derive", "check", "correlation"])]
    too_narrow: bool,
    /// Only how far apart the pairs of sessions lie in time, and of which machines they are
    #[arg(long, conflicts_with_all = ["derive", "check", "correlation", "too_narrow"])]
    pairs: bool,
}

const ABOUT: &str = "# How far sessions of one machine differ, derived by `cargo tally between --derive` from every \
                     session that the history of\n\
                     # data/machines has. What its fields mean: benches-src/tally/results/src/compute/between.rs\n\n";

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
        if self.pairs {
            return Ok(pairs_in_words(known) + "\n");
        }
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
        let mut sessions: Vec<Taken> =
            former.records()?.into_iter().map(|(record, session)| Taken { record, session }).collect();
        sessions.retain(|taken| until.is_none_or(|until| taken.record.header.before.time.as_str() <= until));
        for header in sessions.iter_mut().map(|taken| &mut taken.record.header) {
            if let Ok((_, experiment)) = plans.experiment(&header.experiment) {
                renamed::call(&experiment.renamed, &mut header.cells);
            }
        }
        let sessions = in_order(sessions);
        let experiment = sessions.last().map(|taken| taken.record.header.experiment.clone());
        let named = experiment.map_or(Vec::new(), |experiment| named_quantities(&plans, &experiment));
        derivation.add(&former.machine, &sessions, &named)?;
        verdicts.add(&parts, &sessions);
    }
    let unused = unused(&derivation, &format::printed_place)?;
    let known = Known { unused, ..derivation.end(State::read().time) };
    let [parts, parts_changed, parts_contradicted] = verdicts.changed(&derivation.of_earlier_half())?;
    Ok(Known { parts, parts_changed, parts_contradicted, ..known })
}

/// The named quantities of an experiment, spelled out; those that cannot be asked any more are
/// none.
fn named_quantities(plans: &Plans, experiment: &str) -> Vec<Expression> {
    let own = plans.quantities().filter(|named| named.experiment == experiment);
    own.filter_map(|named| Some(plans.asked(&named.name, None).ok()?.expression)).collect()
}

/// The kinds whose quantities share a factor.
fn has_factor(known: &Known) -> impl Fn(&&Factor) -> bool {
    |own| known.spreads.iter().all(|spread| spread.kind != own.kind)
}

fn page(known: &Known) -> String {
    let caption = format!(
        "From {} sessions of data/machines and its history, the last of {}: pairs of sessions of one machine that ran \
         the same listings; {}. \
         Derived on {}.",
        known.sessions,
        day_of(&known.until),
        of_machines(known),
        day_of(&known.derived)
    );
    let (of_all, of_chapters): (Vec<&Factor>, Vec<&Factor>) =
        known.kinds.iter().filter(has_factor(known)).partition(|own| own.within.is_none());
    let verdicts = html(&verdicts_in_words(known));
    let unused = unused_table(&known.unused);
    let spreads = spreads_table(&known.spreads);
    let by_chapter = "The same in each chapter and each experiment that has enough pairs: there, its own factor is \
                      the one that counts.";
    format!(
        "{}{spreads}{unused}<p>{verdicts}</p>\n<details>\n<summary>By chapter and by experiment</summary>\n{}\
         </details>\n",
        factors_table(" id=\"between-sessions-table\"", &caption, &of_all),
        factors_table(" id=\"between-sessions-within\"", by_chapter, &of_chapters)
    )
}

fn factors_table(attributes: &'static str, caption: &str, factors: &[&Factor]) -> String {
    let heads = [
        "kind",
        "pairs of numbers",
        "pairs of sessions",
        "a session's own interval misses the other's median",
        "printed intervals are widened by",
    ];
    let rows = factors.iter().map(|own| (name(own), words(own)));
    table(attributes, caption, heads, rows)
}

/// A table with a row for each of these.
fn table<const N: usize>(
    attributes: &'static str,
    caption: &str,
    heads: impl IntoIterator<Item = &'static str>,
    rows: impl Iterator<Item = (String, [String; N])>,
) -> String {
    let mut table = Table::new(caption, heads).with(attributes).captioned(html(caption));
    for (name, words) in rows {
        table.row(html(&name), words.map(|word| Cell::text(&word)));
    }
    table.page()
}

/// How far quantities move that have spreads of their own, as a table; nothing of none.
fn spreads_table(spreads: &[Spread]) -> String {
    if spreads.is_empty() {
        return String::new();
    }
    let caption = "How far quantities of their own move between sessions of one machine that ran the same listings.";
    let heads = [
        "kind",
        "numbers of sessions",
        "quantities of a machine",
        "quantities with a spread of their own",
        "spread of experiments, from the steadiest to the least steady",
        "an interval reaches so many spreads",
    ];
    let rows = spreads.iter().map(|own| (own.kind.words().to_owned(), spread_words(own)));
    table(" id=\"between-sessions-spread\"", caption, heads, rows)
}

fn spread_words(own: &Spread) -> [String; 5] {
    let mut experiments: Vec<f64> = own.experiments.values().copied().collect();
    experiments.sort_by(f64::total_cmp);
    let ends = experiments.first().zip(experiments.last());
    let range = ends.map(|(low, high)| format::range(&format::percent(*low), &format::percent(*high)));
    [
        own.numbers.to_string(),
        own.groups.to_string(),
        own.quantities.values().map(BTreeMap::len).sum::<usize>().to_string(),
        range.unwrap_or_default(),
        format::number(own.reach),
    ]
}

/// How sessions came out that were left out, as a table; nothing of none.
fn unused_table(unused: &[Unused]) -> String {
    if unused.is_empty() {
        return String::new();
    }
    let caption = "Each session that data/machines has is left out in turn, with all its pairs: whether its medians \
                   lie within what is printed without it.";
    let heads = [
        "kind",
        "sessions left out",
        "their numbers",
        "within the printed interval",
        "half of the intervals reach no farther than",
    ];
    let rows = unused.iter().map(|own| (own.kind.words().to_owned(), unused_words(own)));
    table(" id=\"between-sessions-unused\"", caption, heads, rows)
}

fn unused_words(own: &Unused) -> [String; 4] {
    [
        own.sessions.to_string(),
        own.numbers.to_string(),
        format::percent(own.covered),
        format!("±{}", format::percent(own.half_width)),
    ]
}

/// How far apart the pairs lie in time, and of which machines most of them are, as a sentence.
fn pairs_in_words(known: &Known) -> String {
    let all: usize = known.machines.values().sum();
    if all == 0 {
        return "There is no pair of sessions.".to_owned();
    }
    let share = |number: usize| format::percent(number as f64 / all as f64);
    let mut machines: Vec<(&String, &usize)> = known.machines.iter().collect();
    machines.sort_by_key(|(_, pairs)| Reverse(**pairs));
    let most = machines.iter().take(2).map(|(machine, pairs)| format!("{} of {machine}", share(**pairs)));
    let most = most.collect::<Vec<_>>().join(" and ");
    let rest = match machines.len().saturating_sub(2) {
        0 => String::new(),
        1 => ", the rest of another machine".to_owned(),
        others => format!(", the rest of {others} other machines"),
    };
    let within = share(known.within_a_day);
    format!("Of {all} pairs of sessions {within} began within a day of each other; {most}{rest}.")
}

fn of_machines(known: &Known) -> String {
    let each: Vec<String> = known.machines.iter().map(|(machine, pairs)| format!("{pairs} of {machine}")).collect();
    each.join(", ")
}

fn verdicts_in_words(known: &Known) -> String {
    format!(
        "We judge {} parts of claims by two sessions each, with intervals widened by the factors of the earlier half, \
         which knows neither session: {} come to another verdict, and {} are contradicted, which means that they \
         hold, or have another figure, in one session and do not hold in the other.",
        known.parts, known.parts_changed, known.parts_contradicted
    )
}

fn name(own: &Factor) -> String {
    match &own.within {
        Some(place) => format!("{} in {place}", own.kind.words()),
        None => own.kind.words().to_owned(),
    }
}

fn words(kind: &Factor) -> [String; 4] {
    let factor = |factor: Option<f64>| factor.map_or("too few pairs to say".to_owned(), |factor| format!("{factor}×"));
    [
        kind.pairs.to_string(),
        kind.pairs_of_sessions.to_string(),
        if kind.pairs > 0 { format::percent(kind.missed) } else { "–".to_owned() },
        factor(kind.factor),
    ]
}

fn text(known: &Known) -> String {
    let mut out = format!(
        "{} sessions until {}, derived {}; a round's correlation with the one before it {}\n",
        known.sessions, known.until, known.derived, known.correlation
    );
    out += &(verdicts_in_words(known) + "\n");
    for own in &known.spreads {
        let [numbers, groups, quantities, range, reach] = spread_words(own);
        out += &format!(
            "{:75} {numbers:>6} of sessions, {groups} quantities, {quantities} with a spread of their own; {range} in \
             experiments, reach {reach}\n",
            own.kind.words()
        );
    }
    for own in &known.unused {
        let [sessions, numbers, covered, half_width] = unused_words(own);
        out += &format!(
            "{:75} {numbers:>6} of {sessions:>2} sessions that were left out, covered {covered}, {half_width} in the \
             middle\n",
            own.kind.words()
        );
    }
    for kind in known.kinds.iter().filter(has_factor(known)) {
        let [pairs, sessions, missed, factor] = words(kind);
        out += &format!(
            "{:75} {pairs:>6} pairs of {sessions:>4} of sessions, missed {missed:>6}, factor {factor}\n",
            name(kind)
        );
    }
    out
}
