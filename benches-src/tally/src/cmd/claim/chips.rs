//! `tally claim --chips`: claims as a row of words in their verdicts' colours, each leading to its card.

use anyhow::Result;
use serde_json::json;

use super::verdict_of;
use crate::book::verdict::Verdict;
use crate::print::escape::html;
use crate::print::render::Form;
use crate::print::view::View;

pub fn print(view: &View, ids: &[String], form: Form) -> Result<String> {
    let chips = ids.iter().map(|id| Chip::of(view, id)).collect::<Result<Vec<_>>>()?;
    Ok(match form {
        Form::Text => chips.iter().map(|chip| format!("{:4} {}\n", chip.id, chip.words())).collect(),
        Form::Json => {
            let objects = chips.iter().map(|chip| json!({ "claim": chip.id, "verdict": chip.words() }));
            serde_json::Value::from(objects.collect::<Vec<_>>()).to_string() + "\n"
        }
        Form::Page => {
            let items: String = chips.iter().map(Chip::item).collect();
            format!("<ul class=\"chips\" aria-label=\"Claims of this chapter\">\n{items}</ul>\n")
        }
    })
}

/// A claim with what is said of it.
struct Chip<'a> {
    id: &'a str,
    sentence: &'a str,
    verdict: Verdict,
    is_aged: bool,
    link: String,
}

impl<'a> Chip<'a> {
    fn of(view: &'a View, id: &'a str) -> Result<Self> {
        let (plan, claim) = view.plans.claim(id)?;
        let (verdict, is_aged) = verdict_of(view, plan, claim)?;
        Ok(Self { id, sentence: &claim.sentence, verdict, is_aged, link: view.link(&plan.chapter, id) })
    }

    fn words(&self) -> String {
        self.verdict.words().to_owned() + if self.is_aged { " (stale)" } else { "" }
    }

    fn item(&self) -> String {
        format!(
            "<li class=\"{}\"><a href=\"{}\" title=\"{}\"><strong>{}</strong> {}</a></li>\n",
            self.verdict.class(),
            self.link,
            html(self.sentence),
            html(self.id),
            html(&self.words())
        )
    }
}
