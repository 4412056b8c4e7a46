//! Every machine that has records: its doubts, and its facts, first those that decide.

use anyhow::{Result, anyhow};

use super::steadiness::Steadiness;
use super::when;
use crate::book::takeaways::Glance;
use crate::compute::quantity::Missing;
use crate::print::comparison::elsewhere;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::table::{Cell, Table};
use crate::print::view::{View, newest};
use crate::project::Machine;
use crate::record::Record;
use crate::record::machine::{Facts, Known, Listed};

pub fn print(view: &View, form: Form) -> Result<String> {
    let (mut out, mut glance) = (String::new(), Vec::new());
    let machines = [vec![view.machine.clone()], view.others()?].concat();
    for machine in &machines {
        let headers = view.headers(machine)?;
        let newest = newest(&headers);
        let facts = newest.map(|(_, _, header)| &header.machine);
        let on_entry = facts.and_then(Facts::mitigations_on_entry);
        out += &match form {
            Form::Page => {
                let kept = match newest {
                    Some((plan, experiment, _)) => Some(view.kept_on(machine, plan, experiment)?),
                    None => None,
                };
                let unreadable = view.store(machine).unreadable().map(|words| view.unreadable(&anyhow!("{words}")));
                let record = kept.as_ref().map(|kept| kept.as_ref().as_ref().map(|(record, _)| &**record));
                glance.extend(facts.map(|facts| glance_row(view, machine, facts)).transpose()?);
                let when =
                    format!("{}. {}", when(&headers), format::capitalized(&Steadiness::of(view, machine)?.in_words()));
                let section = section(view, machine, unreadable.as_ref().map(Err).or(record), &when);
                if machines.len() > MOST_OPEN { folded(machine, &section) } else { section }
            }
            Form::Text => {
                let none = if view.store(machine).unreadable().is_some() {
                    "unreadable; see: cargo tally check"
                } else {
                    "no records yet"
                };
                let summary = facts.map_or(none.to_owned(), Facts::summary);
                let on_entry = on_entry.map_or(String::new(), |words| format!("; {words}"));
                let steady = facts.map(|_| Steadiness::of(view, machine)).transpose()?;
                let steady =
                    steady.filter(Steadiness::is_known).map_or(String::new(), |own| format!("; {}", own.in_words()));
                format!("{:32} {summary}{on_entry}{steady}\n", machine.slug())
            }
            Form::Json => {
                let machine = machine.slug();
                serde_json::json!({ "machine": machine, "facts": facts, "mitigations on entry": on_entry }).to_string()
                    + "\n"
            }
        };
    }
    Ok(if form == Form::Page { at_a_glance(view, glance) + &out + &sources() } else { out })
}

/// The facts by which machines are compared first.
const COMPARED: [&str; 3] = ["CPU", "idle driver", "kernel"];

/// What differs between machines is seen where they stand below each other; a single one needs no
/// table. A script of the page sorts by a column whose head is chosen.
fn at_a_glance(view: &View, rows: Vec<(String, Vec<Cell>)>) -> String {
    if rows.len() < 2 {
        return String::new();
    }
    let numbers = view.front.glance.iter().map(|own| own.label.as_str());
    let heads = ["machine"].into_iter().chain(numbers).chain(["mitigations on entry"]).chain(COMPARED);
    let caption = format!(
        "All {} machines at a glance. A machine’s own table says if only some of its mitigations were noted.",
        rows.len()
    );
    let mut table = Table::new("All machines at a glance", heads).with(" class=\"sortable\"").captioned(caption);
    for (name, cells) in rows {
        table.row(name, cells);
    }
    table.page()
}

fn glance_row(view: &View, machine: &Machine, facts: &Facts) -> Result<(String, Vec<Cell>)> {
    let known = |name: &str| facts.known.get(name).cloned();
    let values = [facts.mitigations_on_entry()].into_iter().chain(COMPARED.map(known));
    let value = |value: Option<String>| value.map_or("not known".to_owned(), |value| html(&value));
    let numbers = view.front.glance.iter().map(|own| glance_cell(view, machine, own));
    let cells = numbers.chain(values.map(|known| Ok(Cell::words(value(known))))).collect::<Result<_>>()?;
    let (slug, reference) = (html(machine.slug()), view.reference_mark(machine));
    Ok((format!("<a href=\"#machine-{slug}\">{}</a>{reference}", html(machine.name())), cells))
}

/// A number of a machine, with what it is sorted by.
fn glance_cell(view: &View, machine: &Machine, glance: &Glance) -> Result<Cell> {
    let asked = view.plans.asked(&glance.quantity, None)?;
    Ok(match elsewhere(view, machine, &asked)? {
        Ok(quantity) => {
            let sorted = format!(" data-sort=\"{}\"", quantity.estimate.median);
            Cell::with(&sorted, render::in_table(&format::quantity(&quantity)))
        }
        Err(missing) => Cell::html(render::boxed_inline(&missing)),
    })
}

