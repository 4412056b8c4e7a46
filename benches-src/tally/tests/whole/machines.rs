//! Figures of several machines, through the real executable: what they say of machines that differ,
//! and of those that lack a number.

use std::fs;

use crate::support::{Fake, PLAN, fail, observation, plan_with_another, succeed};

const FIGURES: &str = r#"
[[rung]]
label = "take a <step>"
detail = "free"
ratio = "slow-over-even"
right = "slow-step"
left = "even-step"

[[scatter]]
name = "prices"
what = "A slow <step> beside a fast one"
x = { label = "a fast step", quantity = "fast-step" }
y = { series = "thread", label = "a slow step", quantity = "slow-step" }
control = { series = "baseline", label = "an even step", quantity = "even-step" }
columns = [{ label = "times an even one", quantity = "slow-over-even" }]
facts = ["kernel"]
"#;

const PAGE: &str = "# Chapter\n\n<!-- cmdrun tally figure prices -->\n";

/// A project without any record.
fn unmeasured() -> Fake {
    let entry = "even = { label = \"even\", series = \"task\", defaults = { size = 3 } }\n\n=== experiments/pair.toml";
    let even = "[[cells]]\nprograms = [\"even\"]\nquick = { placement = \"free\" }\n\n=== claims/T1.toml";
    let plan = PLAN.replacen("\n=== experiments/pair.toml", entry, 1).replacen("=== claims/T1.toml", even, 1);
    let fake = Fake::with_plan(&plan);
    let quantity = |name: &str, unit: &str, formula: &str| {
        format!("[[quantity]]\nname = \"{name}\"\nexperiment = \"pair\"\nunit = \"{unit}\"\nformula = \"{formula}\"\n")
    };
    let quantities = [
        quantity("fast-step", "ns", "fast[free]"),
        quantity("slow-step", "ns", "slow[free]"),
        quantity("even-step", "ns", "even[free]"),
        quantity("slow-over-even", "ratio", "slow[free] / even[free]"),
    ];
    fake.write(
        "benches-src/chapter/src/bin/even.rs",
        "//! One operation: an even step.\n\nfn run(laps: Laps) {\n    for () in laps {}\n}\n",
    );
    fake.write("benches-src/chapter/quantities.toml", &quantities.concat());
    fake.write("benches-src/chapter/takeaways.toml", FIGURES);
    fake.write("book/src/chapter.md", PAGE);
    let charts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/charts");
    for file in ["draw.mjs", "config.json", "package-lock.json", "scatter.vl.json", "scatter-narrow.patch.json"] {
        fake.write(&format!("book/charts/{file}"), &fs::read_to_string(format!("{charts}/{file}")).unwrap());
    }
    fake
}

/// The record of a machine on which a fast, a slow and an even step take so many nanoseconds.
fn machine(fake: &Fake, name: &str, [fast, slow, even]: [u64; 3]) {
    for (program, ns) in [("fast", fast), ("slow", slow), ("even", even)] {
        fake.program(program, &observation(program, ns));
    }
    succeed(fake.measure(&["--again"]));
    fake.contribute(name, &fake.record());
}

/// Two machines, of which the second charges four times as much.
fn two() -> Fake {
    let fake = unmeasured();
    machine(&fake, "cheap", [1000, 3000, 500]);
    machine(&fake, "dear", [4000, 12000, 500]);
    fs::remove_dir_all(fake.path("data/local")).unwrap();
    fake
}

#[test]
fn what_follows_and_what_stays_is_said_of_all_machines() {
    let fake = two();
    let said = fake.print(&["figure", "prices", "--finding", "--machine", "dear"]);
    let known = "A fast step costs 1.00 µs on cheap and 4.00 µs on dear. A slow step follows, at 3.0 times that; an \
                 even step differs by \
                 1.0× at most.\n";
    assert_eq!(said, known);
    // Of a machine on which the slow step is no slower, that cannot be said.
    machine(&fake, "third", [8000, 3000, 4000]);
    let said = fake.print(&["figure", "prices", "--finding", "--machine", "dear"]);
    assert!(said.contains("A slow step does not follow: it costs 0.4–3.0 times that"), "{said}");
    assert!(said.contains("an even step differs by 8.0× at most, which is no small part of it"), "{said}");
}

