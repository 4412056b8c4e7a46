//! Numbers of every machine beside each other, a dot for each: what one costs, what another costs
//! that may follow it, and a third that may not.

use anyhow::Result;

use crate::book::quantities::Asked;
use crate::book::scatter::Scatter;
use crate::compute::quantity::{Measured, Missing};
use crate::print::comparison::elsewhere;
use crate::print::view::View;
use crate::project::Machine;
use crate::record::machine::Known;

/// A machine with its numbers, in the order in which they were asked for.
pub struct Point {
    /// Whose they are.
    pub machine: Machine,
    /// What it is, in a few words, if that is known.
    pub phrase: Option<String>,
    /// Each, or why it is lacking.
    pub numbers: Vec<Measured>,
    /// What is known of the machine, in the order in which it was asked for.
    pub facts: Vec<Result<String, Missing>>,
}

/// The places of numbers in a [`Point`].
pub const X: usize = 0;
/// See [`X`].
pub const Y: usize = 1;
/// Y over X.
pub const RATIO: usize = 2;
/// See [`X`].
pub const CONTROL: usize = 3;

/// The places of what is drawn.
pub const DRAWN: [usize; 3] = [X, Y, CONTROL];

impl Point {
    /// All machines, from left to right, and last those that lack a number that is drawn.
    pub fn all(view: &View, scatter: &Scatter, asked: &[(String, Asked)]) -> Result<Vec<Self>> {
        // One that is shown and has no dot leaves its place to its twin, and is named all the same.
        let mut without = None;
        let mut points = view.answers(|machine| {
            let point = Self::of(view, scatter, asked, machine)?;
            if *machine == view.machine && point.x().is_none() {
                without = Some(point);
                return Ok(None);
            }
            Ok(Some(point))
        })?;
        points.splice(0..0, without);
        points.sort_by(|a, b| match (a.x(), b.x()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        Ok(points)
    }

    fn of(view: &View, scatter: &Scatter, asked: &[(String, Asked)], machine: &Machine) -> Result<Self> {
        let number = |(_, asked): &(String, Asked)| everywhere(view, machine, asked);
        let numbers = asked.iter().map(number).collect::<Result<Vec<_>>>()?;
        let facts = facts(view, machine, &asked[X].1, &scatter.facts)?;
        let phrase = view.facts(machine)?.and_then(|facts| facts.phrase());
        Ok(Self { machine: machine.clone(), phrase, numbers, facts })
    }

    /// Where it stands to the right, if it has all that is drawn.
    pub fn x(&self) -> Option<f64> {
        self.lacking().next().is_none().then(|| self.median(X)).flatten()
    }

    /// One of its numbers.
    pub fn median(&self, place: usize) -> Option<f64> {
        self.numbers[place].as_ref().ok().map(|number| number.estimate.median)
    }

    /// Which of the numbers that are drawn it lacks, each with its place, and why.
    pub fn lacking(&self) -> impl Iterator<Item = (usize, &Missing)> {
        let drawn = self.numbers.iter().enumerate().filter(|(place, _)| DRAWN.contains(place));
        drawn.filter_map(|(place, number)| Some((place, number.as_ref().err()?)))
    }
}

/// A number on any machine. On that which is shown it may be stale, which the figure says.
fn everywhere(view: &View, machine: &Machine, asked: &Asked) -> Result<Measured> {
    if *machine == view.machine { view.evaluate(asked) } else { elsewhere(view, machine, asked) }
}

/// What a machine's record of this experiment says of it.
fn facts(view: &View, machine: &Machine, asked: &Asked, names: &[String]) -> Result<Vec<Result<String, Missing>>> {
    let header = view.header_on(machine, asked.plan, asked.experiment)?;
    let listed = header.as_ref().map(|(header, _)| header.machine.listed()).unwrap_or_default();
    let fact = |name: &String| match listed.iter().find(|own| own.name == name).map(|own| &own.known) {
        Some(Known::Yes(value)) => Ok(value.clone().into_owned()),
        Some(Known::No(reason)) => Err(Missing::new("not known", *reason)),
        _ => Err(Missing::new("not known", "no record says it")),
    };
    Ok(names.iter().map(fact).collect())
}
