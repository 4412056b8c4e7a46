//! `tally takeaway --advice`: which to use for what, with the number that decides.

use anyhow::Result;

use crate::book::takeaways::{Advice, Choice};
use crate::cmd::json_array;
use crate::compute::quantity::Missing;
use crate::print::calculator::answers::State;
use crate::print::calculator::numbers::Numbers;
use crate::print::escape::html;
use crate::print::render::{self, Form};
use crate::print::sentences::sentence;
use crate::print::table::{Cell, Table};
use crate::print::takeaways::{self, Among};
use crate::print::view::View;

/// Prints a row for each service.
pub fn print(view: &View, form: Form) -> Result<String> {
    let mut rows = Vec::new();
    for advice in &view.front.advice {
        rows.push(row(view, advice, form)?);
    }
    Ok(match form {
        Form::Page => {
            let heads = ["your service", "here", "agree, sure or not", "because"];
            let mut table = Table::new("Which to use for what", heads).with(" class=\"which\"");
            for Row { service, way, choice, among, because } in &rows {
                let service = html(service);
                let name = way.as_ref().map(|way| format!("<a href=\"{}\">{service}</a>", html(way)));
                let choice = Cell::html(format!("<strong>{choice}</strong>"));
                let cells = [choice, Cell::with(" class=\"among\"", among), Cell::html(because)];
                table.row(name.unwrap_or(service), cells);
            }
            table.page()
        }
        Form::Text => {
            let line =
                |own: &Row| format!("{}: {}, {} machines agree. {}\n", own.service, own.choice, own.among, own.because);
            rows.iter().map(line).collect()
        }
        Form::Json => {
            let object = |own: &Row| {
                let (service, choice) = (own.service, own.choice);
                serde_json::json!({ "service": service, "use": choice, "machines": own.among, "because": own.because })
            };
            json_array(&rows, object)
        }
    })
}

/// What is said of a service.
struct Row<'a> {
    service: &'a str,
    /// The calculator with its numbers in it, where that decides.
    way: Option<String>,
    choice: &'static str,
    /// On how many machines the same is chosen, of how many.
    among: String,
    because: String,
}

fn row<'a>(view: &View, advice: &'a Advice, form: Form) -> Result<Row<'a>> {
    let service = advice.service.as_str();
    let Some(say) = &advice.say else { return by_cases(view, advice, form) };
    let data = view.calculator()?;
    let case = Numbers::read(&data, view, &view.machine)?.worked(data.case(service)?)?;
    let way = format!("{}#{}", view.way_to("would-threads-do.md"), case.address(&data)?);
    let state = takeaways::answered(view, &view.machine, service)?;
    let here = state.unwrap_or(State::Yes);
    // Where nothing was measured here, those count that have an answer.
    let counts = |own: &State| state.is_some() || *own != State::Open;
    let alike = Among::count(view, |machine| {
        Ok(takeaways::answered(view, machine, service)?.filter(counts).map(|own| own.is_like(here)))
    })?;
    let among = match state {
        Some(_) => alike.words(),
        // What was not measured here has an answer elsewhere.
        None if alike.is_contradicted() => format!("tasks: {}", alike.others().words()),
        None => format!("threads: {}", alike.words()),
    };
    let because = said(sentence(view, say, form)?, form);
    Ok(Row { service, way: Some(way), choice: state.map_or("not measured", State::choice), among, because })
}

/// A row that its own cases decide.
fn by_cases<'a>(view: &View, advice: &'a Advice, form: Form) -> Result<Row<'a>> {
    let (choice, among, because) = match takeaways::chosen(view, &advice.cases)? {
        Ok(case) => (
            case.choice.map_or("", Choice::word),
            Among::of(view, &advice.cases, |own| own.choice == case.choice)?.words(),
            sentence(view, &case.say, form)?,
        ),
        Err(missing) => ("not measured", "–".to_owned(), Err(missing)),
    };
    Ok(Row { service: &advice.service, way: None, choice, among, because: said(because, form) })
}

fn said(because: Result<String, Missing>, form: Form) -> String {
    match (because, form) {
        (Ok(said), _) => said,
        (Err(missing), Form::Page) => render::boxed_inline(&missing),
        (Err(missing), _) => missing.to_string(),
    }
}
