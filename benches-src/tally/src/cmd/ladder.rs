//! `tally ladder`: what a thread costs over what a task costs, for one kind of cost after the other, here and on every other machine.

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use crate::book::quantities::Asked;
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::print::charts::{self, Request};
use crate::print::downloads;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::takeaways::{self, Rung};
use crate::print::view::View;
use crate::project::Machine;
use crate::record::sources::Freshness;

/// A thread's cost over a task's, from holding one to answering a request
#[derive(Args)]
pub struct Ladder {
    /// The takeaway that is its caption
    #[arg(long)]
    pub caption: String,
}

/// A rung with its numbers.
struct Step<'a> {
    rung: &'a Rung,
    /// Where it is measured, and how.
    ratio: Asked<'a>,
    here: Measured,
    thread: Measured,
    task: Measured,
    /// Other machines, each with its ratio.
    others: Vec<(Machine, Quantity)>,
}

impl<'a> Step<'a> {
    fn of(view: &'a View, rung: &'a Rung) -> Result<Self> {
        let measured = |text: &str| view.evaluate(&view.plans.asked(text, None)?);
        let ratio = view.plans.asked(&rung.ratio, None)?;
        let mut others = Vec::new();
        for machine in view.machines()?.into_iter().filter(|machine| *machine != view.machine) {
            let kept = view.kept_on(&machine, ratio.plan, ratio.experiment)?;
            // What other programs took is no answer to the same question.
            if let Ok((record, Freshness::Fresh | Freshness::Older(_))) = kept.as_ref()
                && let Ok(quantity) = record.evaluate(&ratio.expression)?
            {
                others.push((machine, quantity));
            }
        }
        let here = view.evaluate(&ratio)?;
        Ok(Self { rung, here, thread: measured(&rung.thread)?, task: measured(&rung.task)?, others, ratio })
    }

    /// The marks of its row: one for this machine, and one for each other; none where this machine has no number.
    fn marks(&self, machine: &Machine) -> Vec<Value> {
        let Ok(here) = &self.here else { return Vec::new() };
        let Rung { label, detail, .. } = self.rung;
        let (low, high) = here.estimate.interval.unzip();
        let farthest = self.others.iter().map(|(_, other)| other.estimate.median).fold(here.estimate.median, f64::max);
        let shown = format::quantity(here);
        let words = |measured: &Measured| measured.as_ref().map_or("–".to_owned(), format::rough);
        let own = json!({
            "row": format!("{label}, {detail}"), "label": label, "detail": detail, "who": "here", "machine": machine.name(),
            "equal": 1, "ratio": here.estimate.median, "low": low, "high": high,
            // The larger is who costs more.
            "kind": if here.estimate.median >= 1.0 { "task" } else { "thread" },
            "text_at": farthest.max(1.0), "said": format!("{}×", format::rough(here)),
            "interval": shown.interval_or_none(), "thread": words(&self.thread), "task": words(&self.task),
        });
        let other = |(machine, quantity): &(Machine, Quantity)| {
            let shown = format::quantity(quantity);
            json!({
                "row": format!("{label}, {detail}"), "label": label, "detail": detail, "who": "other", "machine": machine.name(), "ratio": quantity.estimate.median,
                "said": format!("{}×", format::rough(quantity)), "interval": shown.interval_or_none(),
            })
        };
        [own].into_iter().chain(self.others.iter().map(other)).collect()
    }

    /// Its row in the table.
    fn row(&self, view: &View) -> Result<String> {
        let number = |measured: &Measured| match measured {
            Ok(quantity) => format!("<td>{}</td>", render::in_table(&format::quantity(quantity))),
            Err(missing) => format!("<td>{}</td>", render::boxed_inline(missing)),
        };
        Ok(format!(
            "<tr><th scope=\"row\"><a href=\"{}\">{}</a> <span class=\"legend\">{}</span></th>{}{}<td>{}</td><td>{}</td></tr>\n",
            render::anchor(self.ratio.plan, self.ratio.experiment),
            html(&self.rung.label),
            html(&self.rung.detail),
            number(&self.thread),
            number(&self.task),
            render::inline(view, &self.ratio, &self.here)?,
            html(&self.range_of_others())
        ))
    }

    fn range_of_others(&self) -> String {
        let medians = || self.others.iter().map(|(_, quantity)| quantity.estimate.median);
        match self.others.len() {
            0 => "–".to_owned(),
            1 => format::number(medians().next().unwrap_or_default()),
            _ => {
                let (low, high) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
                format::range(&format::number(low), &format::number(high))
            }
        }
    }
}

