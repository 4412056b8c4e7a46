//! `tally check`: plans, listings, pages and records agree.

mod records;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self};

use anyhow::{Context, Result, bail};
use clap::Args;
use regex::{Captures, Regex};
use walkdir::WalkDir;

use crate::book::claim::Claim as PlannedClaim;
use crate::book::directive::{self, Directive, all};
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::Plan;
use crate::book::published::Figure;
use crate::cmd::claim::Claim;
use crate::cmd::list::operation;
use crate::cmd::{confirm, limits};
use crate::command_line::{CommandLine, ONLY_PRINTS, Verb};
use crate::print::calculator::Calculator;
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::project::Project;
use crate::record::sources::{self};

/// Whether plans, listings, pages and records agree
#[derive(Args)]
pub struct Check {}

impl Check {
    /// Looks at everything and reports all that is wrong at once.
    pub fn print(&self, view: &View) -> Result<String> {
        let mut wrong = Vec::new();
        let beside = sources::words_beside(&view.project);
        for plan in &view.plans.0 {
            wrong.extend(listings(view, plan, &beside)?);
        }
        wrong.extend(names(view));
        wrong.extend(view.plans.check_quantities());
        wrong.extend(front(view)?);
        wrong.extend(unused(view)?);
        wrong.extend(directives(view)?);
        wrong.extend(typed_figures(view)?);
        wrong.extend(claims(view));
        wrong.extend(captions(view));
        wrong.extend(published(view));
        wrong.extend(calculator(view)?);
        let (records, aged) = records::check(view)?;
        wrong.extend(records);
        if wrong.is_empty() {
            let aged: String = aged.iter().map(|record| format!("  {record}\n")).collect();
            return Ok(format!("plans, listings, pages and records agree\n{aged}"));
        }
        bail!("{} disagreements:\n  {}", wrong.len(), wrong.join("\n  "));
    }
}

/// Every program is in the plan, says what one operation is, and is shown by its chapter.
fn listings(view: &View, plan: &Plan, beside: &HashSet<String>) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let page = fs::read_to_string(view.project.page(&plan.chapter)).unwrap_or_default();
    let folder = view.project.benches().join(&plan.chapter).join("src/bin");
    let listed = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let files = listed.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut programs: Vec<String> = files.filter_map(|file| Some(file.strip_suffix(".rs")?.to_owned())).collect();
    programs.sort();
    let tests = tests_of(&view.project, &plan.chapter);
    wrong.extend(parameters(view, plan, beside)?);
    for program in programs {
        let listing = Project::listing(&plan.chapter, &program);
        let is_tool = plan.tools.iter().any(|tool| tool.name == program);
        if !is_tool && !plan.experiments.iter().any(|experiment| experiment.group(&program).is_some()) {
            wrong.push(format!("benches-src/{listing} is in no experiment of its chapter's plan.toml"));
        }
        if !tests.contains(&format!("CARGO_BIN_EXE_{program}\"")) {
            wrong.push(format!("benches-src/{listing} is run by no test of its chapter"));
        }
        if let Err(error) = operation(&view.project, &plan.chapter, &program) {
            wrong.push(format!("{error:#}"));
        }
        if !page.contains(&format!("{{{{#include ../../benches-src/{listing}}}}}")) {
            wrong.push(format!("book/src/{}.md does not include benches-src/{listing}", plan.chapter));
        }
        if !page.contains(&format!("\n### {program}\n")) {
            wrong.push(format!("book/src/{}.md has no section ### {program}, which tables link to", plan.chapter));
        }
    }
    Ok(wrong)
}

/// The code of a chapter's tests.
fn tests_of(project: &Project, chapter: &str) -> String {
    let files = WalkDir::new(project.benches().join(chapter).join("tests")).into_iter().flatten();
    files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect()
}

