//! `tally different`: what is different on the machine that is shown: its numbers beside the
//! reference machine's, the farthest apart first. Where the reference machine is shown itself, it
//! stands beside all others; and any machine beside any other, where that is asked for.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use clap::Args;
use serde_json::json;

use crate::book::quantities::Asked;
use crate::cmd::json_array;
use crate::compute::quantity::Quantity;
use crate::print::comparison::Compared;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::table::{Cell, Table};
use crate::print::view::View;
use crate::project::Machine;
use crate::record::store::machine_or_session;

/// What is different here: each number that the pages compare, beside the reference machine's
#[derive(Args)]
pub struct Different {
    /// Beside this machine instead, or beside several: named as for --machine
    #[arg(long)]
    pub beside: Vec<String>,
}

impl Different {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let mut there =
            self.beside.iter().map(|name| machine_or_session(&view.project, name)).collect::<Result<Vec<_>>>()?;
        if there.is_empty() {
            there = view.beside().map_or_else(|| view.others(), |reference| Ok(vec![reference]))?;
        }
        for (nth, own) in there.iter().enumerate() {
            ensure!(*own != view.machine, "{} is the machine that is shown; name another one", own.name());
            ensure!(!there[..nth].contains(own), "{} is named twice", own.name());
        }
        let mut numbers = Number::all(view, &there)?;
        numbers.sort_by(|a, b| b.apart().total_cmp(&a.apart()));
        Ok(match form {
            Form::Page => page(view, &there, &numbers)?,
            Form::Text => numbers.iter().map(Number::line).collect(),
            Form::Json => json_array(&numbers, Number::json),
        })
    }
}

/// Beside so many machines each number is told; of more, their range.
const MOST_LISTED: usize = 4;

/// A number that figures compare, here and there.
pub struct Number<'a> {
    label: String,
    asked: Asked<'a>,
    here: Quantity,
    there: Vec<(Machine, Quantity)>,
}

impl<'a> Number<'a> {
    /// Every number of the ladder and of all dumbbells, each once, that is known both here and
    /// there.
    pub fn all(view: &'a View, there: &[Machine]) -> Result<Vec<Self>> {
        let front = &view.front;
        let ladder = front.ladder.iter().map(|pair| (pair, ["a task", "a thread"]));
        let dumbbells = front.dumbbells.iter().flat_map(|own| {
            let names = [own.left.label.as_str(), own.right.label.as_str()];
            own.rows.iter().map(move |pair| (pair, names))
        });
        let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
        for (pair, [left, right]) in ladder.chain(dumbbells) {
            let Compared { asked, here, others, .. } = Compared::beside(view, pair, there)?;
            let names = [left.to_owned(), right.to_owned(), format!("{right} over {left}")];
            // Of each machine its three numbers, so that the first of each are the left one's.
            let mut others: Vec<_> =
                others.into_iter().map(|(machine, own)| (machine, own.each().into_iter())).collect();
            for ((name, asked), here) in names.into_iter().zip(asked.each()).zip(here.each()) {
                let there = others.iter_mut().filter_map(|(machine, own)| Some((machine.clone(), own.next()??)));
                let there: Vec<_> = there.collect();
                if let Ok(here) = here
                    && !there.is_empty()
                    && here.estimate.median > 0.0
                    && seen.insert(asked.expression.to_string())
                {
                    let label = format!("{} ({}): {name}", pair.label, pair.detail);
                    all.push(Self { label, asked, here, there });
                }
            }
        }
        Ok(all)
    }

