//! What every table of an experiment has around its numbers: how fresh they are, a caption, the
//! cells of a placement together, notes, and the small print.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::repeat;
use std::rc::Rc;

use anyhow::Result;

use crate::book::cell::{Cell, plain};
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::unit::Unit;
use crate::book::words;
use crate::compute::doubts::{FAILED, Mark};
use crate::compute::quantity::{Measured, Missing, beyond_chance};
use crate::compute::sessions::Sessions;
use crate::print::contradictions;
use crate::print::downloads::SmallPrint;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render;
use crate::print::table::{self, Table};
use crate::print::view::{Kept, View};
use crate::project::Machine;
use crate::record::freshness::Freshness;
use crate::record::known::REWRITTEN;
use crate::record::{Effort, Record};
use crate::statistics::Estimate;

/// What moves less than this per operation rounds to nothing, and gets no column.
pub const LEAST: f64 = 0.005;

/// What stands beside each median of a table, in its caption.
pub const BETWEEN_SESSIONS: &str =
    "of fresh processes, and its 95 % interval between sessions, unless that rounds to a point";

/// So many numbers stand beside one another, and no more.
const COLUMNS_AT_MOST: usize = 7;

/// A row's numbers, or why it has none.
pub enum Numbers<'a> {
    Here(Vec<table::Cell>),
    /// The reference machine's, and why none of the row were measured here.
    There(Vec<table::Cell>, &'a Missing),
    /// The row has no number at all.
    Missing(&'a Missing),
}

/// Whose numbers a table shows.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Plans, published figures, other machines.
    pub view: &'a View,
    pub plan: &'a Plan,
    pub experiment: &'a Experiment,
    /// Its record on the machine that is shown.
    pub record: &'a Sessions,
    /// How that record relates to the listings.
    pub freshness: &'a Freshness,
}

/// What is inside the frame. The caption is HTML.
pub struct Inside<'a> {
    /// What the numbers are, as a sentence after the experiment's question.
    pub caption: String,
    /// The cells that it is about.
    pub cells: Vec<&'a Cell>,
    /// The first has what was measured for its own sake, the others what was counted besides.
    pub tables: Vec<Table>,
    /// What a quick record lacks.
    pub full_only: Vec<&'a Cell>,
    /// What is said under the table.
    pub notes: Vec<String>,
    /// The same numbers for those who want them bare.
    pub csv: String,
}