/// Every parameter that the plan sets stands in the code of the program that is to take it.
fn parameters(view: &View, plan: &Plan, beside: &HashSet<String>) -> Result<Vec<String>> {
    let (mut wrong, mut words) = (BTreeSet::new(), BTreeMap::new());
    let is_named = |own: &HashSet<String>, name: &str| own.contains(name) || beside.contains(name);
    for experiment in &plan.experiments {
        for cell in experiment.full_cells()? {
            let program = &cell.program;
            if !words.contains_key(program) {
                words.insert(program.clone(), sources::words(&view.project, &plan.chapter, program)?);
            }
            for name in cell.parameters.keys().filter(|name| !is_named(&words[program], name)) {
                let of = &experiment.name;
                wrong.insert(format!(
                    "benches-src/{}/plan.toml: {program} has no parameter {name}, which {of} sets",
                    plan.chapter
                ));
            }
        }
    }
    Ok(wrong.into_iter().collect())
}

/// Names are anchors on pages: an experiment's is that of no other experiment and of no program.
fn names(view: &View) -> Vec<String> {
    let mut taken: BTreeSet<&str> =
        view.plans.experiments().flat_map(|(_, experiment)| experiment.programs()).collect();
    let twice = view.plans.experiments().filter(|(_, experiment)| !taken.insert(&experiment.name));
    let say = |(plan, experiment): (&Plan, &Experiment)| {
        let (chapter, name) = (&plan.chapter, &experiment.name);
        format!(
            "benches-src/{chapter}/plan.toml: the name {name:?} belongs to a program or to another experiment already"
        )
    };
    twice.map(say).collect()
}

