//! What pages say: directives, figures typed by hand, sentences of the front page, and what no page
//! shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use anyhow::{Result, bail};
use regex::{Captures, Regex};

use crate::book::directive::{self, Directive, all};
use crate::book::expression::Expression;
use crate::cmd::chart::Chart;
use crate::cmd::{confirm, limits};
use crate::command_line::{CommandLine, ONLY_PRINTS, Verb};
use crate::print::view::View;
use crate::record::private::literal;

/// Every directive is a command line that tally understands, about things that exist. What has one
/// place alone, such as a table and a claim, is at home on one page of the book; another figure may
/// stand on several, but once on each.
pub fn directives(view: &View) -> Result<Vec<String>> {
    let commands = view.project.commands()?;
    let mut wrong = Vec::new();
    let mut anchors: BTreeMap<String, &str> = BTreeMap::new();
    for (page, text) in view.places.pages() {
        let mut say = |line: usize, what: String| wrong.push(format!("book/src/{page}, line {line}: {what}"));
        for found in directive::all(text) {
            let Directive { line, command, .. } = match found {
                Ok(directive) => directive,
                Err((line, reason)) => {
                    say(line, reason);
                    continue;
                }
            };
            let verbs = ["claim", "figure", "table"].map(|verb| format!("tally {verb} "));
            let is_home = verbs.iter().any(|verb| command.starts_with(verb)) && !command.contains("--");
            let key = match chart(&command) {
                Some(chart) => Some(format!("{page}: {}", chart.name())),
                None => is_home.then(|| command.clone()),
            };
            if let Some(first) = key.and_then(|key| anchors.insert(key, page)) {
                say(line, format!("{command}: stands on book/src/{first} already"));
            }
            if !commands.contains(&command)
                && let Err(error) = directive_is_known(view, &command)
            {
                let first = format!("{error:#}");
                say(line, format!("{command}: {}", first.lines().next().unwrap_or_default()));
            }
        }
    }
    Ok(wrong)
}

/// No page has a time, a share or a factor typed by hand: a number with its unit comes from a
/// record, or stands in quotation marks with its source. Nor has the caption of a figure.
pub fn typed_figures(view: &View) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (path, text) in view.places.pages() {
        let mut found = typed(text);
        for Directive { line, command, .. } in directive::all(text).into_iter().flatten() {
            if let Some(Chart { caption: Some(caption), .. }) = chart(&command) {
                found.extend(typed(&caption).into_iter().map(|(_, what)| (line, what)));
            }
        }
        wrong.extend(found.into_iter().map(|(line, what)| format!("book/src/{path}, line {line}: {what}")));
    }
    Ok(wrong)
}

/// What is wrong in a page's text, each with its line. Sizes may be typed: in this book they are
/// settings, such as how long a message is. So may be the 95 % of every interval, and shares that
/// are tolerances, which stand after "within" or "±".
pub(super) fn typed(text: &str) -> Vec<(usize, String)> {
    // What is left out leaves its lines, so that those after it keep their numbers.
    let lines_of = |found: &Captures| "\n".repeat(found[0].matches('\n').count());
    let (mut wrong, mut line) = (Vec::new(), 1);
    // A quotation that is never closed would hide what follows it, and show what is quoted after
    // it.
    for paragraph in CODE.replace_all(text, lines_of).split("\n\n") {
        let prose = QUOTED.replace_all(paragraph, lines_of);
        if prose.contains('"') {
            wrong.push((line, "a quotation mark has no second one in its paragraph".to_owned()));
        }
        for (number, words) in prose.lines().enumerate() {
            wrong.extend(
                FIGURE.find(words).map(|found| (line + number, format!("{:?} is typed by hand", found.as_str()))),
            );
        }
        line += paragraph.matches('\n').count() + 2;
    }
    wrong
}

