//! One machine's sessions of an experiment: the one that is shown, and earlier ones that say how
//! far it may be off.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use anyhow::Result;

use super::between::Between;
use super::numbers::Place;
use super::quantity::Measured;
use crate::book::expression::Expression;
use crate::record::Record;
use crate::record::store::Other;
use crate::remembered::remembered;

/// A record with what is known of other sessions. It is the record in all but its numbers, whose
/// intervals hold between sessions.
pub struct Sessions {
    shown: Record,
    others: Vec<Other>,
    between: Rc<Between>,
    /// What was evaluated before, by its words: a figure and a table stand on the same numbers.
    evaluated: RefCell<HashMap<String, Measured>>,
}

impl Sessions {
    /// A record, the earlier sessions of the same, and how far sessions differ anyway.
    pub fn new(shown: Record, others: Vec<Other>, between: Rc<Between>) -> Self {
        Self { shown, others, between, evaluated: RefCell::default() }
    }

    /// How many processes all of them had, by which they take their room.
    pub fn processes(&self) -> usize {
        self.shown.runs.len() + self.others().map(|other| other.runs.len()).sum::<usize>()
    }

    /// The others.
    pub fn others(&self) -> impl Iterator<Item = &Record> {
        self.others.iter().map(|other| &other.record)
    }

    /// What a number comes to in each session of the very same build.
    pub fn medians_of_the_same(&self, expression: &Expression) -> Vec<f64> {
        let of_the_same = self.others().filter(|other| other.header.is_of_the_same(&self.shown.header));
        let all = [&self.shown].into_iter().chain(of_the_same);
        all.filter_map(|own| Some(own.evaluate(expression).ok()?.ok()?.estimate.median)).collect()
    }

    /// A number with the interval that holds between sessions: the median over those that speak of
    /// its programs. The outer error is a mistake in the expression.
    pub fn evaluate(&self, expression: &Expression) -> Result<Measured> {
        remembered(&self.evaluated, expression.to_string(), || self.evaluate_anew(expression))
    }

    fn evaluate_anew(&self, expression: &Expression) -> Result<Measured> {
        let in_each = |expression: &Expression| {
            let programs = expression.leaves().into_iter().map(|leaf| &leaf.name);
            let speaks = |other: &&Other| programs.clone().all(|program| other.programs.contains(program));
            let others = self.others.iter().filter(speaks).map(|other| &other.record);
            [&self.shown].into_iter().chain(others).map(|record| record.evaluate(expression)).collect()
        };
        self.between.printed(expression, Place::of(&self.shown.header), &in_each)
    }
}

impl Deref for Sessions {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.shown
    }
}
