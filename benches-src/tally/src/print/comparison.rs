//! Figures in which two are compared, a row for each thing that they do: their numbers here and on every other machine, the picture, and under it
//! every number, one unfolding away.

use anyhow::Result;
use serde_json::Value;

use crate::book::quantities::Asked;
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::print::charts::{self, Request};
use crate::print::downloads;
use crate::print::escape::{html, identifier};
use crate::print::format;
use crate::print::render;
use crate::print::takeaways::Pair;
use crate::print::view::View;
use crate::project::Machine;
use crate::record::sources::Freshness;

/// What there is of each number of a pair.
pub struct Three<T> {
    /// Of the left one.
    pub left: T,
    /// Of the right one.
    pub right: T,
    /// Of the right one over the left one.
    pub ratio: T,
}

impl<T> Three<T> {
    /// One after the other: of the left one, of the right one, and the ratio.
    pub fn each(self) -> [T; 3] {
        [self.left, self.right, self.ratio]
    }

    fn map<U>(&self, mut change: impl FnMut(&T) -> Result<U>) -> Result<Three<U>> {
        Ok(Three { left: change(&self.left)?, right: change(&self.right)?, ratio: change(&self.ratio)? })
    }
}

/// A pair with its numbers.
pub struct Compared<'a> {
    /// What is compared.
    pub pair: &'a Pair,
    /// Where each number is measured, and how.
    pub asked: Three<Asked<'a>>,
    /// On the machine that is shown.
    pub here: Three<Measured>,
    /// Other machines, each with the numbers that it has.
    pub others: Vec<(Machine, Three<Option<Quantity>>)>,
}

impl<'a> Compared<'a> {
    /// Evaluates a pair everywhere.
    pub fn of(view: &'a View, pair: &'a Pair) -> Result<Self> {
        let names = Three { left: &pair.left, right: &pair.right, ratio: &pair.ratio };
        let asked = names.map(|name| view.plans.asked(name, None))?;
        let here = asked.map(|asked| view.evaluate(asked))?;
        let mut others = Vec::new();
        for machine in view.machines()?.into_iter().filter(|machine| *machine != view.machine) {
            let there = asked.map(|asked| elsewhere(view, &machine, asked))?;
            others.push((machine, there));
        }
        Ok(Self { pair, asked, here, others })
    }

    /// The ratio on each other machine that has it.
    pub fn ratios_elsewhere(&self) -> impl Iterator<Item = (&Machine, &Quantity)> {
        self.others.iter().filter_map(|(machine, there)| Some((machine, there.ratio.as_ref()?)))
    }

    /// Its row in the table.
    fn row(&self, view: &View, order: [Side; 2]) -> Result<String> {
        let Asked { plan, experiment, .. } = &self.asked.ratio;
        let number = |side| render::inline(view, side_of(&self.asked, side), side_of(&self.here, side));
        Ok(format!(
            "<tr><th scope=\"row\"><a href=\"{}\">{}</a> <span class=\"legend\">{}</span></th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            view.link_to(plan, experiment),
            html(&self.pair.label),
            html(&self.pair.detail),
            number(order[0])?,
            number(order[1])?,
            render::inline(view, &self.asked.ratio, &self.here.ratio)?,
            html(&self.range_elsewhere())
        ))
    }

    fn range_elsewhere(&self) -> String {
        let mut medians: Vec<f64> = self.ratios_elsewhere().map(|(_, quantity)| quantity.estimate.median).collect();
        medians.sort_by(f64::total_cmp);
        match medians[..] {
            [] => "–".to_owned(),
            [one] => format::number(one),
            [low, .., high] => format::range(&format::number(low), &format::number(high)),
        }
    }
}

/// A number on another machine. What other programs took is no answer to the same question.
fn elsewhere(view: &View, machine: &Machine, asked: &Asked) -> Result<Option<Quantity>> {
    Ok(match view.kept_on(machine, asked.plan, asked.experiment)?.as_ref() {
        Ok((record, Freshness::Fresh | Freshness::Older(_))) => record.evaluate(&asked.expression)?.ok(),
        _ => None,
    })
}

/// One of two.
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

