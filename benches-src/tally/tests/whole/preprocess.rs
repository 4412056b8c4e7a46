//! The preprocessors, spoken to as mdBook 0.5 does.

use std::process::{Command, Output};

use crate::support::{self, Fake, fail, preprocess, succeed};
use mdbook_preprocessor::book::{Book, BookItem};
use serde_json::{Value, json};

/// The chapter as it came back.
fn content(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let book: Book = serde_json::from_slice(&output.stdout).unwrap();
    match book.iter().next() {
        Some(BookItem::Chapter(chapter)) => chapter.content.clone(),
        other => panic!("{other:?}"),
    }
}

fn errors(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn supports(fake: &Fake, renderer: &str) -> Command {
    fake.tally(&["preprocess", "cmdrun", "supports", renderer])
}

#[test]
fn only_html_is_supported() {
    let fake = Fake::new();
    succeed(supports(&fake, "html"));
    fail(supports(&fake, "epub"));
}

#[test]
fn measures_then_expands_and_measures_nothing_when_only_prose_changes() {
    let fake = Fake::new();
    let page = "A slow step takes <!-- cmdrun tally value \"slow[free]\" --> here.\n\n<!-- cmdrun tally table pair \
                -->\n\nEnd.\n";
    let settings = json!({ "effort": "quick", "show": "local" });
    assert_eq!(content(&preprocess(&fake, "measure", settings.clone(), page)), page, "measuring prints no page");
    let record = fake.record();
    let expanded = content(&preprocess(&fake, "cmdrun", settings.clone(), page));
    assert!(expanded.starts_with("A slow step takes <a class=\"value\""), "{expanded}");
    assert!(expanded.contains(">2.00 µs</a>") && expanded.contains("here.\n\n<details"), "{expanded}");
    assert!(expanded.contains("<table>") && expanded.ends_with("End.\n"));

    preprocess(&fake, "measure", settings, "other prose");
    assert_eq!(fake.record(), record);
}

#[test]
fn with_effort_never_nothing_is_measured_and_pages_say_so() {
    let fake = Fake::new();
    let settings = json!({ "effort": "never" });
    content(&preprocess(&fake, "measure", settings.clone(), ""));
    assert!(!fake.path("data/local").exists());
    let page = content(&preprocess(&fake, "cmdrun", settings, "<!-- cmdrun tally table pair -->\n"));
    assert!(page.contains("<strong>not measured</strong>") && page.contains("cargo tally measure pair"), "{page}");
}

#[test]
fn a_directive_that_fails_fails_the_build_and_names_chapter_and_command() {
    let fake = Fake::new();
    let settings = json!({ "effort": "never" });
    for (directive, reason) in [
        ("tally value nobody", "unknown program"),
        ("tally claim C99", "unknown claim"),
        ("tally claim --chips T1 C99", "unknown claim"),
        ("tally dance", "unrecognized subcommand"),
        ("tally measure", "a directive may only print"),
        ("tally value fast --machine a-machine", "a page has one machine"),
        ("date", "book.toml lists"),
        ("false", "add `--features cmdrun`"),
    ] {
        fake.write("book.toml", "[preprocessor.cmdrun]\ncommands = [\"false\"]\n");
        let page = format!("\nText <!-- cmdrun {directive} --> text.\n");
        let said = errors(&preprocess(&fake, "cmdrun", settings.clone(), &page));
        assert!(said.contains("chapter.md, line 2: ") && said.contains(directive) && said.contains(reason), "{said}");
    }
}

#[test]
fn settings_with_mistakes_are_refused() {
    let fake = Fake::new();
    let refused = |settings: Value| errors(&preprocess(&fake, "measure", settings, ""));
    assert!(refused(json!({ "effort": "heroic" })).contains("unknown effort \"heroic\""));
    assert!(refused(json!({ "show": "moon" })).contains("unknown machine \"moon\""));
}

#[test]
fn a_setting_of_the_environment_that_is_wrong_names_its_variable() {
    let fake = Fake::new();
    // mdBook has read the variable by then, as JSON where it is some.
    let refused = |variable: Option<&str>, settings: Value| {
        let mut command = fake.tally(&["preprocess", "measure"]);
        command.envs(variable.map(|name| (name, "whatever")));
        errors(&support::hand_over(command, &support::book(&fake, settings, "")))
    };
    for (name, settings, said) in [
        (
            "MDBOOK_PREPROCESSOR__MEASURE__PUSH_LIMITS",
            json!({ "push-limits": 1 }),
            "push-limits = 1: invalid type: integer `1`",
        ),
        ("MDBOOK_PREPROCESSOR__MEASURE__EFFORT", json!({ "effort": 7 }), "effort = 7: invalid type: integer `7`"),
        ("MDBOOK_PREPROCESSOR__MEASURE__EFFORT", json!({ "effort": "heroic" }), "unknown effort \"heroic\""),
        ("MDBOOK_PREPROCESSOR__MEASURE__SHOW", json!({ "show": "moon" }), "unknown machine \"moon\""),
        ("MDBOOK_preprocessor__MEASURE", json!({ "show": false }), "show = false: invalid type: boolean `false`"),
    ] {
        let of_variable = refused(Some(name), settings.clone());
        assert!(
            of_variable.contains(said) && of_variable.contains(&format!("in the variable {name}")),
            "{of_variable}"
        );
        assert!(!of_variable.contains("book.toml"), "{of_variable}");
        for variable in [None, Some("MDBOOK_PREPROCESSOR__CMDRUN__ADDRESS")] {
            let of_file = refused(variable, settings.clone());
            assert!(of_file.contains(said) && of_file.contains("in [preprocessor.measure] of book.toml"), "{of_file}");
        }
    }
}

#[test]
fn an_older_mdbook_is_told_which_one_is_needed_and_how_to_get_it() {
    let fake = Fake::new();
    let handed_over = |input: &str| {
        let output = support::hand_over(fake.tally(&["preprocess", "cmdrun"]), input);
        assert!(!output.status.success());
        errors(&output)
    };
    let cure = "this book needs mdBook 0.5.4; run: cargo install --locked mdbook@0.5.4";
    let older = json!([
        { "root": fake.root(), "config": { "book": { "src": "book/src" } }, "renderer": "html", "mdbook_version": "0.4.52" },
        { "sections": [], "__non_exhaustive": null },
    ]);
    let said = handed_over(&older.to_string());
    assert!(said.contains("it is of mdBook 0.4.52") && said.contains(cure), "{said}");
    let said = handed_over("");
    assert!(said.contains("it names no version") && said.contains(cure), "{said}");
}

#[test]
fn without_node_a_warning_is_given_and_the_place_of_a_chart_says_so() {
    let fake = Fake::new();
    for file in ["draw.mjs", "config.json", "package-lock.json"] {
        fake.write(&format!("book/charts/{file}"), "{}");
    }
    fake.write("book/charts/dots.vl.json", "{\"data\": {\"name\": \"rows\"}}");
    fake.write("book/charts/dots-narrow.patch.json", "[]");
    succeed(fake.measure(&[]));
    let mut chart = fake.tally(&["chart", "pair", "dots", "--caption", support::CAPTION, "--form", "page"]);
    chart.env("PATH", "/nowhere");
    let output = chart.output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("Node.js 20 or newer was not found"));
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.contains("<strong>no chart</strong>") && page.contains("2.00 µs"), "{page}");
}

