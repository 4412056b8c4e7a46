//! What the sessions of a machine's experiment came to, number by number.

use std::collections::BTreeSet;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};

use super::kind::Kind;
use super::quantity::{Measured, Missing, Quantity};
use crate::book::cell::Cell;
use crate::book::experiment::in_full;
use crate::book::expression::{Expression, Operator};
use crate::book::measure::ELAPSED;
use crate::record::{Effort, Header, Record};

const A_DAY: SignedDuration = SignedDuration::from_hours(24);

/// Where a number is measured.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub chapter: &'a str,
    pub experiment: &'a str,
    /// Of which cells an expression can speak.
    pub cells: &'a [Cell],
}

impl<'a> Place<'a> {
    pub fn of(header: &'a Header) -> Self {
        Self { chapter: &header.chapter, experiment: &header.experiment, cells: &header.cells }
    }
}

/// A session's record, and the name of the session in the machine's folder, if it lies there.
pub struct Taken {
    pub record: Record,
    pub session: Option<String>,
}

/// One of the sessions.
pub struct Session {
    pub began: String,
    pub effort: Effort,
    /// Its name in the machine's folder, if it lies there.
    pub name: Option<String>,
}

/// A number in each of the sessions.
pub struct Row {
    pub expression: Expression,
    /// The same with its cells in full, by which its spread is known.
    pub key: String,
    pub kind: Kind,
    /// Whether it is only asked for as a term of others.
    pub is_term: bool,
    pub values: Vec<Option<Quantity>>,
}

/// Two sessions of the same listings, by their places among the sessions; the earlier first.
pub struct Pair {
    pub of: [usize; 2],
    /// Whether nothing beneath the listings changed between them.
    pub on_the_same: bool,
}

/// All numbers of a machine's experiment.
pub struct Numbers {
    pub machine: String,
    chapter: String,
    experiment: String,
    cells: Vec<Cell>,
    pub sessions: Vec<Session>,
    pub pairs: Vec<Pair>,
    pub rows: Vec<Row>,
}

impl Numbers {
    /// Asks each session, in their order, for all that any can be asked for. `named` are the
    /// further quantities of the experiment.
    pub fn of(machine: &str, all: &[Taken], named: &[Expression]) -> Result<Self> {
        let header = all.last().map(|last| &last.record.header);
        let name = |of: fn(&Header) -> &String| header.map(of).cloned().unwrap_or_default();
        let session = |taken: &Taken| Session {
            began: taken.record.header.before.time.clone(),
            effort: taken.record.header.effort,
            name: taken.session.clone(),
        };
        let mut cells: Vec<Cell> = Vec::new();
        for cell in all.iter().flat_map(|taken| &taken.record.header.cells) {
            if !cells.contains(cell) {
                cells.push(cell.clone());
            }
        }
        let mut rows = Vec::new();
        for (expression, is_term) in asked_of(all, named)? {
            // What a session lacks, or cannot be asked any more, is nothing.
            let value = |taken: &Taken| taken.record.evaluate(&expression).ok().and_then(Result::ok);
            let values = all.iter().map(value).collect();
            rows.push(Row {
                key: in_full(&expression, &cells),
                kind: Kind::of(&expression),
                is_term,
                values,
                expression,
            });
        }
        Ok(Self {
            machine: machine.to_owned(),
            chapter: name(|header| &header.chapter),
            experiment: name(|header| &header.experiment),
            cells,
            sessions: all.iter().map(session).collect(),
            pairs: pairs(all),
            rows,
        })
    }

    pub fn place(&self) -> Place<'_> {
        Place { chapter: &self.chapter, experiment: &self.experiment, cells: &self.cells }
    }

    /// Whether two sessions began within a day of each other.
    pub fn is_within_a_day(&self, pair: &Pair) -> bool {
        let [earlier, later] = pair.of.map(|session| self.sessions[session].began.parse::<Timestamp>());
        earlier.is_ok_and(|earlier| later.is_ok_and(|later| later.duration_since(earlier) <= A_DAY))
    }

    /// What these sessions have of a number.
    pub fn in_sessions(&self, expression: &Expression, sessions: &[usize]) -> Vec<Measured> {
        let row = self.rows.iter().find(|row| row.expression == *expression);
        let missing = || Missing::new("not measured", "no session was asked for it");
        let value = |session: &usize| row.and_then(|row| row.values[*session]).ok_or_else(missing);
        sessions.iter().map(value).collect()
    }
}

