//! How many parts of claims would be judged otherwise by another session.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::book::expression::Expression;
use crate::book::plan::Plans;
use crate::book::published::Published;
use crate::book::verdict::Verdict;
use crate::cmd::claim::part::expected_of;
use crate::compute::between::Between;
use crate::compute::judging::{Expectation, judge};
use crate::compute::numbers::{Pair, Place, Taken, pairs};
use crate::compute::quantity::{Missing, Quantity};
use crate::record::{Header, Record};
use crate::say;

/// The parts of claims that an experiment's record decides.
pub struct Parts(BTreeMap<String, Vec<(Expression, Expectation)>>);

/// A part as two sessions have it.
struct Twice {
    expression: Expression,
    expected: Expectation,
    values: [Quantity; 2],
    /// When the earlier session began.
    began: String,
    of: Header,
}

/// Every part of every claim that two sessions have.
#[derive(Default)]
pub struct Verdicts(Vec<Twice>);

impl Parts {
    /// Those of all claims that are judged.
    pub fn of(plans: &Plans, published: &Published) -> Result<Self> {
        let mut parts: BTreeMap<String, Vec<(Expression, Expectation)>> = BTreeMap::new();
        for (_, claim) in plans.claims() {
            for part in &claim.parts {
                let asked = claim.asked(plans, part)?;
                let expected = expected_of(published, part)?;
                parts.entry(asked.experiment.name.clone()).or_default().push((asked.expression, expected));
            }
        }
        Ok(Self(parts))
    }
}

impl Verdicts {
    /// Takes in the sessions of a machine's experiment, in their order.
    pub fn add(&mut self, parts: &Parts, sessions: &[Taken]) {
        for Pair { of: [earlier, later], .. } in pairs(sessions) {
            self.add_pair(parts, &sessions[earlier].record, &sessions[later].record);
        }
    }

    fn add_pair(&mut self, parts: &Parts, earlier: &Record, later: &Record) {
        for (expression, expected) in parts.0.get(&later.header.experiment).into_iter().flatten() {
            let value = |record: &Record| record.evaluate(expression).ok().and_then(Result::ok);
            let (Some(a), Some(b)) = (value(earlier), value(later)) else { continue };
            let (expression, expected) = (expression.clone(), expected.clone());
            let began = earlier.header.before.time.clone();
            let of = later.header.clone();
            self.0.push(Twice { expression, expected, values: [a, b], began, of });
        }
    }

    /// Of the parts that pairs of sessions have which the earlier half of the pairs does not know:
    /// how many there are, how many the other session judges otherwise, and how many of these it
    /// contradicts. Intervals are those that this half comes to.
    pub fn changed(&self, earlier: &Between) -> Result<[usize; 3]> {
        let [mut all, mut changed, mut contradicted] = [0; 3];
        for twice in self.0.iter().filter(|twice| twice.began > earlier.half) {
            let judged = twice.values.map(|value| -> Result<_> {
                let alone = |asked: &Expression| {
                    let is_it = *asked == twice.expression;
                    Ok(vec![if is_it { Ok(value) } else { Err(Missing::new("not measured", "it is a term")) }])
                };
                let printed = earlier.printed(&twice.expression, Place::of(&twice.of), &alone)?;
                Ok(judge(&printed, &twice.expected).verdict)
            });
            let [first, second] = judged;
            all += 1;
            let (first, second) = (first?, second?);
            let is_one = |verdict| first == verdict || second == verdict;
            if first != second {
                let (expression, began) = (&twice.expression, &twice.began);
                say!(
                    "tally: judged otherwise by the next session, since {began}: {expression}: {} and {}",
                    first.words(),
                    second.words()
                );
            }
            changed += usize::from(first != second);
            contradicted +=
                usize::from(is_one(Verdict::DoesNotHold) && (is_one(Verdict::Holds) || is_one(Verdict::Shifted)));
        }
        Ok([all, changed, contradicted])
    }
}