static CODE: LazyLock<Regex> = LazyLock::new(|| literal(r"(?ms)^```.*?^```|<!--.*?-->"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| literal(r#""[^"]*"|`[^`]*`|\b95 ?%|(within\s+|±)[0-9.]+ ?%"#));
static FIGURE: LazyLock<Regex> = LazyLock::new(|| literal(r"[0-9][0-9.,]*( ?(ns|µs|us|ms)\b| (s|times)\b| ?%)"));

/// Every sentence of a takeaway can be filled in, whatever is so, and stands on some page.
pub fn takeaways(view: &View) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for text in view.front.expressions() {
        let expression = Expression::parse(&text)?;
        if !expression.leaves().is_empty()
            && let Err(error) = view.plans.ask(expression, None)
        {
            wrong.push(format!("takeaways.toml: {text:?}: {error:#}"));
        }
    }
    let shown = shown_takeaways(view);
    for takeaway in view.front.takeaways.iter().filter(|takeaway| !shown.contains(&takeaway.id)) {
        wrong.push(format!("takeaways.toml: no page shows the takeaway {}", takeaway.id));
    }
    for name in view.front.figures() {
        let directive = format!("cmdrun tally figure {name} -->");
        if !view.places.pages().iter().any(|(_, text)| text.contains(&directive)) {
            wrong.push(format!("takeaways.toml: no page shows the figure {name}"));
        }
        if view.plans.experiments().any(|(_, experiment)| experiment.name == name) {
            wrong.push(format!(
                "takeaways.toml: the figure {name} has an experiment's name, and so its anchor; call it otherwise"
            ));
        }
    }
    Ok(wrong)
}

/// The takeaways that pages show: by themselves, or as the title of a figure.
fn shown_takeaways(view: &View) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for (_, text) in view.places.pages() {
        for Directive { command, .. } in directive::all(text).into_iter().flatten() {
            match CommandLine::of_directive(&command) {
                Ok(Verb::Takeaway(takeaway)) => shown.extend(takeaway.ids),
                Ok(Verb::Figure(figure)) => shown.extend([figure.name]),
                Ok(Verb::Chart(chart)) => shown.extend(chart.finding(view).ok().map(|finding| finding.id.clone())),
                _ => {}
            }
        }
    }
    shown
}

/// A quantity that nothing says the name of, a claim or an experiment that no page shows, and a
/// picture without its narrow form.
pub fn unused(view: &View) -> Result<Vec<String>> {
    let pages: String = view.places.pages().iter().map(|(_, text)| text.as_str()).collect();
    let commands: BTreeSet<String> = all(&pages).into_iter().flatten().map(|directive| directive.command).collect();
    let mut texts: Vec<String> = commands.iter().cloned().collect();
    texts.extend(view.front.expressions());
    for plan in &view.plans.all {
        texts.extend(plan.quantities.iter().map(|quantity| quantity.formula.clone()));
        let parts = plan.claims.iter().flat_map(|claim| &claim.parts);
        texts.extend(parts.flat_map(|part| [Some(part.quantity.clone()), part.beside.clone()]).flatten());
        texts.extend(plan.claims.iter().flat_map(|claim| claim.conclusions()));
    }
    if let Ok(calculator) = view.calculator() {
        let options = calculator.inputs.iter().flat_map(|input| &input.options);
        texts.extend(options.flat_map(|option| [option.thread.clone(), option.task.clone()]));
    }
    let words: BTreeSet<&str> =
        texts.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')).collect();
    let mut wrong = Vec::new();
    for quantity in view.plans.quantities().filter(|quantity| !words.contains(quantity.name.as_str())) {
        wrong.push(format!("quantity {}: nothing says its name", quantity.name));
    }
    for (plan, claim) in view.plans.claims() {
        let confirms = confirm::is_of_tools(claim) && commands.contains("tally confirm");
        if !confirms && !commands.contains(&format!("tally claim {}", claim.id)) {
            let place = view.project.place(&view.project.claim(&plan.chapter, &claim.id));
            wrong.push(format!("{place}: no page shows it; a page does by <!-- cmdrun tally claim {} -->", claim.id));
        }
    }
    // What stands after a verb or a flag.
    let pairs = |command| str::split_whitespace(command).zip(str::split_whitespace(command).skip(1));
    let shown: BTreeSet<(&str, &str)> = commands.iter().map(String::as_str).flat_map(pairs).collect();
    for (plan, experiment) in view.plans.experiments() {
        let name = experiment.name.as_str();
        if !["table", "chart", "limits", "--experiment"].iter().any(|word| shown.contains(&(word, name))) {
            let place = view.project.place(&view.project.experiment(&plan.chapter, name));
            wrong.push(format!("{place}: no page shows it; a page does by <!-- cmdrun tally table {name} -->"));
        }
    }
    let charts = fs::read_dir(view.project.charts()).into_iter().flatten().flatten();
    let files: BTreeSet<String> = charts.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    for shape in files.iter().filter_map(|file| file.strip_suffix(".vl.json")) {
        let narrow = format!("{shape}-narrow.patch.json");
        if !files.contains(&narrow) {
            wrong.push(format!("book/charts/{narrow} is missing: a picture has a form for phones too"));
        }
    }
    Ok(wrong)
}

/// The figure that a directive shows, if it shows one.
fn chart(command: &str) -> Option<Chart> {
    // Most directives are others, and to read one takes its time.
    if command.split(' ').find(|word| !word.is_empty() && *word != "tally") != Some("chart") {
        return None;
    }
    match CommandLine::of_directive(command) {
        Ok(Verb::Chart(chart)) => Some(chart),
        _ => None,
    }
}

fn directive_is_known(view: &View, command: &str) -> Result<()> {
    match CommandLine::of_directive(command)? {
        Verb::Value(value) => value.asked(&view.plans).map(drop),
        Verb::Table(table) => view.plans.experiment(&table.experiment).map(drop),
        Verb::Chart(chart) => chart.is_planned(view),
        Verb::Claim(claim) => claim.ids().try_for_each(|id| view.plans.claim(id).map(drop)),
        Verb::Confirm(_) | Verb::Different(_) | Verb::Between(_) => Ok(()),
        Verb::Takeaway(takeaway) => takeaway.ids.iter().try_for_each(|id| view.front.takeaway(id).map(drop)),
        Verb::Figure(figure) => figure.is_known(view),
        Verb::Calculator(_) => view.calculator().map(drop),
        Verb::Limits(_) => limits::is_known(view),
        Verb::Listing(listing) => listing.is_known(view),
        Verb::List(list) => list.prediction.map_or(Ok(()), |own| view.plans.experiment(&own).map(drop)),
        _ => bail!(ONLY_PRINTS),
    }
}
