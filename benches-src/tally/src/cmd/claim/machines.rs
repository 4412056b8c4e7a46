//! `tally claim --machines`: the same claims on every machine that has records, and which of them
//! machines disagree about.

use std::collections::BTreeMap;

use anyhow::Result;

use super::counts::verdicts;
use super::{Judged, claim_link, many};
use crate::book::claim::Claim;
use crate::book::plan::Plan;
use crate::book::verdict::Verdict;
use crate::print::escape::html;
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::record::freshness::Freshness;

/// A claim, and what the machines that measured it with today's programs say.
pub struct Row<'a> {
    pub chapter: &'a Plan,
    pub claim: &'a Claim,
    agreement: Agreement,
}

/// What a claim comes to on one machine, also where other programs were measured.
struct OnMachine {
    verdict: Verdict,
    /// Each part's number, for a person.
    numbers: Vec<String>,
    /// The parts, for a script.
    parts: serde_json::Value,
    /// How fresh the oldest record beneath it is.
    freshness: Freshness,
}

impl OnMachine {
    fn words(&self) -> String {
        let words = self.verdict.words();
        match &self.freshness {
            _ if self.verdict == Verdict::NotMeasured => words.to_owned(),
            Freshness::Fresh => words.to_owned(),
            aged => format!("{words} ({})", aged.word()),
        }
    }
}

/// How machines stand to a claim.
#[derive(Debug, PartialEq)]
enum Agreement {
    All(Verdict),
    One(Verdict),
    Nobody,
    /// It holds on one, if with another figure, and does not on another.
    Contradict,
    /// It is decided on some only, or has another figure on some.
    Differ,
}

impl Agreement {
    fn of(machines: impl IntoIterator<Item = Verdict>) -> Self {
        let verdicts: Vec<Verdict> = machines.into_iter().filter(|own| *own != Verdict::NotMeasured).collect();
        let has = |verdict| verdicts.contains(&verdict);
        match &verdicts[..] {
            [] => Agreement::Nobody,
            [only] => Agreement::One(*only),
            [first, others @ ..] if others.iter().all(|other| other == first) => Agreement::All(*first),
            _ if has(Verdict::DoesNotHold)
                && [Verdict::Holds, Verdict::PartlyChecked, Verdict::Shifted].into_iter().any(has) =>
            {
                Agreement::Contradict
            }
            _ => Agreement::Differ,
        }
    }

    /// What is said of claims that machines do not agree about; nothing of others.
    fn heading(&self) -> Option<&'static str> {
        match self {
            Agreement::Contradict => Some("holds or has another figure on one machine, and does not hold on another"),
            Agreement::Differ => Some("decided on some machines only, or another figure on some only"),
            Agreement::All(_) | Agreement::One(_) | Agreement::Nobody => None,
        }
    }
}

/// Prints what all machines say. Nothing is computed from the numbers of two.
pub fn print(view: &View, form: Form) -> Result<String> {
    let views: Vec<View> = view.machines()?.into_iter().map(|machine| view.of_machine(machine)).collect();
    let row = |(chapter, claim)| Ok(Row { chapter, claim, agreement: Agreement::of(verdicts(view, claim)?) });
    let rows: Vec<Row> = view.plans.claims().map(row).collect::<Result<_>>()?;
    if form == Form::Page {
        return page(view, &views, &rows);
    }
    // All claims on one machine before those on the next, so that its records are read once.
    let mut on_machines = Vec::new();
    for view in &views {
        on_machines.push(rows.iter().map(|row| on(view, row)).collect::<Result<Vec<_>>>()?);
    }
    Ok(match form {
        Form::Json => json(&views, &rows, &on_machines).to_string() + "\n",
        _ => text(&views, &rows, &on_machines),
    })
}

fn on(view: &View, row: &Row) -> Result<OnMachine> {
    let judged = Judged::new(view, row.chapter, row.claim)?;
    let (mut numbers, mut freshness) = (Vec::new(), Freshness::Fresh);
    for part in &judged.parts {
        numbers.push(render::in_words(view, &part.asked, &part.measured)?);
        if let Some((_, of_record)) = view.header_on(&view.machine, part.asked.plan, part.asked.experiment)? {
            let of_part = of_record.of(part.asked.programs());
            freshness = if age(&of_part) > age(&freshness) { of_part } else { freshness };
        }
    }
    Ok(OnMachine { verdict: judged.verdict(), numbers, parts: judged.parts_json(view)?, freshness })
}

fn age(freshness: &Freshness) -> u8 {
    match freshness {
        Freshness::Fresh => 0,
        Freshness::Older(_) => 1,
        Freshness::Stale(_) => 2,
    }
}