#[test]
fn a_page_shows_every_machine_and_says_which_lack_a_number() {
    let fake = two();
    // What other programs took is no answer; and nothing is measured here yet.
    let record = fake.unpacked("dear");
    fake.contribute("stale", &record.replacen("chapter/src/bin/slow.rs", "chapter/src/bin/gone.rs", 1));
    let page = fake.print(&["figure", "prices", "--form", "page"]);
    for part in [
        "<figure class=\"figure\" id=\"prices\" data-chart=\"prices\" data-live=\"generated/local/prices.live.js\">",
        "<p class=\"finding\">A fast step costs 1.00 µs on cheap",
        "<span class=\"key thread\">a slow step</span>",
        "A slow &#60;step&#62; beside a fast one. No dot: this machine (not measured), stale (a slow step: stale).",
        "<code class=\"command\">cargo tally figure prices</code>",
        "Machines: cheap, dear; measured ",
        "<th scope=\"col\">times an even one</th>",
        "<strong>no chart</strong>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("\n\n"), "{page}");
    let csv = fake.read("book/src/generated/local/prices.csv");
    assert!(csv.starts_with("machine,a_fast_step,a_fast_step_low,a_fast_step_high,a_slow_step,"), "{csv}");
    assert!(csv.contains("\ncheap,1000,1000,1000,3000,3000,3000,3,"), "{csv}");
    assert!(csv.lines().any(|line| line.starts_with("cheap,") && line.contains(",500,500,500,6,6,6,")), "{csv}");
    assert!(
        csv.lines().any(|line| line.starts_with("stale,4000,4000,4000,,") && line.contains("stale: by programs")),
        "{csv}"
    );
}

#[test]
fn no_machine_and_a_single_one_are_said_as_such() {
    let fake = unmeasured();
    let finding = |machine: &str| fake.print(&["figure", "prices", "--finding", "--machine", machine]);
    assert_eq!(finding("local"), "No machine has every number of this figure yet.\n");
    assert!(fake.print(&["figure", "prices", "--form", "page"]).contains("none of its rows is measured"));
    machine(&fake, "cheap", [1000, 3000, 500]);
    fs::remove_dir_all(fake.path("data/local")).unwrap();
    assert!(finding("cheap").starts_with("Only cheap has every number yet: a fast step costs 1.00 µs"));
}

#[test]
fn two_machines_can_be_compared_by_name() {
    let fake = two();
    let said = fake.print(&["different", "--machine", "dear", "--beside", "cheap"]);
    assert!(
        said.contains("take a <step> (free): a thread: 12.0 µs [12.0–12.0], there 3.00 µs [3.00–3.00], 4.00 times\n"),
        "{said}"
    );
    let page = fake.print(&["different", "--machine", "dear", "--beside", "cheap", "--form", "page"]);
    assert!(page.contains("differ for sure from those of cheap"), "{page}");
    for (beside, reason) in
        [("dear", "dear is the machine that is shown; name another one"), ("nowhere", "unknown machine \"nowhere\"")]
    {
        let said = fail(fake.tally(&["different", "--machine", "dear", "--beside", beside]));
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn mistakes_are_found() {
    for (from, to, reason) in [
        ("quantity = \"fast-step\"", "quantity = \"fast-ste\"", "did you mean fast-step?"),
        ("quantity = \"even-step\"", "quantity = \"slow-over-even\"", "slow-over-even is no time: its unit is ratio"),
        ("quantity = \"even-step\"", "quantity = \"even[free]\"", "\"even[free]\" is no quantity with a name"),
        ("quantity = \"slow-over-even\"", "quantity = \"slow[free]\"", "\"slow[free]\" is no quantity with a name"),
        ("name = \"prices\"", "name = \"Prices\"", "is no name for a scatter"),
        ("name = \"prices\"", "name = \"price\"", "unknown figure \"prices\"; did you mean price?"),
        ("series = \"thread\"", "series = \"threads\"", "unknown variant `threads`"),
    ] {
        let fake = unmeasured();
        let changed = FIGURES.replacen(from, to, 1);
        assert_ne!(changed, FIGURES, "{from}");
        fake.write("benches-src/chapter/takeaways.toml", &changed);
        let said = fail(fake.tally(&["check"]));
        assert!(said.contains(reason), "{reason}: {said}");
    }
    let fake = unmeasured();
    fake.write(
        "book/src/more.md",
        "# More\n\n<!-- cmdrun tally figure prices -->\n\n<!-- cmdrun tally figure prices --finding -->\n",
    );
    let said = fail(fake.tally(&["check"]));
    assert!(said.contains("more.md, line 3: tally figure prices: stands on book/src/chapter.md already"), "{said}");
    assert!(!said.contains("more.md, line 5"), "{said}");
}

#[test]
fn a_machine_that_is_the_readers_by_its_description_counts_where_the_reader_has_no_answer() {
    let fake = Fake::with_plan(&plan_with_another("second"));
    for (program, ns) in [("fast", 1000), ("slow", 2000)] {
        fake.program(program, &observation(program, ns));
    }
    succeed(fake.measure(&[]));
    fake.contribute("same", &fake.record());
    fake.contribute("other", &fake.record().replacen("\"CPU\":\"", "\"CPU\":\"Another ", 1));
    let counted = || {
        let by_machines = fake.print(&["claim", "--machines", "--form", "page"]);
        assert!(
            by_machines.contains("<li><strong>holds</strong> on every machine that measured it: "),
            "{by_machines}"
        );
        fake.print(&["claim", "T1"])
    };
    assert!(counted().contains(" on 2 of 2 machines"), "here and on the other: {}", counted());
    fs::remove_file(fake.path("data/local/chapter/pair.jsonl")).unwrap();
    assert!(counted().contains(" on 2 of 2 machines"), "on the same and on the other: {}", counted());
    let score = fake.print(&["claim", "--score"]);
    assert!(score.contains("1 hold"), "{score}");
}

#[test]
fn a_reader_without_a_dot_leaves_its_place_to_the_machine_of_its_description() {
    let fake = unmeasured();
    machine(&fake, "same", [1000, 3000, 500]);
    fake.contribute("other", &fake.record().replacen("\"CPU\":\"", "\"CPU\":\"Another ", 1));
    let rows = || fake.print(&["figure", "prices"]).lines().map(str::trim).map(str::to_owned).collect::<Vec<_>>();
    let is_shown = |name: &str| rows().contains(&name.to_owned());
    assert!(is_shown("this machine") && is_shown("other") && !is_shown("same"), "{:?}", rows());
    let unavailable = r#"echo '{"program":"chapter/even","parameters":{"size":3},"placement":"free","samples":[],"unavailable":{"elapsed":"none"}}'"#;
    fake.program("even", unavailable);
    succeed(fake.measure(&["--again"]));
    assert!(is_shown("this machine") && is_shown("other") && is_shown("same"), "{:?}", rows());
    let page = fake.print(&["figure", "prices", "--form", "page"]);
    assert!(page.contains("No dot: this machine (an even step: unavailable)."), "{page}");
}
