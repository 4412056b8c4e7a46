//! `tally claim --score`: how many of the claims hold, by what machines say.

use anyhow::Result;

use super::{is_published, verdict_of};
use crate::book::verdict::Verdict;
use crate::print::render::{self, Form};
use crate::print::view::View;

/// From what holds to what is not known.
pub const ORDER: [Verdict; 9] = [
    Verdict::Holds,
    Verdict::PartlyChecked,
    Verdict::Shifted,
    Verdict::DoesNotHold,
    Verdict::Divided,
    Verdict::TooClose,
    Verdict::Undecided,
    Verdict::Compared,
    Verdict::NotMeasured,
];

pub fn print(view: &View, predictions: bool, form: Form) -> Result<String> {
    let (mut verdicts, mut stale) = (Vec::new(), 0);
    for (plan, claim) in view.plans.claims() {
        if is_published(view, claim)? != predictions {
            let (verdict, counts) = verdict_of(view, plan, claim)?;
            verdicts.push(verdict);
            stale += usize::from(counts.is_none() && verdict != Verdict::NotMeasured);
        }
    }
    let stale = match stale {
        0 => String::new(),
        _ => format!(" ({stale} of them {})", render::CHANGED_SINCE),
    };
    let all = verdicts.len();
    let count = |verdict| verdicts.iter().filter(|own| **own == verdict).count();
    let what = if predictions { "predictions of this book" } else { "published claims" };
    let by = "judged by half or more of their machines";
    let counts = ORDER.map(|verdict| (verdict, verdict.said_of(count(verdict)), count(verdict)));
    let present = || counts.iter().filter(|(.., count)| *count > 0);
    Ok(match form {
        Form::Page => {
            let meaning = view.way_to("claims.md#what-the-verdicts-mean");
            let length = |(verdict, _, count): &(Verdict, &str, usize)| {
                format!("<span class=\"{}\" style=\"flex-grow: {count}\"></span>", verdict.class())
            };
            let part = |(verdict, words, count): &(Verdict, &str, usize)| {
                let class = verdict.class();
                format!("<li class=\"{class}\"><a href=\"{meaning}\"><strong>{count}</strong> {words}</a></li>\n")
            };
            let (bar, parts) = (present().map(length).collect::<String>(), present().map(part).collect::<String>());
            format!(
                "<p>{all} {what}, {by}{stale}:</p>\n<div class=\"score\" aria-hidden=\"true\">{bar}</div>\n\
                 <ul class=\"score\">\n{parts}</ul>\n"
            )
        }
        Form::Text => {
            let parts: Vec<String> = present().map(|(_, words, count)| format!("{count} {words}")).collect();
            format!("{all} {what}, {by}{stale}: {}\n", parts.join(", "))
        }
        Form::Json => {
            let counts: serde_json::Map<_, _> =
                counts.iter().map(|(verdict, .., count)| (verdict.words().to_owned(), (*count).into())).collect();
            serde_json::json!({ "all": all, "of": what, "verdicts": counts }).to_string() + "\n"
        }
    })
}
