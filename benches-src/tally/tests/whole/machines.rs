//! Figures of several machines, through the real executable: what they say of machines that differ, and of those that lack a number.

use std::fs;

use crate::support::{Fake, PLAN, fail, observation, succeed};

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
facts = ["kernel"]

[[dearer]]
name = "foretold"
what = "a step"
cost = "fast-step"
beside = "even-step"
within = 1.5

[[dearer.row]]
ratio = "slow-over-even"
pays = "thread"
because = "A slow step is a <fast> one."
"#;

const PAGE: &str = "# Chapter\n\n<!-- cmdrun tally scatter prices -->\n\n<!-- cmdrun tally dearer foretold -->\n";

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
    for file in ["draw.mjs", "config.json", "package-lock.json", "scatter.vl.json", "scatter-narrow.vl.json"] {
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
    let said = fake.print(&["scatter", "prices", "--finding", "--machine", "dear"]);
    let known = "A fast step costs 1.00 µs on cheap and 4.00 µs on dear. A slow step follows, at 3.0 times that; an even step differs by \
                 1.0× at most.\n";
    assert_eq!(said, known);
    // Of a machine on which the slow step is no slower, that cannot be said.
    machine(&fake, "third", [8000, 3000, 4000]);
    let said = fake.print(&["scatter", "prices", "--finding", "--machine", "dear"]);
    assert!(said.contains("A slow step does not follow: it costs 0.4–3.0 times that"), "{said}");
    assert!(said.contains("an even step differs by 8.0× at most, which is no small part of it"), "{said}");
}