impl Frame<'_> {
    /// The reference machine's record of the same programs, where another machine is shown.
    pub fn reference(&self) -> Result<Option<Rc<Kept>>> {
        let Some(machine) = self.view.beside() else { return Ok(None) };
        let kept = self.view.kept_on(&machine, self.plan, self.experiment)?;
        let is_same = matches!(kept.as_ref(), Ok((_, Freshness::Fresh | Freshness::Older(_))));
        Ok(is_same.then_some(kept))
    }

    /// The same for rows that a quick record of the reader's own lacks.
    pub fn in_gaps(&self) -> Result<Option<Rc<Kept>>> {
        if self.view.machine == Machine::Local { self.reference() } else { Ok(None) }
    }

    /// The table as HTML.
    pub fn page(&self, inside: Inside) -> Result<String> {
        let Self { view, plan, experiment, record, freshness } = *self;
        let cells = || inside.cells.iter().copied();
        let shared = shared_parameters(cells().chain(inside.full_only.iter().copied()));
        // What is stale says so, folded or not.
        let stale = render::freshness(freshness, experiment, &view.machine).map(|note| render::boxed(&note));
        let mut out = stale.unwrap_or_default();
        let rows = inside.cells.len();
        out += &format!(
            "<details class=\"numbers\"><summary>All numbers: {rows} {}</summary>\n<div class=\"figure table\" \
             id=\"{}\">\n",
            if rows == 1 { "row" } else { "rows" },
            experiment.name
        );
        let caption = format!(
            "{}{} {}; {}.",
            html(&experiment.question),
            self.shared_values(cells(), &shared),
            inside.caption,
            html(&render::context(view, plan, experiment)?)
        );
        let captions = [caption].into_iter().chain(repeat("Counted besides".to_owned()));
        out += &inside
            .tables
            .into_iter()
            .zip(captions)
            .map(|(table, own)| table.captioned(own).page())
            .collect::<String>();
        let full_only = self.full_only_note(&inside.full_only, &shared).into_iter();
        let doubts = record.losses().into_iter().chain(record.doubts()).map(|doubt| format!("Doubt: {doubt}."));
        let own = experiment.note.iter().chain(&inside.notes).cloned();
        let contradicted = contradictions::notes(self, cells())?;
        let session = precision_note(record)
            .into_iter()
            .chain(linking_note(experiment, record))
            .chain(chance_note(experiment, record));
        let texts = view.other_text(plan, experiment, &record.header)?;
        let notes = full_only
            .chain(own)
            .chain(session)
            .chain(record.distance())
            .chain(identity_note(experiment, &texts, freshness))
            .chain(doubts)
            .chain(contradicted);
        let notes: String = notes.map(|note| format!("<li>{}</li>\n", html(&note))).collect();
        out += &format!("<ul class=\"footnotes\">\n{notes}</ul>\n");
        let command = format!("cargo tally table {}", experiment.name);
        let small = SmallPrint {
            figure: &experiment.name,
            says: &experiment.question,
            command: &command,
            csv: &inside.csv,
            more: &[],
        };
        Ok(out + &small.page(view, plan, experiment)? + "</div>\n</details>\n")
    }

    /// Tables with a row per cell, in which placements follow one another. The first has so many
    /// columns, and no other has more than a page has room for.
    pub fn tables(
        &self,
        heads: &[String],
        mut rows: Vec<(&Cell, Numbers)>,
        full_only: &[&Cell],
        first: usize,
    ) -> Vec<Table> {
        let shared = shared_parameters(rows.iter().map(|(cell, _)| *cell).chain(full_only.iter().copied()));
        let (first, others) = heads.split_at(first.min(heads.len()));
        let mut tables = vec![self.table(first, &mut rows, &shared, true)];
        tables.extend(others.chunks(COLUMNS_AT_MOST).map(|heads| self.table(heads, &mut rows, &shared, false)));
        tables
    }

    /// The next of them, which takes its cells from the rows.
    fn table(&self, heads: &[String], rows: &mut [(&Cell, Numbers)], shared: &[String], is_first: bool) -> Table {
        let mut table = Table::new(&self.experiment.question, heads).without_corner();
        let mut placement = "";
        for (cell, numbers) in rows {
            let (numbers, there) = match numbers {
                Numbers::Here(cells) => (cells.drain(..heads.len()).collect(), None),
                Numbers::There(cells, missing) => (cells.drain(..heads.len()).collect(), Some(missing)),
                Numbers::Missing(missing) if is_first => (without_number(missing, heads.len()), None),
                // Why is said in the first table.
                Numbers::Missing(_) => continue,
            };
            if cell.placement != placement {
                placement = &cell.placement;
                table.group(words::placement(placement));
            }
            let anchor = match is_first {
                true => format!(" id=\"{}\"", render::row_anchor(self.experiment, cell)),
                false => String::new(),
            };
            let (program, label) = (&cell.program, html(&self.plan.programs.cell(cell, shared)));
            let (listing, cell) = (self.view.program(&self.plan.chapter, program), html(&cell.to_string()));
            let name = format!("<a href=\"{listing}\" title=\"{cell}\">{label}</a>");
            match there {
                None => table.row_with(&anchor, name, numbers),
                Some(missing) => {
                    table.row_with(&format!("{anchor} class=\"elsewhere\""), render::instead(&name, missing), numbers)
                }
            }
        }
        table
    }

    /// Parameters that all cells share, as they stand in a caption, as HTML: ` All rows: 500
    /// members.`
    fn shared_values<'a>(&self, cells: impl Iterator<Item = &'a Cell> + Clone, shared: &[String]) -> String {
        let known = |name: &String| cells.clone().find_map(|cell| cell.parameters.get(name));
        let value = |name: &String| Some(self.plan.programs.value(name, known(name)?));
        let values: Vec<String> = shared.iter().filter_map(value).filter(|words| !words.is_empty()).collect();
        if values.is_empty() { String::new() } else { format!(" All rows: {}.", html(&values.join(", "))) }
    }

    /// Which cells a quick record lacks, if it lacks any.
    fn full_only_note(&self, cells: &[&Cell], shared: &[String]) -> Option<String> {
        let label =
            |cell: &&Cell| format!("{}, {}", self.plan.programs.cell(cell, shared), words::placement(&cell.placement));
        let labels: Vec<String> = cells.iter().map(label).collect();
        (!labels.is_empty()).then(|| format!("Measured with effort = full only: {}.", labels.join("; ")))
    }

    /// A table about one cell: a row per measure, of which there are too many for columns.
    pub fn one_cell<'b>(
        &self,
        cell: &Cell,
        heads: [&str; 2],
        rows: impl Iterator<Item = (&'b str, String, table::Cell)>,
    ) -> Table {
        let anchor = render::row_anchor(self.experiment, cell);
        let mut table = Table::new(&self.experiment.question, heads);
        for (measure, head, number) in rows {
            table.row_with(&format!(" id=\"{}\"", render::measure_anchor(&anchor, measure)), head, [number]);
        }
        table.anchored(anchor)
    }
}