/// Of so many machines each shows all that is known of it. Of more it is folded.
const MOST_OPEN: usize = 12;

fn folded(machine: &Machine, section: &str) -> String {
    let name = html(machine.name());
    format!("<details class=\"more\"><summary>{name}</summary>\n{section}</details>\n")
}

/// The newest record tells what machine it is.
fn section(view: &View, machine: &Machine, record: Option<Result<&Record, &Missing>>, when: &str) -> String {
    let reference = view.reference_mark(machine);
    let mut out = format!(
        "<section class=\"machine\" id=\"machine-{}\">\n<h2>{}{reference}</h2>\n",
        html(machine.slug()),
        html(machine.name())
    );
    let record = match record {
        Some(Ok(record)) => record,
        Some(Err(missing)) => return out + &render::boxed(missing) + "</section>\n",
        None => return out + "<p class=\"missing\">No records yet.</p>\n</section>\n",
    };
    let facts = &record.header.machine;
    let mut doubts = facts.doubts();
    doubts.extend(session_doubts(record));
    let items: String = doubts.iter().map(|doubt| format!("<li>{}</li>\n", html(doubt))).collect();
    let doubts = if items.is_empty() { String::new() } else { format!("<p>Doubts:</p>\n<ul>\n{items}</ul>\n") };
    out += &format!("<p>{}; {}.</p>\n{doubts}{}", html(&facts.summary()), html(when), facts_of(facts));
    out + "</section>\n"
}

/// What decides stands first, and the rest behind it. What nobody had looked for is named in one
/// row.
fn facts_of(facts: &Facts) -> String {
    let (unseen, seen): (Vec<_>, Vec<_>) =
        facts.listed().into_iter().partition(|fact| matches!(fact.known, Known::NotLookedFor));
    let (first, rest): (Vec<_>, Vec<_>) = seen.into_iter().partition(|fact| fact.decides);
    let number = first.len() + rest.len();
    let mut decides = table("What tells this machine from others", first.iter().filter_map(in_row));
    if !unseen.is_empty() {
        let names: Vec<&str> = unseen.iter().map(|fact| fact.name).collect();
        decides.row("not looked for when this was measured", [Cell::text(&names.join("; "))]);
    }
    let rest = match rest.is_empty() {
        true => String::new(),
        false => table("What else is known of this machine", rest.iter().filter_map(in_row)).page(),
    };
    format!("<details class=\"numbers\"><summary>{number} facts</summary>\n{}{rest}</details>\n", decides.page())
}

fn in_row(fact: &Listed) -> Option<(&'static str, String)> {
    Some(match &fact.known {
        Known::Yes(value) => (fact.name, in_words(fact.name, value).to_owned()),
        Known::No(reason) => (fact.name, format!("not known: {reason}")),
        Known::NotLookedFor => return None,
    })
}

/// Where the facts were read is the same for all machines.
fn sources() -> String {
    let sources = table("Where each fact is read", Facts::sources().map(|(name, source)| (name, source.to_owned())));
    format!("<details class=\"more\"><summary>Where each fact is read</summary>\n{}</details>\n", sources.page())
}

fn table<'a>(label: &str, rows: impl Iterator<Item = (&'a str, String)>) -> Table {
    let mut table = Table::new(label, [""; 0]).with(" class=\"facts\"");
    for (name, value) in rows {
        table.row(html(name), [Cell::text(&value)]);
    }
    table
}

/// What a reader is told of a fact. Older records have what the control group at the root says,
/// which has no word for none.
fn in_words<'a>(name: &str, value: &'a str) -> &'a str {
    let no_limit =
        value == "-1" || value.starts_with("max") || value.parse::<u64>().is_ok_and(|bytes| bytes >= 1 << 62);
    if name.starts_with("control group") && no_limit { "none at the root, where alone it was read then" } else { value }
}

/// What the newest session itself says against its conditions.
fn session_doubts(record: &Record) -> Vec<String> {
    let mut doubts = Vec::new();
    let (before, Some(end)) = (&record.header.before, &record.end) else { return doubts };
    if let (Some(first), Some(last)) = (before.steal_ticks, end.after.steal_ticks)
        && last > first
    {
        doubts.push(format!(
            "clock ticks of CPU time, mostly of 10 ms, that the hypervisor took during the newest session: {}",
            last - first
        ));
    }
    if before.load.is_some_and(|load| load > 0.5) {
        let load = before.load.unwrap_or_default();
        doubts.push(format!(
            "the newest session began at a load average of {load}: something else ran, or had just ended, be it this \
             book's own session before"
        ));
    }
    if end.after.throttled > before.throttled {
        doubts.push("the control group was throttled during the newest session".to_owned());
    }
    doubts
}