    /// The lowest and the highest number there.
    fn range(&self) -> (f64, f64) {
        let medians = || self.there.iter().map(|(_, own)| own.estimate.median);
        (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max))
    }

    /// How many times the number here is that there; of several there, the farthest.
    fn times(&self) -> f64 {
        let (low, high) = self.range();
        let times = [low, high].map(|there| self.here.estimate.median / there);
        if times[0].ln().abs() > times[1].ln().abs() { times[0] } else { times[1] }
    }

    fn apart(&self) -> f64 {
        self.times().ln().abs()
    }

    /// Whether an interval here and one there do not meet, so that more differs than sessions do.
    fn is_sure(&self) -> bool {
        self.there.iter().any(|(_, own)| self.is_apart_from(own))
    }

    /// Whether none of the intervals there meets the one here.
    pub fn is_outside(&self) -> bool {
        self.there.iter().all(|(_, own)| self.is_apart_from(own))
    }

    /// Whether the number here lies within the interval of the one there.
    fn is_within(&self) -> bool {
        let median = self.here.estimate.median;
        let covers = |own: &Quantity| own.estimate.interval.is_some_and(|(low, high)| (low..=high).contains(&median));
        self.there.iter().any(|(_, own)| covers(own))
    }

    fn is_apart_from(&self, other: &Quantity) -> bool {
        let intervals = self.here.estimate.interval.zip(other.estimate.interval);
        intervals.is_some_and(|((low, high), (other_low, other_high))| high < other_low || other_high < low)
    }

    fn there_in_words(&self) -> String {
        match &self.there[..] {
            [(_, one)] => render::plain(&Ok(*one)),
            few if few.len() <= MOST_LISTED => {
                let each =
                    few.iter().map(|(machine, own)| format!("{} on {}", render::plain(&Ok(*own)), machine.name()));
                each.collect::<Vec<_>>().join("; ")
            }
            several => {
                let (low, high) = self.range();
                let words = |median: f64| {
                    several
                        .iter()
                        .find(|(_, own)| own.estimate.median == median)
                        .map(|(_, own)| format::quantity(own).value)
                };
                format::range(&words(low).unwrap_or_default(), &words(high).unwrap_or_default())
            }
        }
    }

    fn line(&self) -> String {
        let sure = if self.is_sure() { "" } else { ", not for sure" };
        format!(
            "{}: {}, there {}, {} times{sure}\n",
            self.label,
            render::plain(&Ok(self.here)),
            self.there_in_words(),
            format::number(self.times())
        )
    }

    fn json(&self) -> serde_json::Value {
        let there =
            self.there.iter().map(|(machine, own)| json!({ "machine": machine.slug(), "median": own.estimate.median }));
        json!({
            "what": self.label, "quantity": self.asked.expression.to_string(), "median": self.here.estimate.median,
            "there": there.collect::<Vec<_>>(), "times": self.times(), "sure": self.is_sure(),
        })
    }

    fn cells(&self, view: &View) -> Result<[Cell; 3]> {
        let here = render::inline(view, &self.asked, &Ok(self.here))?;
        let times = Cell::html(html(&format::number(self.times())) + "×");
        Ok([times, Cell::html(here), Cell::text(&self.there_in_words())])
    }
}

fn page(view: &View, there: &[Machine], numbers: &[Number]) -> Result<String> {
    let (sure, rest): (Vec<&Number>, Vec<&Number>) = numbers.iter().partition(|number| number.is_sure());
    let there = match there {
        [there] => format!("those of {}", view.phrase(there)),
        _ => "another machine's".to_owned(),
    };
    let finding = match sure.first() {
        None => format!("None of {} numbers here differs for sure from {there}.", numbers.len()),
        Some(farthest) => format!(
            "{} of {} numbers differ for sure from {there}. Here “{}” is {}× the number there, the farthest.",
            sure.len(),
            numbers.len(),
            farthest.label,
            format::number(farthest.times())
        ),
    };
    let table = |numbers: &[&Number]| -> Result<String> {
        let mut table = Table::new("What is different here", ["what", "here over there", "here", "there"]);
        for number in numbers {
            table.row(html(&number.label), number.cells(view)?);
        }
        Ok(table.page())
    };
    let rest = match rest.len() {
        0 => String::new(),
        many => format!(
            "<details class=\"numbers\"><summary>{many} in which no difference is sure</summary>\n{}</details>\n",
            table(&rest)?
        ),
    };
    Ok(format!(
        "<p class=\"finding\">{}</p>\n{}<div class=\"different\">\n{}{rest}</div>\n",
        html(&finding),
        of_same_description(view)?,
        if sure.is_empty() { String::new() } else { table(&sure)? }
    ))
}

/// How far the numbers here lie within the intervals of the machine that has the same description:
/// so far one can rely on them.
fn of_same_description(view: &View) -> Result<String> {
    let twins = view.twins()?;
    let Some(twin) = twins.first() else { return Ok(String::new()) };
    let numbers = Number::all(view, std::slice::from_ref(twin))?;
    let within = numbers.iter().filter(|number| number.is_within()).count();
    let words = format!(
        "{} has the same description as this machine: {within} of {} numbers here lie within its intervals.",
        twin.name(),
        numbers.len()
    );
    Ok(format!("<p>{}</p>\n", html(&words)))
}