/// A row that has no number, over so many columns.
fn without_number(missing: &Missing, columns: usize) -> Vec<table::Cell> {
    let (word, reason) = (render::boxed_word(missing), html(&missing.reason));
    vec![table::Cell::with(&format!(" colspan=\"{columns}\" class=\"none\""), format!("{word} {reason}"))]
}

/// Whether the headline came out as precise as was aimed at, and what was done about it; nothing of
/// a record that has no headline.
fn precision_note(record: &Record) -> Option<String> {
    let end = record.end.as_ref()?;
    let width = end.headline_half_width.filter(|_| end.target > 0.0)?;
    let reached = if width <= end.target { "reached" } else { "missed" };
    let how = if end.doubled {
        ", after the rounds had been doubled once"
    } else if width <= end.target {
        ""
    } else if record.header.effort == Effort::Quick {
        ": a quick run has six rounds"
    } else {
        ", and to double the rounds would have taken too long"
    };
    let (width, target) = (format::percent(width), format::percent(end.target));
    Some(format!("Precision of the headline ratio: ±{width}, the target of ±{target} was {reached}{how}."))
}

/// The programs whose source text is another one than that of what ran.
fn identity_note(experiment: &Experiment, listings: &BTreeSet<String>, freshness: &Freshness) -> Option<String> {
    let programs: Vec<&str> =
        listings.iter().filter_map(|listing| listing.rsplit('/').next()?.strip_suffix(".rs")).collect();
    let which = if programs.len() > 1 && programs.len() == experiment.programs().len() {
        "these programs".to_owned()
    } else {
        programs.join(", ")
    };
    let reasons: &[String] = if let Freshness::Older(reasons) = freshness { reasons } else { &[] };
    let shown: Vec<&str> = reasons.iter().filter_map(|reason| reason.strip_prefix(REWRITTEN)?.get(2..)).collect();
    let but = match &shown[..] {
        [] => "the machine code that is timed is the same".to_owned(),
        shown => {
            format!("what is timed is the same machine code, or was shown to do the same work: {}", shown.join("; "))
        }
    };
    (!programs.is_empty()).then(|| format!("The source text of {which} has changed since this was measured; {but}."))
}

/// Whether the place of code in memory is in the intervals, where an experiment asks for that.
fn linking_note(experiment: &Experiment, record: &Record) -> Option<String> {
    let orders: BTreeSet<u32> = record.runs.iter().filter_map(|run| run.link_order).collect();
    match orders.len() {
        0 if experiment.relinked => Some(
            "Doubt: all rounds ran programs that were linked once, so what the place of their code in memory does is \
             in no interval. A \
             full run links programs that it builds itself anew for each round."
                .to_owned(),
        ),
        0 => None,
        many => Some(format!(
            "Linked anew for each round, in {many} orders of functions: what the place of code in memory does is in \
             the intervals."
        )),
    }
}

