//! `tally claim --chips`: claims as a row of words in their verdicts' colours, each leading to its
//! card.

use anyhow::Result;
use serde_json::json;

use super::counts::Counts;
use super::score::ORDER;
use super::{is_published, verdict_of};
use crate::book::verdict::Verdict;
use crate::cmd::json_array;
use crate::print::escape::html;
use crate::print::render::Form;
use crate::print::view::View;

pub fn print(view: &View, ids: &[String], form: Form) -> Result<String> {
    let chips = ids.iter().map(|id| Chip::of(view, id)).collect::<Result<Vec<_>>>()?;
    Ok(match form {
        Form::Text => {
            chips.iter().map(|chip| format!("{:4} {}\n", chip.id, chip.words(chip.verdict.words()))).collect()
        }
        Form::Json => {
            let machines = |chip: &Chip| chip.counts.as_ref().map(Counts::json);
            json_array(&chips, |chip| {
                let verdict = chip.words(chip.verdict.words());
                json!({ "claim": chip.id, "verdict": verdict, "machines": machines(chip) })
            })
        }
        Form::Page => {
            let (published, own): (Vec<&Chip>, Vec<&Chip>) = chips.iter().partition(|chip| chip.is_published);
            let items: String = published.into_iter().map(Chip::item).collect();
            format!(
                "<ul class=\"chips\" aria-label=\"What others claimed\">\n{items}</ul>\n{}",
                predictions(view, &own)
            )
        }
    })
}

/// How the predictions of a chapter came out, in a line.
fn predictions(view: &View, chips: &[&Chip]) -> String {
    let counts = ORDER.map(|verdict| (chips.iter().filter(|chip| chip.verdict == verdict).count(), verdict));
    let parts = counts.iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, verdict)| format!("{count} {}", verdict.said_of(*count)));
    let parts = parts.collect::<Vec<_>>().join(", ");
    match chips.len() {
        0 => String::new(),
        1 => format!("<p class=\"chips\">Of <a href=\"{}\">our own prediction</a>: {parts}.</p>\n", chips[0].link),
        many => {
            let all = view.way_to("claims.md");
            format!("<p class=\"chips\">Of <a href=\"{all}\">our own {many} predictions</a>: {parts}.</p>\n")
        }
    }
}

/// A claim with what is said of it.
struct Chip<'a> {
    id: &'a str,
    sentence: &'a str,
    verdict: Verdict,
    /// On how many machines, unless only older programs were measured.
    counts: Option<Counts>,
    is_published: bool,
    link: String,
}

/// So much of a sentence is enough to know it by.
const BEGINNING: usize = 34;

impl<'a> Chip<'a> {
    fn of(view: &'a View, id: &'a str) -> Result<Self> {
        let (plan, claim) = view.plans.claim(id)?;
        let (verdict, counts) = verdict_of(view, plan, claim)?;
        let (sentence, is_published) = (claim.sentence.as_str(), is_published(view, claim)?);
        Ok(Self { id, sentence, verdict, counts, is_published, link: view.link(&plan.chapter, id) })
    }

    /// A verdict in words, and on how many machines it is so.
    fn words(&self, verdict: &str) -> String {
        match (&self.counts, self.verdict) {
            (_, Verdict::NotMeasured) | (Some(_), Verdict::Divided) => verdict.to_owned(),
            (None, _) => format!("{verdict} (stale)"),
            // Open in two ways, of which neither is that of half of them.
            (Some(counts), own) if 2 * counts.with(own) < counts.all() => verdict.to_owned(),
            (Some(counts), own) => format!("{verdict} on {} of {}", counts.with(own), counts.all()),
        }
    }

    /// How its sentence begins, in whole words.
    fn beginning(&self) -> String {
        let mut words = String::new();
        for word in self.sentence.split_whitespace() {
            if words.chars().count() + word.chars().count() > BEGINNING {
                return words + " …";
            }
            words = if words.is_empty() { word.to_owned() } else { words + " " + word };
        }
        words
    }

    fn item(&self) -> String {
        format!(
            "<li class=\"{}\"><a href=\"{}\" title=\"{}: {}\">“{}” <strong>{}</strong></a></li>\n",
            self.verdict.class(),
            self.link,
            html(self.id),
            html(self.sentence),
            html(&self.beginning()),
            html(&self.words(self.verdict.said_of(1)))
        )
    }
}