#[test]
fn a_build_pushes_a_machine_to_its_limits_only_where_its_settings_say_so() {
    let fake = Fake::with_plan(&support::PLAN.replacen("limit_seconds = 2", "limit_seconds = 2\npush = true", 1));
    preprocess(&fake, "measure", json!({ "effort": "quick" }), "");
    assert!(!fake.path("data/local/chapter/pair.jsonl").exists());
    content(&preprocess(&fake, "measure", json!({ "effort": "quick", "push-limits": true }), ""));
    assert!(fake.path("data/local/chapter/pair.jsonl").exists());
}

#[test]
fn what_was_printed_before_is_printed_again_and_only_while_all_beneath_it_is_the_same() {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    let page = "<!-- cmdrun tally value slow[free] -->, <!-- cmdrun tally table pair -->\n";
    let build = || content(&preprocess(&fake, "cmdrun", json!({}), page));
    let first = build();
    assert!(first.contains("2.00 µs"));
    let kept = fake.path("target/printed/local");
    let written = std::fs::read_to_string(&kept).unwrap();

    // It is looked up, not printed anew: what is kept is believed.
    let other = written.replace(">2.00 µs<", ">2.34 µs<");
    let (_, json) = other.split_once('\n').unwrap();
    std::fs::write(&kept, format!("{}\n{json}", tally::record::checksum::hash(json.as_bytes()))).unwrap();
    assert!(build().contains("2.34 µs"));
    // Unless it was cut off or changed, or belongs to another record, or its files for download are
    // gone.
    for damaged in [&other[..other.len() / 2], &other, ""] {
        std::fs::write(&kept, damaged).unwrap();
        assert_eq!(build(), first);
    }
    std::fs::remove_file(fake.path("book/src/generated/local/chapter/pair.csv")).unwrap();
    assert_eq!(build(), first);
    assert!(fake.path("book/src/generated/local/chapter/pair.csv").exists());
    fake.program("slow", &support::observation("slow", 3000));
    succeed(fake.measure(&["--again"]));
    // As the median over both sessions, or as that of the later one if both began within a second.
    assert_ne!(build(), first, "a record that is another one");
    fake.write("benches-src/chapter/src/bin/slow.rs", "//! One operation: another slow step.\n");
    assert!(build().contains("<strong>stale</strong>"), "a listing that is another one");
}

