//! What two cost that are compared, a row for each thing that they do: their numbers here and on
//! every other machine.

use anyhow::Result;

use crate::book::quantities::Asked;
use crate::book::takeaways::Pair;
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::print::escape::{html, identifier};
use crate::print::format;
use crate::print::render;
use crate::print::table::{Cell, Table, csv, csv_heads, csv_numbers};
use crate::print::view::View;
use crate::project::Machine;
use crate::record::freshness::{Freshness, Stale};

/// What there is of each number of a pair.
pub struct Three<T> {
    pub left: T,
    pub right: T,
    /// Of the right one over the left one.
    pub ratio: T,
}

impl<T> Three<T> {
    /// One after the other: of the left one, of the right one, and the ratio.
    pub fn each(self) -> [T; 3] {
        [self.left, self.right, self.ratio]
    }

    /// Each of them changed; nothing where one of them becomes nothing.
    pub fn map_each<U>(&self, change: impl Fn(&T) -> Option<U>) -> Option<Three<U>> {
        Some(Three { left: change(&self.left)?, right: change(&self.right)?, ratio: change(&self.ratio)? })
    }

    fn map<U>(&self, mut change: impl FnMut(&T) -> Result<U>) -> Result<Three<U>> {
        Ok(Three { left: change(&self.left)?, right: change(&self.right)?, ratio: change(&self.ratio)? })
    }
}

/// Among so many other machines a number has a place worth telling.
const MANY: usize = 8;

/// A pair with its numbers.
pub struct Compared<'a> {
    pub pair: &'a Pair,
    /// Where each number is measured, and how.
    pub asked: Three<Asked<'a>>,
    /// On the machine that is shown.
    pub here: Three<Measured>,
    /// Other machines, each with the numbers that it has.
    pub others: Vec<(Machine, Three<Option<Quantity>>)>,
}

impl<'a> Compared<'a> {
    /// Here, and on every other machine.
    pub fn of(view: &'a View, pair: &'a Pair) -> Result<Self> {
        Self::beside(view, pair, &view.others()?)
    }

    /// Here, and on these.
    pub fn beside(view: &'a View, pair: &'a Pair, machines: &[Machine]) -> Result<Self> {
        let names = Three { left: &pair.left, right: &pair.right, ratio: &pair.ratio };
        let asked = names.map(|name| view.plans.asked(name, None))?;
        let here = asked.map(|asked| view.evaluate(asked))?;
        let mut others = Vec::new();
        for machine in machines {
            let there = asked.map(|asked| Ok(elsewhere(view, machine, asked)?.ok()))?;
            others.push((machine.clone(), there));
        }
        Ok(Self { pair, asked, here, others })
    }

    /// The ratio on each other machine that has it.
    pub fn ratios_elsewhere(&self) -> impl Iterator<Item = (&Machine, &Quantity)> {
        self.others.iter().filter_map(|(machine, there)| Some((machine, there.ratio.as_ref()?)))
    }

    /// Puts its row into the table.
    fn put(&self, table: &mut Table, view: &View, order: [Side; 2]) -> Result<()> {
        let Asked { plan, experiment, .. } = &self.asked.ratio;
        let number = |side| alone(view, side_of(&self.asked, side), side_of(&self.here, side)).map(Cell::html);
        let (label, detail) = (html(&self.pair.label), html(&self.pair.detail));
        let way = view.link_to(plan, experiment);
        let name = format!("<a href=\"{way}\">{label}</a> <span class=\"legend\">{detail}</span>");
        let ratio = alone(view, &self.asked.ratio, &self.here.ratio)?;
        let range = Cell::text(&self.range_elsewhere());
        table.row(name, [number(order[0])?, number(order[1])?, Cell::html(ratio), range]);
        Ok(())
    }

    /// The ratios of other machines; of many, also where among them this one's lies.
    fn range_elsewhere(&self) -> String {
        let mut medians: Vec<f64> = self.ratios_elsewhere().map(|(_, quantity)| quantity.estimate.median).collect();
        medians.sort_by(f64::total_cmp);
        let range = match medians[..] {
            [] => "–".to_owned(),
            [one] => format::number(one),
            [low, .., high] => format::range(&format::number(low), &format::number(high)),
        };
        match &self.here.ratio {
            Ok(here) if medians.len() >= MANY => {
                let lower = medians.partition_point(|median| *median < here.estimate.median);
                format!("{range}; lower on {lower} of {}", medians.len())
            }
            _ => range,
        }
    }
}

