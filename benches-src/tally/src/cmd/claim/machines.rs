//! `tally claim --machines`: the same claims on every machine that has records, and which of them
//! machines disagree about.

use std::collections::BTreeMap;

use anyhow::Result;

use super::counts::{verdict_on, verdicts};
use super::part::JudgedPart;
use super::{Judged, claim_link, many, sentence};
use crate::book::claim::Claim;
use crate::book::plan::Plan;
use crate::book::verdict::Verdict;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::record::freshness::Freshness;

/// A claim, and what it comes to on each machine, in the order of the views.
pub struct Row<'a> {
    pub chapter: &'a Plan,
    pub claim: &'a Claim,
    pub on: Vec<OnMachine>,
    agreement: Agreement,
}

pub struct OnMachine {
    pub verdict: Verdict,
    /// Each part's number, for a person.
    pub numbers: Vec<String>,
    /// Each part's name, and the band in which its number agrees.
    pub agrees: Vec<String>,
    /// The parts, for a script.
    pub parts: serde_json::Value,
    /// How fresh the oldest record beneath it is.
    pub freshness: Freshness,
    /// The verdict of the parts whose records speak of the programs of today.
    pub counted: Verdict,
}

impl OnMachine {
    /// What other listings came to is no answer to the same question.
    pub fn counts(&self) -> bool {
        self.counted != Verdict::NotMeasured
    }

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

/// Prints what all machines say. A column is one machine's; nothing is computed from the numbers of
/// two.
pub fn print(view: &View, form: Form) -> Result<String> {
    let views: Vec<View> = view.machines()?.into_iter().map(|machine| view.of_machine(machine)).collect();
    // All claims on one machine before those on the next, so that its records are read once.
    let mut on_machines = Vec::new();
    for view in &views {
        let claims = view.plans.claims().map(|(chapter, claim)| judged(view, chapter, claim, form));
        on_machines.push(claims.collect::<Result<Vec<_>>>()?.into_iter());
    }
    let row = |(chapter, claim)| {
        let on: Vec<OnMachine> = on_machines.iter_mut().filter_map(Iterator::next).collect();
        Ok(Row { chapter, claim, on, agreement: Agreement::of(verdicts(view, claim)?) })
    };
    let rows: Vec<Row> = view.plans.claims().map(row).collect::<Result<_>>()?;
    match form {
        Form::Page => page(view, &views, &rows),
        Form::Text => Ok(text(&views, &rows)),
        Form::Json => Ok(json(&views, &rows).to_string() + "\n"),
    }
}

fn judged(view: &View, chapter: &Plan, claim: &Claim, form: Form) -> Result<OnMachine> {
    let judged = Judged::new(view, chapter, claim)?;
    let (mut numbers, mut freshness) = (Vec::new(), Freshness::Fresh);
    for part in &judged.parts {
        let marks = || view.marks(&part.asked);
        numbers.push(match (&part.measured, form) {
            (Ok(quantity), Form::Page) => {
                render::in_table(&format::quantity(quantity)) + &render::marks_in_table(&marks()?)
            }
            (Err(missing), Form::Page) => render::boxed_inline(missing),
            (measured, _) => render::in_words(view, &part.asked, measured)?,
        });
        if let Some((_, of_record)) = view.header_on(&view.machine, part.asked.plan, part.asked.experiment)? {
            let of_part = of_record.of(part.asked.programs());
            freshness = if age(&of_part) > age(&freshness) { of_part } else { freshness };
        }
    }
    let band = |part: &JudgedPart| format!("{}; agrees: {}", part.part.name, part.agrees());
    let agrees = judged.parts.iter().map(band).collect();
    let parts = judged.parts_json(view)?;
    let counted = verdict_on(view, &view.machine, claim)?;
    Ok(OnMachine { verdict: judged.verdict(), numbers, agrees, parts, freshness, counted })
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
    let table = if views.len() > many::MOST_COLUMNS {
        many::table(view, views, &differ)?
    } else {
        by_machines(view, views, &differ)?
    };
    let count = differ.len();
    let others = match agreed(view, rows) {
        none if none.is_empty() => none,
        some => format!(
            "<details class=\"more\"><summary>The claims of which all machines say the same</summary>\n{some}\
             </details>\n"
        ),
    };
    Ok(format!(
        "{}<details class=\"numbers\"><summary>Each of these {count} claims, on each machine</summary>\n{table}\
         </details>\n{others}",
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

/// A column for each machine.
fn by_machines(view: &View, views: &[View], differ: &[&Row]) -> Result<String> {
    let mut bodies = String::new();
    for agreement in [Agreement::Contradict, Agreement::Differ] {
        let rows: Vec<&Row> = differ.iter().filter(|row| row.agreement == agreement).copied().collect();
        if let (Some(heading), false) = (agreement.heading(), rows.is_empty()) {
            bodies += &body(view, heading, &rows)?;
        }
    }
    let heads: String = views.iter().map(|of| format!("<th scope=\"col\">{}</th>", machine_link(view, of))).collect();
    let wide = render::wide("Claims on which machines differ");
    Ok(format!(
        "{wide}<table class=\"ledger\" id=\"machines-differ\">\n<caption><span>Claims whose verdict is not the same \
         on all machines: the \
         verdict on each machine, and the number of each part of the claim. <em>Older</em> stands where something \
         beneath the programs has changed since they were measured; \
         <em>stale</em> where the programs have, and such a verdict is not compared. But for the factors \
         by which all intervals are widened, nothing is computed from numbers of two \
         machines.</span></caption>\n<thead><tr><th scope=\"col\">id</th><th scope=\"col\">claim</th>{heads}</tr>\
         </thead>\n{bodies}</table>\n</div>\n"
    ))
}

fn body(view: &View, heading: &str, rows: &[&Row]) -> Result<String> {
    let width = rows.first().map_or(0, |row| row.on.len()) + 2;
    let mut out = format!("<tbody>\n<tr><th colspan=\"{width}\" scope=\"rowgroup\">{heading}</th></tr>\n");
    for row in rows {
        let publication = view.published.publication(&row.claim.source)?;
        let cells: String = row.on.iter().map(cell).collect();
        let (claim, sentence) = (claim_link(view, row.chapter, row.claim), sentence(row.claim, publication));
        let parts: String =
            row.on[0].agrees.iter().map(|part| format!("<br><span class=\"legend\">{}</span>", html(part))).collect();
        out += &format!("<tr><th scope=\"row\">{claim}</th><td>{sentence}{parts}</td>{cells}</tr>\n");
    }
    Ok(out + "</tbody>\n")
}

fn machine_link(view: &View, of: &View) -> String {
    let machine = &of.machine;
    let reference = view.reference_mark(machine);
    format!("<a href=\"machines.md#machine-{}\">{}</a>{reference}", html(machine.slug()), html(machine.name()))
}

fn cell(on: &OnMachine) -> String {
    let quiet = if on.counts() { "" } else { " class=\"not-compared\"" };
    let numbers = if on.verdict == Verdict::NotMeasured { String::new() } else { on.numbers.join("<br>") };
    format!("<td{quiet}><strong>{}</strong><br>{numbers}</td>", html(&on.words()))
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

fn text(views: &[View], rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        out += &format!("{:4} {}\n", row.claim.id, row.claim.sentence);
        out += &row.agreement.heading().map_or(String::new(), |heading| format!("    {heading}:\n"));
        for (view, on) in views.iter().zip(&row.on) {
            out += &format!("    {:32} {:22} {}\n", view.machine.slug(), on.words(), on.numbers.join("; "));
        }
    }
    out
}

fn json(views: &[View], rows: &[Row]) -> serde_json::Value {
    let on = |(view, on): (&View, &OnMachine)| {
        serde_json::json!({
            "machine": view.machine.slug(),
            "verdict": on.verdict.words(),
            "state": on.freshness.word(),
            "parts": on.parts,
        })
    };
    let row = |row: &Row| {
        serde_json::json!({
            "id": row.claim.id,
            "differ": row.agreement.heading().is_some(),
            "machines": views.iter().zip(&row.on).map(on).collect::<Vec<_>>(),
        })
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::freshness::Stale;

    fn agreement(on_each: &[(Verdict, Freshness)]) -> Agreement {
        let on = |(verdict, freshness): &(Verdict, Freshness)| OnMachine {
            verdict: *verdict,
            numbers: Vec::new(),
            agrees: Vec::new(),
            parts: serde_json::Value::Null,
            freshness: freshness.clone(),
            counted: if matches!(freshness, Freshness::Stale(_)) { Verdict::NotMeasured } else { *verdict },
        };
        Agreement::of(on_each.iter().map(on).map(|on| on.counted))
    }

    #[test]
    fn machines_differ_where_what_was_measured_of_the_same_listings_does() {
        let stale = || Freshness::Stale(Stale::default());
        let older = || Freshness::Older(vec!["a compiler".to_owned()]);
        let fresh = || Freshness::Fresh;
        use Verdict::{DoesNotHold, Holds, NotMeasured, Shifted, Undecided};
        for (machines, expected) in [
            (&[(Holds, fresh()), (DoesNotHold, older())][..], Agreement::Contradict),
            (&[(DoesNotHold, fresh()), (Undecided, fresh()), (Shifted, fresh())], Agreement::Contradict),
            (&[(Holds, fresh()), (Undecided, fresh())], Agreement::Differ),
            (&[(Holds, fresh()), (Shifted, fresh())], Agreement::Differ),
            (&[(Holds, fresh()), (DoesNotHold, stale())], Agreement::One(Holds)),
            (&[(Holds, fresh()), (Holds, older()), (NotMeasured, fresh())], Agreement::All(Holds)),
            (&[(NotMeasured, fresh()), (Holds, stale())], Agreement::Nobody),
        ] {
            assert_eq!(agreement(machines), expected, "{machines:?}");
        }
    }
}
