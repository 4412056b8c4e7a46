//! What all machines say of a number, or of a finding: the one that is shown, and those of
//! `data/machines` whose programs did the same work.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::book::quantities::Asked;
use crate::compute::quantity::{Measured, Missing};
use crate::print::comparison::elsewhere;
use crate::print::format;
use crate::print::view::View;
use crate::project::Machine;
use crate::record::processors::cpus_in_list;

/// A number on a machine. On the one that is shown it may be stale, which is said beside it there;
/// of another machine, what other programs took is no answer.
pub fn measured(view: &View, machine: &Machine, asked: &Asked) -> Result<Measured> {
    if *machine == view.machine { view.evaluate(asked) } else { elsewhere(view, machine, asked) }
}

/// The medians of a number on all machines that have it of six rounds or more, from the least on.
pub fn medians(view: &View, asked: &Asked) -> Result<Vec<f64>> {
    let mut medians = view.answers(|machine| {
        let known = elsewhere(view, machine, asked)?.ok().filter(|own| own.estimate.interval.is_some());
        Ok(known.map(|own| own.estimate.median))
    })?;
    medians.sort_by(f64::total_cmp);
    Ok(medians)
}

/// The least and the largest of them, or how many there are.
pub fn words(view: &View, asked: &Asked, how_many: bool) -> Result<Result<String, Missing>> {
    let medians = medians(view, asked)?;
    Ok(match medians[..] {
        [] => Err(Missing::new("not measured", "no machine has measured it".to_owned())),
        _ if how_many => Ok(machines(medians.len())),
        [one] => Ok(rough(one)),
        [low, .., high] if rough(low) == rough(high) => Ok(rough(low)),
        [low, .., high] => Ok(format::range(&rough(low), &rough(high))),
    })
}

/// With two digits: how far machines differ needs no more.
fn rough(number: f64) -> String {
    let decimals = 1 - number.abs().log10().floor() as i32;
    match usize::try_from(decimals) {
        Ok(decimals) => format!("{number:.decimals$}"),
        Err(_) => {
            let tens = 10_f64.powi(-decimals);
            format!("{:.0}", (number / tens).round() * tens)
        }
    }
}

fn machines(number: usize) -> String {
    format!("{} machine{}", number_word(number), if number == 1 { "" } else { "s" })
}

fn number_word(number: usize) -> String {
    const WORDS: [&str; 11] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// What the machines that stand beside one another are, in one sentence: what holds on all of them
/// may hold on these alone.
pub fn kinds(view: &View) -> Result<String> {
    let mut all = Vec::new();
    for machine in view.machines()? {
        all.extend(view.facts(&machine)?);
    }
    if all.len() < 2 {
        return Ok("No other machine stands beside this one.".to_owned());
    }
    let values = |name| all.iter().filter_map(move |facts| facts.known.get(name).map(String::as_str));
    let those = |name, is: fn(&str) -> bool, what| {
        let number = values(name).filter(|value| is(value)).count();
        format!("{} {what}", if number == 0 { "none".to_owned() } else { number_word(number) })
    };
    let cpus: BTreeSet<usize> = values("CPUs online").map(|list| cpus_in_list(list).len()).collect();
    let cpus: Vec<String> = cpus.into_iter().map(|number| number.to_string()).collect();
    let twins = view.twins()?;
    let twin = twins.first().map_or(String::new(), |twin| format!(" {} has this one's description.", twin.name()));
    Ok(format!(
        "Ranges: {}, {}, {}, with {} CPUs; {}.{twin}",
        machines(all.len()),
        those("virtual machine", |kind| kind == "no", "on bare metal"),
        those("CPU family, model, stepping", |edition| edition.starts_with("0x"), "of ARM"),
        cpus.join(" or "),
        those("haltpoll, ns", |ns| ns == "0", "halt idle CPUs at once"),
    ))
}