#[test]
fn a_page_counts_what_a_full_run_would_add_and_not_what_is_measured_only_by_name() {
    let full_only = support::PLAN.replace("quick = { placement = \"free\" }", "full = { placement = \"free\" }");
    let full_only = full_only.replace("full = { placement = \"free\" }\nfull = ", "full = ");
    let shown = |plan: &str| {
        let page = "<!-- cmdrun tally list --shown -->\n";
        content(&preprocess(&Fake::with_plan(plan), "cmdrun", json!({ "effort": "never" }), page))
    };
    assert!(shown(&full_only).contains("A full run adds one experiment to this chapter."), "{}", shown(&full_only));
    assert!(!shown(&full_only.replace("per = \"", "only_named = true\nper = \"")).contains("A full run adds"));
    assert!(!shown(support::PLAN).contains("A full run adds"));
}

#[test]
fn a_page_of_which_the_shown_machine_has_nothing_is_wholly_anothers_and_says_so() {
    let fake = Fake::with_plan(&support::plan_with_another("other"));
    let page = "<!-- cmdrun tally list --shown -->\n\n<!-- cmdrun tally value slow[free] --experiment pair -->\n\n\
                <!-- cmdrun tally table pair -->\n";
    fake.write("book/src/chapter.md", page);
    fake.write("book/src/elsewhere.md", "<!-- cmdrun tally table other -->\n");
    succeed(fake.measure(&[]));
    fake.contribute("has-it", &fake.record());
    fake.contribute("shown", &fake.read("data/local/chapter/other.jsonl"));
    let build = |show: &str| content(&preprocess(&fake, "cmdrun", json!({ "show": show }), page));
    let raw = |machine: &str| fake.path(&format!("book/src/generated/{machine}/chapter/pair.csv")).exists();
    let said = build("shown");
    assert!(
        said.contains("What stands on this page was not measured on shown. The numbers on this page are from has-it: ")
    );
    assert!(said.contains(">2.00 µs<") && said.contains("<table>") && !said.contains("no record"), "{said}");
    assert!(raw("has-it"), "what it stands on can be downloaded");
    // As soon as it has been measured, it is its own.
    fake.add_session("shown", &fake.record());
    let own = build("shown");
    assert!(own.contains("The numbers on this page are from shown: ") && !own.contains("has-it"), "{own}");
    assert!(raw("shown") && !raw("has-it"));
    // A reader's own numbers are waited for.
    std::fs::remove_dir_all(fake.path("data/local")).unwrap();
    assert!(build("local").contains("<strong>not measured</strong>"));
    // Not so if no build would measure them unasked.
    let path = "benches-src/chapter/experiments/pair.toml";
    fake.write(path, &fake.read(path).replacen("per = \"", "only_named = true\nper = \"", 1));
    let said = build("local");
    assert!(
        said.contains(
            "Your machine has not measured the experiments of this page; what else it measured stands on other pages. \
             The numbers"
        ),
        "{said}"
    );
    assert!(said.contains("<code class=\"command\">cargo tally measure pair</code>"), "{said}");
    assert!(said.contains(">2.00 µs<") && !said.contains("<strong>not measured"), "{said}");
}

#[test]
fn a_number_leads_to_its_row_only_where_the_table_has_one() {
    let fake = Fake::with_plan(&support::plan_with_another("other"));
    let page = "<!-- cmdrun tally value slow[free] --experiment pair -->\n\n\
                <!-- cmdrun tally value slow[one-cpu] --experiment pair -->\n\n<!-- cmdrun tally table other -->\n";
    fake.write("book/src/chapter.md", page);
    fake.write("book/src/elsewhere.md", "<!-- cmdrun tally table pair -->\n");
    succeed(fake.measure(&["--effort", "full"]));
    fake.contribute("has-it", &fake.record());
    fake.add_session("has-it", &fake.read("data/local/chapter/other.jsonl"));
    std::fs::remove_dir_all(fake.path("data/local")).unwrap();
    succeed(fake.measure(&["--effort", "quick"]));
    fake.contribute("shown", &fake.record());
    // The page is another machine's, and the table beside it is not.
    let said = content(&preprocess(&fake, "cmdrun", json!({ "show": "shown" }), page));
    for anchor in ["pair-slow-size-3-free", "pair"] {
        assert!(said.contains(&format!("<a class=\"value\" href=\"elsewhere.md#{anchor}\"")), "{said}");
    }
    assert!(!said.contains("#pair-slow-size-3-one-cpu"), "a quick run has no such row: {said}");
}

#[test]
fn builds_side_by_side_print_the_same() {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    let page = "<!-- cmdrun tally table pair -->\n";
    let pages: Vec<String> = std::thread::scope(|scope| {
        let build = || content(&preprocess(&fake, "cmdrun", json!({}), page));
        let builds: Vec<_> = (0..6).map(|_| scope.spawn(build)).collect();
        builds.into_iter().map(|build| build.join().unwrap()).collect()
    });
    assert!(pages.iter().all(|page| page == &pages[0] && page.contains("2.00")));
    assert_eq!(content(&preprocess(&fake, "cmdrun", json!({}), page)), pages[0]);
}
