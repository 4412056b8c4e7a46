//! Tools of others beside our programs, with shell scripts for both.

use crate::support::{Fake, PLAN, fail, observation, succeed};

/// The usual plan, with an experiment that only a full run measures and what is expected of it.
fn plan() -> String {
    let experiment = r#"
=== experiments/confirm.toml
question = "Do others measure the same?"
prediction = "Twice."
per = "step"
headline = "slow[free] / fast[free]"
twins = ["fast[free]"]
limit_seconds = 2

[[cells]]
programs = ["fast"]
full = { placement = ["free"], size = [3] }

[[cells]]
programs = ["slow"]
full = { placement = ["free"], size = [3] }
"#;
    let claim = r#"
=== claims/V1.toml
sentence = "Their step is two of ours."
source = "elsewhere"
experiment = "confirm"
holds = "It is: {slow[free] / fast[free]}."
does_not_hold = "It is not: {slow[free] / fast[free]}."
undecided = "Nobody knows."

[[parts]]
name = "theirs over ours"
quantity = "slow[free] / fast[free]"
published = "twice"
about = "published"
within = 1.1
"#;
    [PLAN, experiment, claim].concat()
}

#[test]
fn what_is_full_only_is_measured_when_asked_for_and_never_by_a_page_or_a_quick_run() {
    let fake = Fake::with_plan(&plan());
    succeed(fake.measure(&["--effort", "quick"]));
    let record = fake.path("data/local/chapter/confirm.jsonl");
    assert!(!record.exists(), "a quick run leaves out what is full only");
    let refused = fail(fake.measure(&["confirm"]));
    assert!(refused.contains("experiment confirm is measured in full only; add --effort full"), "{refused}");

    let page = fake.print(&["confirm", "--form", "page"]);
    assert!(page.contains("full only") && page.contains("cargo tally measure confirm &#45;&#45;effort full"), "{page}");
    assert!(!record.exists(), "printing never measures");

    let printed = fake.print(&["confirm", "--programs", "programs"]);
    assert!(printed.contains("V1   holds") && printed.contains("It is: 2.00 [2.00\u{2013}2.00]."), "{printed}");
    let measured = fake.read("data/local/chapter/confirm.jsonl");
    assert!(fake.print(&["confirm", "--form", "page"]).contains("<strong class=\"verdict\">holds</strong>"));

    fake.print(&["confirm", "--programs", "programs"]);
    assert_eq!(fake.read("data/local/chapter/confirm.jsonl"), measured, "what is fresh is not measured again");
}

#[test]
fn a_tool_that_disagrees_or_is_missing_is_said() {
    let fake = Fake::with_plan(&plan());
    fake.program("slow", &observation("slow", 5000));
    let printed = fake.print(&["confirm", "--programs", "programs"]);
    assert!(printed.contains("V1   does not hold") && printed.contains("It is not: 5.00"), "{printed}");

    let missing = r#"echo '{"program":"chapter/slow","parameters":{"size":3},"placement":"free","samples":[],"unavailable":{"elapsed":"slow is not installed; on Debian: apt-get install slow"}}'"#;
    let fake = Fake::with_plan(&plan());
    fake.program("slow", missing);
    let printed = fake.print(&["confirm", "--programs", "programs"]);
    assert!(printed.contains("not measured") && printed.contains("apt-get install slow"), "{printed}");
}