impl Ladder {
    /// Prints it: the figure, at a terminal its rows.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let steps = view.front.ladder.iter().map(|rung| Step::of(view, rung)).collect::<Result<Vec<_>>>()?;
        let rows: Vec<Value> = steps.iter().flat_map(|step| step.marks(&view.machine)).collect();
        if form != Form::Page {
            return Ok(rows.iter().map(|row| row.to_string() + "\n").collect());
        }
        let cases = &view.front.takeaway(&self.caption)?.cases;
        let [caption, spoken] = match takeaways::chosen(view, cases)? {
            Ok(case) => {
                [takeaways::sentence(view, &case.say, form)?, takeaways::sentence(view, &case.say, Form::Text)?]
            }
            Err(missing) => [Err(missing.clone()), Err(missing)],
        }
        .map(Result::unwrap_or_default);
        let request = request(view, &rows, spoken)?;
        let pictures = match rows.is_empty() {
            true => render::boxed(&Missing::new("no chart", "none of its rows is measured; the table says why")),
            false => charts::pictures_or_why(view, &request, charts::Packages::AsTheyAre),
        };
        let path = format!("{}/{NAME}", view.machine.slug());
        let live = charts::write_live(view, &path, NAME, &request)?;
        let specification = charts::write_specification(view, &path, &request)?;
        Ok(format!(
            "<figure class=\"figure\" id=\"{NAME}\" data-chart=\"{NAME}\" data-live=\"{live}\">\n{}{pictures}<figcaption>{caption} \
             <span class=\"legend\">Bar: {}, its end the 95 % interval. Rings: other machines, where they ran the same programs.</span></figcaption>\n{}</figure>\n",
            stale(view, &steps)?,
            html(view.machine.name()),
            table(view, &steps, &specification)?
        ))
    }
}

/// A box with the rows that other programs took than those that are shown.
fn stale(view: &View, steps: &[Step]) -> Result<String> {
    let mut labels = Vec::new();
    for step in steps.iter().filter(|step| step.here.is_ok()) {
        if render::stale(view, step.ratio.plan, step.ratio.experiment)?.is_some() {
            labels.push(step.rung.label.as_str());
        }
    }
    let boxed = |labels: String| render::boxed(&Missing::new("stale", format!("{}: {labels}", render::CHANGED_SINCE)));
    Ok(if labels.is_empty() { String::new() } else { boxed(labels.join("; ")) })
}

/// The figure's id, and its files' name.
const NAME: &str = "ladder";

fn request(view: &View, rows: &[Value], spoken: String) -> Result<Request> {
    let title = "What a thread costs over what a task costs";
    let own = rows.iter().filter(|row| row["who"] == "here");
    let each: Vec<String> = own.map(|row| format!("{}: {}", words_of(row, "row"), words_of(row, "said"))).collect();
    let description = format!("{spoken} {}. The table below it has every number.", each.join("; "));
    let aloud = format!("{title}. {description}");
    let [wide, narrow] = charts::specifications(&view.project, NAME, rows, &[], &aloud)?;
    Ok(Request { prefix: NAME.to_owned(), title: title.to_owned(), description, wide, narrow })
}

fn words_of<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

/// Every number, one unfolding away, with where it comes from.
fn table(view: &View, steps: &[Step], specification: &str) -> Result<String> {
    let rows = steps.iter().map(|step| step.row(view)).collect::<Result<String>>()?;
    let csv = downloads::write(view, &format!("{}/{NAME}.csv", view.machine.slug()), &csv(view, steps))?;
    let command = "<code class=\"command\">cargo tally ladder --caption ladder</code>";
    let links = [("data (CSV)", csv.as_str()), ("specification", specification)];
    let links = links.map(|(name, file)| format!("<a href=\"{file}\" download>{name}</a>"));
    let small = downloads::small_letters(&[&links[..], &[command.to_owned()]].concat(), "");
    Ok(format!(
        "<details>\n<summary>All numbers, and where each comes from</summary>\n{}<table>\n<thead><tr><th scope=\"col\">what</th>\
         <th scope=\"col\">a thread</th><th scope=\"col\">a task</th><th scope=\"col\">thread over task</th>\
         <th scope=\"col\">other machines</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n{small}</details>\n",
        render::wide("What a thread costs over what a task costs")
    ))
}

fn csv(view: &View, steps: &[Step]) -> String {
    let heads = ["what", "detail", "machine", "ratio", "ratio_low", "ratio_high"].map(str::to_owned);
    let mut out = downloads::csv_line(heads.into_iter());
    for step in steps {
        let here = step.here.as_ref().ok().map(|quantity| (view.machine.slug().to_owned(), *quantity));
        let others = step.others.iter().map(|(machine, quantity)| (machine.slug().to_owned(), *quantity));
        for (machine, quantity) in here.into_iter().chain(others) {
            let words = [step.rung.label.clone(), step.rung.detail.clone(), machine];
            out += &downloads::csv_line(words.into_iter().chain(downloads::csv_numbers(Some(quantity.estimate))));
        }
    }
    out
}
