//! `tally takeaway`: findings in flat sentences, as this machine's numbers choose them.

mod advice;

use anyhow::Result;
use clap::Args;

use crate::book::takeaways::Case;
use crate::cmd::json_array;
use crate::compute::quantity::Missing;
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::print::{sentences, takeaways};

/// A finding, in the sentence that the data choose
#[derive(Args)]
pub struct Takeaway {
    /// Its name; several follow one another. All if none is given
    pub ids: Vec<String>,
    /// Every sentence that could be printed, with this machine's numbers, for a person to read
    #[arg(long)]
    pub variants: bool,
    /// Which to use for what, threads or tasks, with the number that decides
    #[arg(long, conflicts_with_all = ["ids", "variants"])]
    pub advice: bool,
}

impl Takeaway {
    /// Prints it. On a page, what was not measured falls away.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        if self.variants {
            return variants(view);
        }
        if self.advice {
            return advice::print(view, form);
        }
        let all = view.front.takeaways.iter().map(|takeaway| takeaway.id.as_str());
        let ids: Vec<&str> =
            if self.ids.is_empty() { all.collect() } else { self.ids.iter().map(String::as_str).collect() };
        let mut sentences = Vec::new();
        for id in ids {
            sentences.push((id, said(view, &view.front.takeaway(id)?.cases, form)?));
        }
        Ok(match form {
            Form::Page => {
                let (said, missing): (Vec<_>, Vec<_>) =
                    sentences.into_iter().map(|(_, said)| said).partition(Result::is_ok);
                let nothing = said.is_empty().then(|| missing.into_iter().find_map(Result::err)).flatten();
                let words: Vec<String> = said.into_iter().flatten().collect();
                nothing.map_or(words.join(" "), |missing| render::boxed_inline(&missing)) + "\n"
            }
            Form::Text => sentences.iter().map(|(id, said)| format!("{id}: {}\n", plain(said))).collect(),
            Form::Json => {
                let object = |(id, said): &(&str, Result<String, Missing>)| {
                    let says = plain(said);
                    serde_json::json!({ "takeaway": id, "says": says })
                };
                json_array(&sentences, object)
            }
        })
    }
}

/// A sentence; on a page all of it is the reference machine's if a number of it was not measured
/// here.
fn said(view: &View, cases: &[Case], form: Form) -> Result<Result<String, Missing>> {
    let said = takeaways::said(view, cases, form)?;
    let there =
        said.as_ref().err().filter(|_| form == Form::Page).and_then(|missing| Some((missing, view.instead(missing)?)));
    let Some((missing, there)) = there else { return Ok(said) };
    Ok(match takeaways::said(&there, cases, form)? {
        Ok(sentence) => Ok(render::instead(&sentence, missing)),
        Err(_) => said,
    })
}

fn plain(said: &Result<String, Missing>) -> String {
    said.as_ref().map_or_else(|missing| format!("({missing})"), String::clone)
}

fn variants(view: &View) -> Result<String> {
    let mut out = String::new();
    for (of, case) in view.front.cases() {
        let when = if case.when.is_empty() { "otherwise".to_owned() } else { case.when.join(", ") };
        let choice = case.choice.map_or(String::new(), |choice| format!("{}: ", choice.word()));
        out += &format!("{of} ({when})\n    {choice}{}\n", plain(&sentences::sentence(view, &case.say, Form::Text)?));
    }
    Ok(out)
}