impl Row {
    /// What both of a pair have, if one says anything of how far the other moves.
    pub fn of_pair(&self, pair: &Pair) -> Option<[Quantity; 2]> {
        // What is called and how many instructions there are, changes with what stands beneath the
        // listings, and with nothing else.
        if self.is_term || self.kind == Kind::Calls && !pair.on_the_same {
            return None;
        }
        let [a, b] = pair.of.map(|session| self.values[session]);
        let (a, b) = (a?, b?);
        // What both sessions found alike in every round says nothing of how far others move.
        let exact = |own: &Quantity| own.estimate.interval.is_some_and(|(low, high)| low == high);
        (!(exact(&a) && exact(&b))).then_some([a, b])
    }
}

/// Sessions in the order in which they began, each once however often it was exported. Test runs
/// are none.
pub fn in_order(mut all: Vec<Taken>) -> Vec<Taken> {
    all.retain(|taken| taken.record.header.effort != Effort::Test);
    let began = |taken: &Taken| taken.record.header.before.time.clone();
    // Of one that lies in two places, that counts which has a name.
    all.sort_by_key(|taken| (began(taken), taken.session.is_none()));
    all.dedup_by_key(|taken| began(taken));
    all
}

/// Every two of these that ran the same listings on the same machine, the earlier first.
pub fn pairs(all: &[Taken]) -> Vec<Pair> {
    let header = |session: usize| &all[session].record.header;
    let with_earlier = |later: usize| (0..later).map(move |earlier| [earlier, later]);
    let comparable = (0..all.len()).flat_map(with_earlier).filter(|[a, b]| header(*a).is_comparable(header(*b)));
    let pair = |of: [usize; 2]| {
        let [a, b] = of.map(|session| &header(session).sources.beneath);
        Pair { of, on_the_same: a == b }
    };
    comparable.map(pair).collect()
}

/// Everything that sessions can be asked for: each cell's measures, the named quantities that are
/// more than one, and the terms of differences.
fn asked_of(all: &[Taken], named: &[Expression]) -> Result<Vec<(Expression, bool)>> {
    let mut texts = BTreeSet::new();
    for taken in all {
        for (cell, measures) in measures(&taken.record) {
            texts.extend(measures.into_iter().map(|measure| format!("{cell}.{measure}")));
        }
    }
    let mut asked = texts.iter().map(|text| Expression::parse(text)).collect::<Result<Vec<_>>>()?;
    asked.extend(named.iter().filter(|expression| expression.leaves().len() > 1).cloned());
    let mut terms = Vec::new();
    asked.iter().for_each(|expression| terms_of(expression, &mut terms));
    terms.retain(|term| !asked.contains(term));
    let asked = asked.into_iter().map(|expression| (expression, false));
    Ok(asked.chain(terms.into_iter().map(|term| (term, true))).collect())
}

/// What is subtracted from what, if an expression is a difference, and so on within these.
fn terms_of(expression: &Expression, terms: &mut Vec<Expression>) {
    if let Expression::Binary(a, Operator::Minus, b) = expression.formula() {
        for term in [a, b] {
            terms_of(term, terms);
            terms.push((**term).clone());
        }
    }
}

/// What each cell can be asked for: its time where it was timed, and else whatever its programs
/// report.
pub fn measures(record: &Record) -> Vec<(&Cell, BTreeSet<String>)> {
    let mut measures: Vec<_> = record.header.cells.iter().map(|cell| (cell, BTreeSet::new())).collect();
    for run in &record.runs {
        let Some(seen) = &run.observation else { continue };
        let (_, own) = &mut measures[run.cell];
        match seen.timed.is_none() {
            false => drop(own.insert(ELAPSED.to_owned())),
            // What the harness says of its own clock is no result.
            true => {
                own.extend(seen.measures.keys().filter(|name| !name.starts_with("clock_")).map(|name| name.to_string()))
            }
        }
    }
    measures
}
