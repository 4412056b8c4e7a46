//! What of a program's file a page shows: the part that is inside the clock, and what the other
//! participants do meanwhile. Both are cut out of the file that ran, whole lines at a time, by its
//! syntax: a marker in it could be forgotten, and then the page would show something else.

mod outline;

use anyhow::{Context, Result, ensure};

use outline::{Lines, Outline};

/// What is shown of a program.
#[derive(Debug, PartialEq)]
pub struct Excerpt {
    /// What is inside the clock.
    pub timed: String,
    /// What the other participants do meanwhile; empty if there are none.
    pub others: String,
}

/// What is called is shown too, as long as there are no more lines in all: an excerpt is looked at,
/// a file is read.
const ROOM_LINES: usize = 30;

/// What is handed code that adds units, between which a program's ledgers are read.
const CLIMBS: [&str; 2] = ["add_units", "add_futures"];

/// Entries whose function serves what another process times.
const SERVING: [&str; 2] = ["main", "main_of_nothing"];

/// The trait of what is asked alike of units of several kinds.
const RIVAL: &str = "Rival";

/// The entry whose function is its own measurement.
const ONCE: &str = "once";

impl Excerpt {
    /// Cuts it out of a program's code.
    pub fn cut(code: &str) -> Result<Self> {
        let file = syn::parse_file(code).context("this is no Rust that can be read")?;
        let outline = Outline::of(&file);
        let mut timed = timed(&outline);
        ensure!(
            !timed.is_empty(),
            "nothing of this file is timed: it has no loop over laps, adds no units, is no measurement of its own, \
             and no server"
        );
        let mut others = participants(&outline, &timed);
        add_called(&outline, &mut timed, &others);
        add_called(&outline, &mut others, &timed);
        Ok(Self { timed: text(code, timed), others: text(code, others) })
    }
}

/// Rules, of which the first counts that finds something: the loops over laps; what adds units;
/// what is asked of rivals, in another language too; what laps are handed on to; what a server
/// starts to answer, or else what it calls, or all of it; the function of what is its own
/// measurement; and of a program that is another one with other settings, its `main`.
fn timed(outline: &Outline) -> Vec<Lines> {
    let serving = outline.handed_by_main_to(&SERVING);
    let begun =
        outline.starts().filter(|start| touches(&start.lines, &serving)).flat_map(|start| outline.started(start));
    let rules = [
        outline.loops.clone(),
        outline.statements_that_call(&CLIMBS),
        outline.asked_by(RIVAL),
        outline.units.clone(),
        outline.handed_on.clone(),
        begun.collect(),
        serving.iter().flat_map(|lines| outline.called_in(lines)).collect(),
        serving,
        outline.handed_by_main_to(&[ONCE]),
        outline.main_of_another.iter().cloned().collect(),
    ];
    distinct(rules.into_iter().find(|found| !found.is_empty()).unwrap_or_default())
}

/// The functions that are started outside of the clock; where what is started is no function, the
/// statement that starts it.
fn participants(outline: &Outline, timed: &[Lines]) -> Vec<Lines> {
    let started = outline.starts().filter(|start| !touches(&start.lines, timed)).flat_map(|start| {
        let functions = outline.started(start);
        let statement = start.statement.iter().filter(|_| functions.is_empty()).cloned().collect::<Vec<_>>();
        functions.into_iter().chain(statement)
    });
    distinct(started.filter(|lines| !touches(lines, timed)))
}

/// The pieces without those that have lines of one before them.
fn distinct(pieces: impl IntoIterator<Item = Lines>) -> Vec<Lines> {
    let mut found = Vec::new();
    for piece in pieces {
        if !touches(&piece, &found) {
            found.push(piece);
        }
    }
    found
}

/// Adds what these pieces call, and what that calls, as long as there is room beside them and the
/// others.
fn add_called(outline: &Outline, pieces: &mut Vec<Lines>, others: &[Lines]) {
    let mut next = 0;
    while let Some(piece) = pieces.get(next).cloned() {
        next += 1;
        for called in outline.called_in(&piece) {
            let used: usize = pieces.iter().chain(others).chain([&called]).map(|lines| lines.clone().count()).sum();
            if used <= ROOM_LINES && !touches(&called, pieces) && !touches(&called, others) {
                pieces.push(called);
            }
        }
    }
}

/// Whether two of them have lines in common.
fn touches(lines: &Lines, others: &[Lines]) -> bool {
    others.iter().any(|other| lines.start() <= other.end() && other.start() <= lines.end())
}

/// What stands for lines that are left out between two pieces.
const LEFT_OUT: &str = "// …\n";

/// The pieces in the order of the file, each moved to the left as a whole.
fn text(code: &str, mut pieces: Vec<Lines>) -> String {
    let all: Vec<&str> = code.lines().collect();
    pieces.sort_by_key(|piece| *piece.start());
    let piece = |piece: &Lines| {
        let own = &all[piece.start() - 1..*piece.end()];
        let indents = own.iter().filter(|line| !line.is_empty()).map(|line| line.len() - line.trim_start().len());
        let indent = indents.min().unwrap_or_default();
        own.iter().map(|line| line.get(indent..).unwrap_or_default().to_owned() + "\n").collect::<String>()
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(LEFT_OUT)
}

#[cfg(test)]
mod tests;