/// Every directive is a command line that tally understands, about things that exist; what is an anchor stands once on a page.
fn directives(view: &View) -> Result<Vec<String>> {
    let commands = view.project.commands()?;
    let mut wrong = Vec::new();
    for (page, text) in pages(view)? {
        let mut anchors = BTreeSet::new();
        let mut say = |line: usize, what: String| wrong.push(format!("book/src/{page}, line {line}: {what}"));
        for found in directive::all(&text) {
            let Directive { line, command, .. } = match found {
                Ok(directive) => directive,
                Err((line, reason)) => {
                    say(line, reason);
                    continue;
                }
            };
            let is_anchor =
                ["tally claim ", "tally table ", "tally chart "].iter().any(|verb| command.starts_with(verb));
            if is_anchor && !anchors.insert(command.clone()) {
                say(line, format!("{command}: stands on this page already"));
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

/// No page has a time, a share or a factor typed by hand: a number with its unit comes from a record, or stands in quotation marks with its
/// source.
fn typed_figures(view: &View) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (path, text) in pages(view)? {
        wrong.extend(typed(&text)?.into_iter().map(|(line, what)| format!("book/src/{path}, line {line}: {what}")));
    }
    Ok(wrong)
}

/// What is wrong in a page's text, each with its line. Sizes may be typed: in this book they are settings, such as how long a message is. So
/// may be the 95 % of every interval, and shares that are tolerances, which stand after "within" or "±".
fn typed(text: &str) -> Result<Vec<(usize, String)>> {
    let code = Regex::new(r"(?ms)^```.*?^```|<!--.*?-->")?;
    let quoted = Regex::new(r#""[^"]*"|`[^`]*`|\b95 ?%|(within\s+|±)[0-9.]+ ?%"#)?;
    let figure = Regex::new(r"[0-9][0-9.,]*( ?(ns|µs|us|ms)\b| (s|times)\b| ?%)")?;
    // What is left out leaves its lines, so that those after it keep their numbers.
    let lines_of = |found: &Captures| "\n".repeat(found[0].matches('\n').count());
    let (mut wrong, mut line) = (Vec::new(), 1);
    // A quotation that is never closed would hide what follows it, and show what is quoted after it.
    for paragraph in code.replace_all(text, lines_of).split("\n\n") {
        let prose = quoted.replace_all(paragraph, lines_of);
        if prose.contains('"') {
            wrong.push((line, "a quotation mark has no second one in its paragraph".to_owned()));
        }
        for (number, words) in prose.lines().enumerate() {
            wrong.extend(
                figure.find(words).map(|found| (line + number, format!("{:?} is typed by hand", found.as_str()))),
            );
        }
        line += paragraph.matches('\n').count() + 2;
    }
    Ok(wrong)
}

/// Every sentence of the front page can be filled in, whatever is so, and stands on some page.
fn front(view: &View) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for text in view.front.expressions() {
        let expression = Expression::parse(&text)?;
        if !expression.leaves().is_empty()
            && let Err(error) = view.plans.ask(expression, None)
        {
            wrong.push(format!("benches-src/takeaways.toml: {text:?}: {error:#}"));
        }
    }
    let pages: String = pages(view)?.into_iter().map(|(_, text)| text).collect();
    let shown: BTreeSet<&str> = pages
        .split("cmdrun tally takeaway ")
        .skip(1)
        .flat_map(|rest| rest.split(" -->").next())
        .flat_map(str::split_whitespace)
        .collect();
    let caption: BTreeSet<&str> =
        pages.split("--caption ").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    for takeaway in &view.front.takeaways {
        let id = takeaway.id.as_str();
        if !shown.contains(id) && !caption.contains(id) {
            wrong.push(format!("benches-src/takeaways.toml: no page shows the takeaway {id}"));
        }
    }
    Ok(wrong)
}

/// A quantity that nothing says the name of, a claim or an experiment that no page shows, and a picture without its narrow form.
fn unused(view: &View) -> Result<Vec<String>> {
    let pages: String = pages(view)?.into_iter().map(|(_, text)| text).collect();
    let mut texts: Vec<String> = all(&pages).into_iter().flatten().map(|directive| directive.command).collect();
    texts.extend(view.front.expressions());
    for plan in &view.plans.0 {
        texts.extend(plan.quantities.iter().map(|quantity| quantity.formula.clone()));
        texts.extend(plan.experiments.iter().flat_map(|experiment| experiment.captions.values().cloned()));
        let parts = plan.claims.iter().flat_map(|claim| &claim.parts);
        texts.extend(parts.flat_map(|part| [Some(part.quantity.clone()), part.beside.clone()]).flatten());
        texts.extend(plan.claims.iter().flat_map(|claim| claim.conclusion.sentences()));
    }
    if let Ok(calculator) = Calculator::load(&view.project) {
        let options = calculator.inputs.into_iter().flat_map(|input| input.options);
        texts.extend(options.flat_map(|option| [option.thread, option.task]));
    }
    let words: BTreeSet<&str> =
        texts.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')).collect();
    let mut wrong = Vec::new();
    for quantity in view.plans.quantities().filter(|quantity| !words.contains(quantity.name.as_str())) {
        wrong.push(format!("quantity {}: nothing says its name", quantity.name));
    }
    for (plan, claim) in view.plans.claims() {
        let confirms = confirm::is_of_tools(claim) && pages.contains("cmdrun tally confirm -->");
        if !confirms && !pages.contains(&format!("cmdrun tally claim {} -->", claim.id)) {
            wrong.push(format!("benches-src/{}/plan.toml: no page shows the claim {}", plan.chapter, claim.id));
        }
    }
    for (plan, experiment) in view.plans.experiments() {
        let name = &experiment.name;
        let is_shown = |verb: &str| {
            pages.contains(&format!("cmdrun tally {verb} {name} "))
                || texts.iter().any(|text| text == &format!("tally {verb} {name}"))
        };
        if !["table", "chart", "limits"].iter().any(|verb| is_shown(verb))
            && !pages.contains(&format!("--experiment {name} "))
        {
            wrong.push(format!("benches-src/{}/plan.toml: no page shows the experiment {name}", plan.chapter));
        }
    }
    let charts = fs::read_dir(view.project.charts()).into_iter().flatten().flatten();
    let files: BTreeSet<String> = charts.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    for shape in files.iter().filter_map(|file| file.strip_suffix(".vl.json")) {
        // The calculator has sliders above it, and a width that it is told.
        let is_whole =
            shape.ends_with("-narrow") || shape == "calculator" || files.contains(&format!("{shape}-narrow.vl.json"));
        if !is_whole {
            wrong.push(format!("book/charts/{shape}-narrow.vl.json is missing: a picture has a form for phones too"));
        }
    }
    Ok(wrong)
}

/// Every Markdown page: its path from the book's source on, and its text.
fn pages(view: &View) -> Result<Vec<(String, String)>> {
    let (folder, generated) = (view.project.pages(), view.project.generated());
    let mut pages = Vec::new();
    for entry in WalkDir::new(&folder).sort_by_file_name().into_iter().filter_entry(|entry| entry.path() != generated) {
        let path = entry?.into_path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            pages.push((name, fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?));
        }
    }
    Ok(pages)
}

fn directive_is_known(view: &View, command: &str) -> Result<()> {
    match CommandLine::of_directive(command)? {
        Verb::Value(value) => value.asked(&view.plans).map(drop),
        Verb::Table(table) => view.plans.experiment(&table.experiment).map(drop),
        Verb::Chart(chart) => chart.is_planned(view),
        Verb::Claim(claim) => claim.id.map_or(Ok(()), |id| view.plans.claim(&id).map(drop)),
        Verb::Confirm(_) | Verb::Score(_) | Verb::Which(_) | Verb::Between(_) => Ok(()),
        Verb::Takeaway(takeaway) => takeaway.ids.iter().try_for_each(|id| view.front.takeaway(id).map(drop)),
        Verb::Ladder(ladder) => view.front.takeaway(&ladder.caption).map(drop),
        Verb::Calculator(_) => Calculator::load(&view.project).map(drop),
        Verb::Limits(_) => limits::is_known(view),
        Verb::List(list) => match (list.program, list.prediction) {
            (Some(program), _) => view.plans.chapter_of(&program).map(drop),
            (_, Some(experiment)) => view.plans.experiment(&experiment).map(drop),
            (None, None) => Ok(()),
        },
        _ => bail!(ONLY_PRINTS),
    }
}

/// Every claim can be judged and, whatever the verdict elsewhere, concluded.
fn claims(view: &View) -> Vec<String> {
    let check = |claim: &PlannedClaim| -> Result<()> {
        Claim { id: Some(claim.id.clone()), line: false, machines: false }.print(view, Form::Text)?;
        let (_, experiment) = view.plans.experiment(&claim.experiment)?;
        for sentence in claim.conclusion.sentences() {
            render::fill(view, experiment, &sentence, Form::Text).with_context(|| format!("{sentence:?}"))?;
        }
        Ok(())
    };
    let wrong = |claim: &PlannedClaim| Some(format!("claim {}: {:#}", claim.id, check(claim).err()?));
    view.plans.claims().filter_map(|(_, claim)| wrong(claim)).collect()
}

/// Every caption can be filled in.
fn captions(view: &View) -> Vec<String> {
    let wrong = |(_, experiment): (&Plan, &Experiment)| {
        let error = |text: &String| render::fill(view, experiment, text, Form::Text).err();
        let errors = experiment.captions.values().filter_map(error);
        errors.map(|error| format!("a caption of {}: {error:#}", experiment.name)).collect::<Vec<_>>()
    };
    view.plans.experiments().flat_map(wrong).collect()
}

fn published(view: &View) -> Vec<String> {
    let stands_beside_a_cell = |figure: &Figure, text: &str| -> Result<()> {
        for (_, experiment) in view.plans.experiments() {
            for cell in experiment.full_cells()? {
                if figure.stands_beside(&cell)? {
                    return Ok(());
                }
            }
        }
        bail!("every cell like {text} has parameters that it does not say")
    };
    let check = |(_, figure): (_, &Figure)| {
        let error = stands_beside_a_cell(figure, figure.beside.as_ref()?).err()?;
        Some(format!("published figure {}: {error:#}", figure.id))
    };
    view.published.figures().filter_map(check).collect()
}

/// What the calculator takes is measured, and what it computes can be computed.
fn calculator(view: &View) -> Result<Vec<String>> {
    let Some(path) = view.project.calculator()? else { return Ok(Vec::new()) };
    let place = path.strip_prefix(view.project.root()).unwrap_or(&path).display();
    Ok(match Calculator::load(&view.project) {
        Ok(calculator) => calculator.wrong(view).into_iter().map(|wrong| format!("{place}: {wrong}")).collect(),
        Err(error) => vec![format!("{error:#}")],
    })
}

#[cfg(test)]
mod tests;