/// What has to stand beside the numbers of some cells, in full; that processes failed is said for
/// the whole record.
pub fn marks_notes<'a>(rows: impl Iterator<Item = (&'a Cell, &'a Vec<Mark>)>) -> Vec<String> {
    let marks = rows.flat_map(|(cell, marks)| marks.iter().map(move |mark| (cell, mark)));
    let others = marks.filter(|(_, mark)| mark.key != FAILED);
    others.map(|(cell, mark)| format!("Doubt: {cell}: {}.", mark.words)).collect()
}

/// Over how many rounds and sessions the medians are: said once where all rows have as many. Of
/// several rows, two medians need not be in the ratio that a sentence has.
pub fn rounds_notes<'a>(rows: impl Iterator<Item = (&'a Cell, &'a Measured)>) -> Vec<String> {
    let mut by_number: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (cell, measured) in rows {
        if let Ok(quantity) = measured {
            let number = (quantity.estimate.rounds, quantity.sessions);
            by_number.entry(number).or_default().push(cell.to_string());
        }
    }
    let are_several = by_number.values().map(Vec::len).sum::<usize>() > 1;
    let most = by_number.iter().max_by_key(|(_, cells)| cells.len()).map(|(number, _)| *number);
    let said = by_number.iter().map(|(number, cells)| {
        let over = match *number {
            (1, 1) => "over one round".to_owned(),
            (rounds, 1) => format!("over {rounds} rounds"),
            (rounds, sessions) => {
                format!("over {sessions} sessions, of which the one that is shown has {rounds} rounds")
            }
        };
        if most == Some(*number) {
            let pairs = "A ratio in a sentence is that of pairs within rounds, and two medians may have another.";
            if are_several { format!("Medians {over}. {pairs}") } else { format!("Medians {over}.") }
        } else {
            format!("Medians {over}: {}.", cells.join("; "))
        }
    });
    said.collect()
}

/// What the A/A pairs say of the instrument.
pub fn pairs_notes(record: &Record, measure: &str) -> Vec<String> {
    let say = |(cell, ratio): (&Cell, Estimate)| {
        let shown = format::estimate(Unit::Ratio, &ratio);
        let said = match beyond_chance(&ratio) {
            _ if ratio.interval.is_none() => "too few rounds to say more".to_owned(),
            0.0 => "no bias of the instrument is seen".to_owned(),
            bias => format!("the instrument is biased by {}, which verdicts allow for", format::percent(bias)),
        };
        format!(
            "Run twice in every round, as if it were two programs, {cell} came to {} [{}] times itself: {said}.",
            shown.value,
            shown.interval_or_none()
        )
    };
    record.pairs(measure).into_iter().map(say).collect()
}

/// Whether chance was the same in all rounds, where an experiment asks for another in each.
fn chance_note(experiment: &Experiment, record: &Record) -> Option<String> {
    let name = experiment.anew_each_round.as_ref()?;
    let seen = record.runs.iter().filter_map(|run| run.observation.as_ref()?.parameters.get(name.as_str()));
    let values: BTreeSet<String> = seen.map(plain).collect();
    (values.len() == 1 && record.complete_rounds().len() > 1).then(|| {
        format!(
            "Doubt: all rounds had the same {name}, so that what chance drew once is in every number and in no \
                 interval. Today each round has its own."
        )
    })
}

/// Parameters that have the same value in every cell that has them.
pub fn shared_parameters<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<String> {
    let cells: Vec<&Cell> = cells.collect();
    let names: BTreeSet<&String> = cells.iter().flat_map(|cell| cell.parameters.keys()).collect();
    let same = |name: &&String| {
        let mut values = cells.iter().filter_map(|cell| cell.parameters.get(*name));
        let first = values.next();
        values.all(|value| Some(value) == first)
    };
    names.into_iter().filter(same).cloned().collect()
}