/// A figure of pairs.
pub struct Figure<'a> {
    /// Its anchor, and what a live chart of it is called.
    pub name: &'a str,
    /// The name of its files for download.
    pub file: &'a str,
    /// The specification in `book/charts`.
    pub shape: &'a str,
    /// What it compares, in a few words.
    pub title: &'a str,
    /// What it shows, to be read aloud.
    pub spoken: String,
    /// Its rows, each a mark.
    pub marks: Vec<Value>,
    /// Who is compared, in the order of the table's columns.
    pub sides: [(&'a str, Side); 2],
    /// What the ratio is one of.
    pub ratio: &'a str,
    /// The command that prints it.
    pub command: &'a str,
    /// What stands above the picture and under it, as HTML.
    pub above: String,
    /// See `above`.
    pub caption: String,
    /// How to cite it, as HTML.
    pub cite: String,
}

impl Figure<'_> {
    /// The figure for a page: where it cannot be drawn, the table is open instead.
    pub fn page(&self, view: &View, compared: &[Compared]) -> Result<String> {
        let request = self.request(view)?;
        let pictures = match self.marks.is_empty() {
            true => render::boxed(&Missing::new("no chart", "none of its rows is measured; the table says why")),
            false => charts::pictures_or_why(view, &request, charts::Packages::AsTheyAre),
        };
        let open = if self.marks.is_empty() || view.undrawn.get() { " open" } else { "" };
        let path = format!("{}/{}", view.machine.slug(), self.file);
        // Where nothing was measured there is nothing to look into.
        let live = match self.marks.is_empty() {
            true => String::new(),
            false => format!(" data-live=\"{}\"", charts::write_live(view, &path, self.name, &request)?),
        };
        let specification = charts::write_specification(view, &path, &request)?;
        let csv = downloads::write(view, &format!("{path}.csv"), &self.csv(view, compared)?)?;
        let Self { name, above, caption, .. } = self;
        Ok(format!(
            "<figure class=\"figure\" id=\"{name}\" data-chart=\"{name}\"{live}>\n{above}{}{pictures}<figcaption>{caption}</figcaption>\n\
             <details class=\"numbers\"{open}>\n<summary>All numbers, and where each comes from</summary>\n{}{}</details>\n</figure>\n",
            stale(view, compared)?,
            self.table(view, compared)?,
            self.small(&csv, &specification)
        ))
    }

    /// Its picture by itself, with colours of its own on white.
    pub fn standalone(&self, view: &View) -> Result<String> {
        let drawn = view.pencil.draw(&view.project, &self.request(view)?, charts::Packages::Fetch)?;
        charts::standalone(&view.project, &drawn.wide)
    }

    fn request(&self, view: &View) -> Result<Request> {
        let description = format!("{} The table below it has every number.", self.spoken);
        let aloud = format!("{}. {description}", self.title);
        let [wide, narrow] = charts::specifications(&view.project, self.shape, &self.marks, &[], &aloud)?;
        Ok(Request { prefix: self.name.to_owned(), title: self.title.to_owned(), description, wide, narrow })
    }

    fn table(&self, view: &View, compared: &[Compared]) -> Result<String> {
        let [(first, one), (second, other)] = self.sides;
        let rows = compared.iter().map(|own| own.row(view, [one, other])).collect::<Result<String>>()?;
        let heads = ["what", first, second, self.ratio, "other machines"];
        let heads: String = heads.map(|head| format!("<th scope=\"col\">{}</th>", html(head))).concat();
        let wide = render::wide(&html(self.title));
        Ok(format!("{wide}<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"))
    }

    fn small(&self, csv: &str, specification: &str) -> String {
        let links = [("data (CSV)", csv), ("specification", specification)];
        let links = links.map(|(name, file)| format!("<a href=\"{file}\" download>{name}</a>"));
        let command = format!("<code class=\"command\">{}</code>", html(self.command));
        downloads::small_letters(&[&links[..], &[command]].concat(), &self.cite)
    }

    fn csv(&self, view: &View, compared: &[Compared]) -> Result<String> {
        let sides = self.sides.map(|(label, _)| identifier(label).replace('-', "_"));
        let with_ends = |name: &str| ["", "_low", "_high"].map(|end| format!("{name}{end}"));
        let numbers = ["ratio", &sides[0], &sides[1]].into_iter().flat_map(with_ends);
        let words = ["what", "detail", "machine"].map(str::to_owned);
        let mut out = downloads::csv_line(words.into_iter().chain(numbers).chain(["unit".to_owned()]));
        for own in compared {
            let here = own.here.map(|measured| Ok(measured.as_ref().ok().copied()))?;
            let others = own.others.iter().map(|(machine, there)| (machine, there));
            let all = [(&view.machine, &here)].into_iter().chain(others);
            for (machine, there) in all.filter(|(_, there)| there.ratio.is_some()) {
                let [first, second] = self.sides.map(|(_, side)| *side_of(there, side));
                let words = [own.pair.label.clone(), own.pair.detail.clone(), machine.slug().to_owned()];
                let estimates = [there.ratio, first, second].map(|number| number.map(|number| number.estimate));
                let unit = first.or(second).map_or(String::new(), |number| number.unit.to_string());
                let numbers = estimates.into_iter().flat_map(downloads::csv_numbers);
                out += &downloads::csv_line(words.into_iter().chain(numbers).chain([unit]));
            }
        }
        Ok(out)
    }
}

/// A box with the rows that other programs took than those that are shown.
fn stale(view: &View, compared: &[Compared]) -> Result<String> {
    let mut labels = Vec::new();
    for own in compared.iter().filter(|own| own.here.ratio.is_ok()) {
        if render::stale(view, own.asked.ratio.plan, own.asked.ratio.experiment)?.is_some() {
            labels.push(own.pair.label.as_str());
        }
    }
    let boxed = |labels: String| render::boxed(&Missing::new("stale", format!("{}: {labels}", render::CHANGED_SINCE)));
    Ok(if labels.is_empty() { String::new() } else { boxed(labels.join("; ")) })
}
