//! `tally which`: which to use for what, with the number that decides.

use anyhow::Result;
use clap::Args;

use crate::print::across::Among;
use crate::print::escape::html;
use crate::print::render::{self, Form};
use crate::print::takeaways::{self, Advice, Choice};
use crate::print::view::View;

/// Which to use for what, by this machine's numbers
#[derive(Args)]
pub struct Which {}

impl Which {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let mut rows = Vec::new();
        for advice in &view.front.advice {
            rows.push(row(view, advice, form)?);
        }
        Ok(match form {
            Form::Page => {
                let row = |Row { service, choice, among, because }: &Row| {
                    format!(
                        "<tr><th scope=\"row\">{}</th><td><strong>{choice}</strong></td><td>{among}</td><td>{because}</td></tr>\n",
                        html(service)
                    )
                };
                let rows: String = rows.iter().map(row).collect();
                format!(
                    "{}<table class=\"which\">\n<thead><tr><th scope=\"col\">your service</th><th scope=\"col\">here</th>\
                     <th scope=\"col\">so on</th><th scope=\"col\">because, here</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n",
                    render::wide("Which to use for what")
                )
            }
            Form::Text => {
                let line = |own: &Row| {
                    format!("{}: {}, so on {} machines. {}\n", own.service, own.choice, own.among, own.because)
                };
                rows.iter().map(line).collect()
            }
            Form::Json => {
                let object = |own: &Row| serde_json::json!({ "service": own.service, "use": own.choice, "machines": own.among, "because": own.because });
                serde_json::Value::from(rows.iter().map(object).collect::<Vec<_>>()).to_string() + "\n"
            }
        })
    }
}

/// What is said of a service.
struct Row<'a> {
    service: &'a str,
    choice: &'static str,
    /// On how many machines the same is chosen, of how many.
    among: String,
    because: String,
}

fn row<'a>(view: &View, advice: &'a Advice, form: Form) -> Result<Row<'a>> {
    let (choice, among, because) = match takeaways::chosen(view, &advice.cases)? {
        Ok(case) => (
            case.choice.map_or("", Choice::word),
            Among::of(view, &advice.cases, |own| own.choice == case.choice)?.words(),
            takeaways::sentence(view, &case.say, form)?,
        ),
        Err(missing) => ("not measured", "–".to_owned(), Err(missing)),
    };
    let because = match (because, form) {
        (Ok(said), _) => said,
        (Err(missing), Form::Page) => render::boxed_inline(&missing),
        (Err(missing), _) => missing.to_string(),
    };
    Ok(Row { service: &advice.service, choice, among, because })
}