#[test]
fn a_page_shows_every_machine_and_says_which_lack_a_number() {
    let fake = two();
    // What other programs took is no answer; and nothing is measured here yet.
    let record = fake.unpacked("dear");
    fake.contribute("stale", &record.replacen("chapter/src/bin/slow.rs", "chapter/src/bin/gone.rs", 1));
    let page = fake.print(&["scatter", "prices", "--form", "page"]);
    for part in [
        "<figure class=\"figure\" id=\"prices\" data-chart=\"prices\" data-live=\"generated/local/prices.live.js\">",
        "<p class=\"finding\">A fast step costs 1.00 µs on cheap",
        "<span class=\"key thread\">a slow step</span>",
        "A slow &#60;step&#62; beside a fast one. No dot: this machine (not measured), stale (a slow step: stale).",
        "<code class=\"command\">cargo tally scatter prices</code>",
        "Machines: cheap, dear; measured ",
        "<strong>no chart</strong>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("\n\n"), "{page}");
    let csv = fake.read("book/src/generated/local/prices.csv");
    assert!(csv.starts_with("machine,a_fast_step,a_fast_step_low,a_fast_step_high,a_slow_step,"), "{csv}");
    assert!(csv.contains("\ncheap,1000,1000,1000,3000,3000,3000,3,"), "{csv}");
    assert!(
        csv.lines().any(|line| line.starts_with("stale,4000,4000,4000,,") && line.contains("stale: by programs")),
        "{csv}"
    );
}

#[test]
fn no_machine_and_a_single_one_are_said_as_such() {
    let fake = unmeasured();
    let finding = |machine: &str| fake.print(&["scatter", "prices", "--finding", "--machine", machine]);
    assert_eq!(finding("local"), "No machine has every number of this figure yet.\n");
    assert!(fake.print(&["scatter", "prices", "--form", "page"]).contains("none of its rows is measured"));
    assert!(
        fake.print(&["dearer", "foretold", "--form", "page"]).contains("No two machines say yet what a step costs.")
    );
    machine(&fake, "cheap", [1000, 3000, 500]);
    fs::remove_dir_all(fake.path("data/local")).unwrap();
    assert!(finding("cheap").starts_with("Only cheap has every number yet: a fast step costs 1.00 µs"));
    assert!(fake.print(&["dearer", "foretold", "--machine", "cheap"]).starts_with("No two machines say yet"));
}

#[test]
fn a_prediction_is_held_against_the_machines() {
    let fake = two();
    let said = fake.print(&["dearer", "foretold", "--machine", "dear"]);
    assert!(said.starts_with("On dear a step is 4.00× as dear as on cheap, beside work that does not contain it. Of one prediction, 1 holds."), "{said}");
    assert!(said.contains("take a <step>: holds. Paid by the thread"), "{said}");
    assert!(said.contains("dear: 24.0 [24.0–24.0]; times that of the cheapest 4.00, foretold 4.00: holds"), "{said}");
    let page = fake.print(&["dearer", "foretold", "--machine", "dear", "--form", "page"]);
    for part in [
        "<div class=\"figure table\" id=\"foretold\">",
        "take a &#60;step&#62; <span class=\"legend\">free</span>",
        "A slow step is a &#60;fast&#62; one.",
        "<strong>holds</strong>",
        "Threads or tasks? foretold. Measured 2",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("\n\n"), "{page}");
    // Had nobody been foretold to pay, it would not hold; nor if the task had.
    for (pays, word) in [("neither", "does not hold"), ("both", "does not hold"), ("task", "does not hold")] {
        fake.write(
            "benches-src/chapter/takeaways.toml",
            &FIGURES.replace("pays = \"thread\"", &format!("pays = \"{pays}\"")),
        );
        let said = fake.print(&["dearer", "foretold", "--machine", "dear"]);
        assert!(
            said.contains(&format!("foretold {}: {word}", if pays == "task" { "0.250" } else { "1.00" })),
            "{said}"
        );
    }
    let csv = fake.read("book/src/generated/dear/foretold.csv");
    assert!(csv.starts_with("rung,pays,machine,ratio,ratio_low,ratio_high,foretold,"), "{csv}");
}

#[test]
fn a_machine_that_is_slower_at_everything_is_foretold_nothing() {
    let fake = unmeasured();
    machine(&fake, "cheap", [1000, 3000, 500]);
    machine(&fake, "slow", [4000, 12000, 2000]);
    let said = fake.print(&["dearer", "foretold", "--machine", "slow"]);
    assert!(said.contains("times that of the cheapest 1.00, foretold 1.00: holds"), "{said}");
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
        ("name = \"prices\"", "name = \"Prices\"", "is no name for a scatter"),
        ("name = \"prices\"", "name = \"price\"", "unknown scatter \"prices\"; did you mean price?"),
        ("name = \"foretold\"", "name = \"untold\"", "no page shows the dearer untold"),
        ("series = \"thread\"", "series = \"threads\"", "unknown variant `threads`"),
        ("pays = \"thread\"", "pays = \"nobody\"", "unknown variant `nobody`"),
        ("within = 1.5", "within = 1.0", "within is a factor above 1"),
        ("within = 1.5", "within = inf", "within is a factor above 1"),
        ("beside = \"even-step\"", "beside = \"slow-over-even\"", "slow-over-even is no time"),
        (
            "\nratio = \"slow-over-even\"\npays",
            "\nratio = \"even-step\"\npays",
            "0 rows are of the rung slow-over-even, and one is to be",
        ),
    ] {
        let fake = unmeasured();
        let changed = FIGURES.replacen(from, to, 1);
        assert_ne!(changed, FIGURES, "{from}");
        fake.write("benches-src/chapter/takeaways.toml", &changed);
        let said = fail(fake.tally(&["check"]));
        assert!(said.contains(reason), "{reason}: {said}");
    }
    let fake = unmeasured();
    let twice = format!("{FIGURES}\n[[dearer.row]]\nratio = \"even-step\"\npays = \"both\"\nbecause = \"It is.\"\n");
    fake.write("benches-src/chapter/takeaways.toml", &twice);
    assert!(fail(fake.tally(&["check"])).contains("even-step is no rung of the ladder"));
    fake.write("benches-src/chapter/takeaways.toml", FIGURES);
    fake.write(
        "book/src/more.md",
        "# More\n\n<!-- cmdrun tally scatter prices -->\n\n<!-- cmdrun tally scatter prices --finding -->\n",
    );
    let said = fail(fake.tally(&["check"]));
    assert!(said.contains("more.md, line 3: tally scatter prices: stands on book/src/chapter.md already"), "{said}");
    assert!(!said.contains("more.md, line 5"), "{said}");
}
