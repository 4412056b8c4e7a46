//! `tally which`: which to use for what, with the number that decides.

use anyhow::Result;
use clap::Args;

use crate::print::escape::html;
use crate::print::render::{self, Form};
use crate::print::takeaways;
use crate::print::view::View;

/// Which to use for what, by this machine's numbers
#[derive(Args)]
pub struct Which {}

impl Which {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let mut rows = Vec::new();
        for advice in &view.front.advice {
            let (choice, because) = match takeaways::chosen(view, &advice.cases)? {
                Ok(case) => {
                    (case.choice.map_or("", takeaways::Choice::word), takeaways::sentence(view, &case.say, form)?)
                }
                Err(missing) => ("not measured", Err(missing)),
            };
            let because = match (because, form) {
                (Ok(said), _) => said,
                (Err(missing), Form::Page) => render::boxed_inline(&missing),
                (Err(missing), _) => missing.to_string(),
            };
            rows.push((advice.service.as_str(), choice, because));
        }
        Ok(match form {
            Form::Page => {
                let row = |(service, choice, because): &(&str, &str, String)| {
                    let service = html(service);
                    format!(
                        "<tr><th scope=\"row\">{service}</th><td><strong>{choice}</strong></td><td>{because}</td></tr>\n"
                    )
                };
                let rows: String = rows.iter().map(row).collect();
                format!(
                    "{}<table class=\"which\">\n<thead><tr><th scope=\"col\">your service</th><th scope=\"col\">here</th>\
                     <th scope=\"col\">because</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n",
                    render::wide("Which to use for what")
                )
            }
            Form::Text => {
                rows.iter().map(|(service, choice, because)| format!("{service}: {choice}. {because}\n")).collect()
            }
            Form::Json => {
                let object = |(service, choice, because): &(&str, &str, String)| serde_json::json!({ "service": service, "use": choice, "because": because });
                serde_json::Value::from(rows.iter().map(object).collect::<Vec<_>>()).to_string() + "\n"
            }
        })
    }
}