/// A number on another machine than the one that is shown. What other programs took is no answer to
/// the same question.
pub fn elsewhere(view: &View, machine: &Machine, asked: &Asked) -> Result<Measured> {
    let there = view.of_machine(machine.clone());
    let compute = |asked: &Asked| match there.kept(asked.plan, asked.experiment)?.as_ref() {
        Ok((_, aged)) => match aged.of(asked.programs()) {
            Freshness::Fresh | Freshness::Older(_) => there.evaluate(asked),
            Freshness::Stale(Stale { what, .. }) => {
                Ok(Err(Missing::new("stale", format!("{} ({})", render::CHANGED_SINCE, what.join(", ")))))
            }
        },
        Err(missing) => Ok(Err(missing.clone())),
    };
    there.once("elsewhere", asked, || {
        // A record that is read is asked for all that has a name, so that among hundreds of
        // machines few are read twice.
        if !there.is_kept(asked.experiment) {
            drop(there.headline_in_each(asked.plan, asked.experiment)?);
            for named in view.plans.quantities().filter(|own| own.experiment == asked.experiment.name) {
                let Ok(other) = view.plans.asked(&named.name, None) else { continue };
                drop((there.evaluate(&other)?, there.marks(&other)?));
                drop(there.once("elsewhere", &other, || compute(&other))?);
            }
        }
        compute(asked)
    })
}

/// A number for a place of its own on a page: the one here, or the reference machine's if it was
/// not measured here.
pub fn alone(view: &View, asked: &Asked, measured: &Measured) -> Result<String> {
    let there = measured.as_ref().err().and_then(|missing| Some((missing, view.instead(missing)?)));
    let Some((missing, there)) = there else { return render::inline(view, asked, measured) };
    match elsewhere(view, &there.machine, asked)? {
        Ok(quantity) => Ok(render::instead(&render::inline(&there, asked, &Ok(quantity))?, missing)),
        Err(_) => render::inline(view, asked, measured),
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Side {
    /// The one on the left.
    Left,
    /// The one on the right.
    Right,
}

fn side_of<T>(three: &Three<T>, side: Side) -> &T {
    match side {
        Side::Left => &three.left,
        Side::Right => &three.right,
    }
}

/// How pairs stand in the table under their figure, and in its CSV.
pub struct Columns<'a> {
    /// What is compared, in a few words.
    pub title: &'a str,
    /// Who is compared, in the order of the columns.
    pub sides: [(&'a str, Side); 2],
    /// What the ratio is one of.
    pub ratio: &'a str,
}

impl Columns<'_> {
    /// A row for each pair, as HTML.
    pub fn table(&self, view: &View, compared: &[Compared]) -> Result<String> {
        let [(first, one), (second, other)] = self.sides;
        let pairs = "A ratio is the median of those within rounds, and need not be that of the two medians beside it.";
        let heads = ["what", first, second, self.ratio, "other machines"];
        let mut table = Table::new(self.title, heads).captioned(pairs.to_owned());
        for own in compared {
            own.put(&mut table, view, [one, other])?;
        }
        Ok(table.page())
    }

    /// A line for each pair on each machine that has its ratio, unrounded.
    pub fn csv(&self, view: &View, compared: &[Compared]) -> Result<String> {
        let sides = self.sides.map(|(label, _)| identifier(label).replace('-', "_"));
        let numbers = ["ratio", &sides[0], &sides[1]].into_iter().flat_map(csv_heads);
        let words = ["what", "detail", "machine"].map(str::to_owned);
        let mut lines = vec![words.into_iter().chain(numbers).chain(["unit".to_owned()]).collect::<Vec<_>>()];
        for own in compared {
            let here = own.here.map(|measured| Ok(measured.as_ref().ok().copied()))?;
            let others = own.others.iter().map(|(machine, there)| (machine, there));
            let all = [(&view.machine, &here)].into_iter().chain(others);
            for (machine, there) in all.filter(|(_, there)| there.ratio.is_some()) {
                let [first, second] = self.sides.map(|(_, side)| *side_of(there, side));
                let words = [own.pair.label.clone(), own.pair.detail.clone(), machine.slug().to_owned()];
                let estimates = [there.ratio, first, second].map(|number| number.map(|number| number.estimate));
                let unit = first.or(second).map_or(String::new(), |number| number.unit.to_string());
                let numbers = estimates.into_iter().flat_map(csv_numbers);
                lines.push(words.into_iter().chain(numbers).chain([unit]).collect());
            }
        }
        Ok(csv(lines))
    }
}

/// A box with the rows that other programs took than those that are shown; nothing where there is
/// none.
pub fn stale(view: &View, compared: &[Compared]) -> Result<String> {
    let mut labels = Vec::new();
    for own in compared.iter().filter(|own| own.here.ratio.is_ok()) {
        if render::stale(view, &own.asked.ratio)?.is_some() {
            labels.push(own.pair.label.as_str());
        }
    }
    let boxed = |labels: String| render::boxed(&Missing::new("stale", format!("{}: {labels}", render::CHANGED_SINCE)));
    Ok(if labels.is_empty() { String::new() } else { boxed(labels.join("; ")) })
}