fn page(view: &View, views: &[View], rows: &[Row]) -> Result<String> {
    let differ: Vec<&Row> = rows.iter().filter(|row| row.agreement.heading().is_some()).collect();
    if differ.is_empty() {
        return Ok("<p>There is no verdict in which machines differ.</p>\n".to_owned() + &agreed(view, rows));
    }
    let table = many::table(view, views, &differ)?;
    let count = differ.len();
    let others = match agreed(view, rows) {
        none if none.is_empty() => none,
        some => format!(
            "<details class=\"more\"><summary>The claims of which all machines say the same</summary>\n{some}\
             </details>\n"
        ),
    };
    Ok(format!(
        "{}<details class=\"numbers\"><summary>Each of these {count} claims, and on how many machines it \
         holds</summary>\n{table}</details>\n{others}",
        contradicted(view, &differ, rows.len())
    ))
}

/// How many claims machines differ about, and which of them hold here and not there.
fn contradicted(view: &View, differ: &[&Row], all: usize) -> String {
    let links: Vec<String> = (differ.iter().filter(|row| row.agreement == Agreement::Contradict))
        .map(|row| claim_link(view, row.chapter, row.claim))
        .collect();
    let those = match &links[..] {
        [] => "None of them holds or has another figure on one machine, and does not hold on another".to_owned(),
        [only] => format!("{only} holds or has another figure on one machine, and does not hold on another"),
        [first @ .., last] => {
            format!(
                "{} and {last} hold or have another figure on one machine, and do not hold on another",
                first.join(", ")
            )
        }
    };
    format!("<p>Machines disagree on {} of {all} claims. {those}.</p>\n", differ.len())
}

/// The other claims, by what there is to say of them.
fn agreed(view: &View, rows: &[Row]) -> String {
    let mut groups: BTreeMap<(u8, Verdict), Vec<String>> = BTreeMap::new();
    for row in rows {
        let group = match row.agreement {
            Agreement::Contradict | Agreement::Differ => continue,
            Agreement::All(verdict) => (0, verdict),
            Agreement::One(verdict) => (1, verdict),
            Agreement::Nobody => (2, Verdict::NotMeasured),
        };
        groups.entry(group).or_default().push(claim_link(view, row.chapter, row.claim));
    }
    if groups.is_empty() {
        return String::new();
    }
    let items = groups.iter().map(|((how_many, verdict), claims)| {
        let on = match how_many {
            0 => "on every machine that measured it",
            1 => "on the only machine that measured it",
            _ => "on any, or of other programs than now",
        };
        format!("<li><strong>{}</strong> {on}: {}</li>\n", html(verdict.words()), claims.join(", "))
    });
    format!("<ul>\n{}</ul>\n", items.collect::<String>())
}

fn text(views: &[View], rows: &[Row], on_machines: &[Vec<OnMachine>]) -> String {
    let mut out = String::new();
    for (index, row) in rows.iter().enumerate() {
        out += &format!("{:4} {}\n", row.claim.id, row.claim.sentence);
        out += &row.agreement.heading().map_or(String::new(), |heading| format!("    {heading}:\n"));
        for (view, on) in views.iter().zip(on_machines) {
            let on = &on[index];
            out += &format!("    {:32} {:22} {}\n", view.machine.slug(), on.words(), on.numbers.join("; "));
        }
    }
    out
}

fn json(views: &[View], rows: &[Row], on_machines: &[Vec<OnMachine>]) -> serde_json::Value {
    let on = |(view, on): (&View, &OnMachine)| {
        serde_json::json!({
            "machine": view.machine.slug(),
            "verdict": on.verdict.words(),
            "state": on.freshness.word(),
            "parts": on.parts,
        })
    };
    let row = |(index, row): (usize, &Row)| {
        let each = views.iter().zip(on_machines.iter().map(|own| &own[index]));
        serde_json::json!({
            "id": row.claim.id,
            "differ": row.agreement.heading().is_some(),
            "machines": each.map(on).collect::<Vec<_>>(),
        })
    };
    rows.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_differ_where_what_they_measured_does() {
        use Verdict::{DoesNotHold, Holds, NotMeasured, Shifted, Undecided};
        for (machines, expected) in [
            (&[Holds, DoesNotHold][..], Agreement::Contradict),
            (&[DoesNotHold, Undecided, Shifted], Agreement::Contradict),
            (&[Holds, Undecided], Agreement::Differ),
            (&[Holds, Shifted], Agreement::Differ),
            (&[Holds, NotMeasured], Agreement::One(Holds)),
            (&[Holds, Holds, NotMeasured], Agreement::All(Holds)),
            (&[NotMeasured, NotMeasured], Agreement::Nobody),
        ] {
            assert_eq!(Agreement::of(machines.iter().copied()), expected, "{machines:?}");
        }
    }
}
