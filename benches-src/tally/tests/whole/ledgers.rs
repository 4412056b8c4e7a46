//! Experiments whose programs report measures instead of times: ledgers read at several counts, and
//! plain results.

use crate::support::{Fake, fail, succeed};

const PLAN: &str = r#"
=== programs.toml
[program]
fast = { label = "fast", series = "task" }
slow = { label = "slow", series = "thread" }

=== experiments/pair.toml
question = "What does one unit hold?"
prediction = "A slow one twice as much."
per = "unit"
measures = ["total_bytes", "reached"]
further_measures = ["stack_bytes", "slab_bytes"]
headline = "slow[free].total_bytes / fast[free].total_bytes"
twins = ["slow[free]"]
limit_seconds = 2

[[parts]]
name = "slow"
whole = "slow[free].total_bytes"
of = [
    { name = "stack", quantity = "slow[free].stack_bytes" },
    { name = "what nobody reads", quantity = "slow[free].slab_bytes" },
]

[[cells]]
programs = ["fast"]
quick = { placement = ["free"], size = [3] }

[[cells]]
programs = ["slow"]
quick = { placement = ["free"], size = [3] }

=== claims/T1.toml
sentence = "Slow holds 4 KiB."
source = "elsewhere"
experiment = "pair"
holds = "It holds {slow[free].total_bytes}."
does_not_hold = "It does not."
undecided = "Nobody knows."

[[parts]]
name = "a slow one"
quantity = "slow[free].total_bytes"
published = "slow-bytes"
about = "published"
"#;

const PUBLISHED: &str = r#"
title = "Elsewhere"
url = "https://example.org/elsewhere"
date = "2020"

[[figure]]
id = "slow-bytes"
value = 4096
unit = "b"
label = "2020"
machine = "a laptop"
"#;

/// A program that holds 100, 200 and so on to 800 units of so many bytes, over a thousand that it
/// holds anyway.
fn holds(program: &str, bytes: u64) -> String {
    holds_at(program, bytes, 8)
}

/// The same at so many counts.
fn holds_at(program: &str, bytes: u64, counts: u64) -> String {
    let total = series(counts, |held| (1000 + held * bytes).to_string());
    script(program, counts, &format!(r#""total_bytes":{{"unit":"B","values":[{total}]}}"#))
}

/// What there is at each of so many counts of units held: 100, 200 and so on.
fn series(counts: u64, of: impl Fn(u64) -> String) -> String {
    (1..=counts).map(|hundreds| of(100 * hundreds)).collect::<Vec<_>>().join(",")
}

/// A program that reports these totals at so many counts.
fn script(program: &str, counts: u64, totals: &str) -> String {
    let held = series(counts, |held| held.to_string());
    format!(
        r#"echo '{{"program":"chapter/{program}","parameters":{{"size":3}},"placement":"free","measures":{{
            "held":{{"unit":"1","values":[{held}]}},{totals},
            "stack_bytes":{{"unit":"B","values":[{held}]}},"reached":{{"unit":"1","values":[300]}}}},
            "unavailable":{{"slab_bytes":"it needs root"}}}}' | tr -d '\n'"#
    )
}

fn project() -> Fake {
    let fake = Fake::with_plan(PLAN);
    fake.write("data/published/elsewhere.toml", PUBLISHED);
    fake.program("fast", &holds("fast", 2048));
    fake.program("slow", &holds("slow", 4096));
    fake
}

#[test]
fn a_ledger_is_a_slope_with_its_intercept_and_residual() {
    let fake = project();
    succeed(fake.measure(&["pair"]));
    assert_eq!(fake.print(&["value", "slow.total_bytes"]), "4.00 KiB [4.00–4.00]\n");
    assert_eq!(fake.print(&["value", "slow.total_bytes", "--over", "fast.total_bytes"]), "2.00 [2.00–2.00]\n");
    assert_eq!(fake.print(&["value", "slow.total_bytes_at_0"]), "1,000 B [1,000–1,000]\n");
    assert_eq!(fake.print(&["value", "slow.reached"]), "300 [300–300]\n");
    assert!(fake.print(&["value", "slow.slab_bytes"]).contains("unavailable: because it needs root"));
    let page = fake.print(&["table", "pair", "--form", "page"]);
    for part in ["<th scope=\"col\">total</th>", "with none held", "<td>4.00 KiB</td>"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("/ hop"), "{page}");
    let csv = fake.read("book/src/generated/local/chapter/pair.csv");
    assert!(
        csv.starts_with(
            "cell,program,placement,condition,parameters,rounds,sessions,total_bytes,total_bytes_low,total_bytes_high,total_bytes_session,total_bytes_session_low,total_bytes_session_high,reached,"
        ),
        "{csv}"
    );
    let json: serde_json::Value = serde_json::from_str(&fake.print(&["table", "pair", "--json"])).unwrap();
    assert_eq!((&json[1]["median_bytes"], &json[1]["others"]["reached"]), (&4096.0.into(), &300.0.into()));
}

#[test]
fn a_total_that_neighbours_move_may_be_below_0_and_is_no_divisor() {
    let fake = project();
    // Without a cgroup the total is what the system's available memory fell by, and others moved
    // that by more than these units did.
    let moved = |bytes: i64| {
        let total = series(8, |held| (held as i64 * bytes).to_string());
        let both = ["available_bytes", "total_bytes"];
        script("fast", 8, &both.map(|name| format!(r#""{name}":{{"unit":"B","values":[{total}]}}"#)).join(","))
    };
    let alternate = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; if [ $((n % 2)) = 1 ]";
    fake.program("fast", &format!("{alternate}; then {}; else {}; fi", moved(-8), moved(16)));
    succeed(fake.measure(&["pair"]));
    assert_eq!(fake.print(&["value", "fast.total_bytes"]), "4.00 B [-8.00 to 16.00]\n");
    let ratio = fake.print(&["value", "slow.total_bytes", "--over", "fast.total_bytes"]);
    assert!(ratio.contains("what it divides by may be 0"), "{ratio}");
}

#[test]
fn a_ledger_that_was_read_once_is_not_what_one_unit_costs() {
    let fake = project();
    fake.program("slow", &holds_at("slow", 4096, 1));
    succeed(fake.measure(&["pair"]));
    let printed = fake.print(&["value", "slow.total_bytes"]);
    assert!(printed.contains("unavailable: because it was read at 1 of the 8 counts that a slope needs"), "{printed}");
    assert!(fake.print(&["claim", "T1"]).contains("not measured"));
}

#[test]
fn its_figures_show_the_first_measure_and_what_it_is_made_of() {
    let fake = project();
    succeed(fake.measure(&["pair"]));
    let dots = fake.print(&["chart", "pair", "dots"]);
    assert!(dots.contains("\"median\":4.0") && dots.contains("\"kind\":\"task\""), "{dots}");
    let stack = fake.print(&["chart", "pair", "stack"]);
    let rows: Vec<serde_json::Value> = stack.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<_> = rows.iter().map(|row| (row["label"].as_str().unwrap(), row["to"].as_f64().unwrap())).collect();
    assert_eq!(seen.len(), 3, "what was not measured is left to what is unexplained: {seen:?}");
    assert_eq!((seen[1].0, seen[1].1, seen[2].1), ("unexplained", 4.0, 4.0));
}

#[test]
fn claims_compare_bytes_and_times_are_not_asked_of_it() {
    let fake = project();
    succeed(fake.measure(&["pair"]));
    let claim = fake.print(&["claim", "T1"]);
    assert!(claim.contains("published 4.00 KiB") && claim.contains("holds"), "{claim}");
    assert!(fail(fake.tally(&["value", "slow"])).contains("has the measure \"elapsed\""));
}

#[test]
fn plans_that_report_are_checked() {
    for (from, to, reason) in [
        ("limit_seconds", "histogram_laps = 9\nlimit_seconds", "has no histogram_laps"),
        ("limit_seconds", "count = \"system-calls\"\nlimit_seconds", "its only measures"),
        ("slow[free].total_bytes / fast[free].total_bytes", "slow[free] / fast[free]", "in the headline"),
    ] {
        let fake = Fake::with_plan(&PLAN.replacen(from, to, 1));
        let said = fail(fake.tally(&["list"]));
        assert!(said.contains("experiments/pair.toml") && said.contains(reason), "{said}");
    }
}

#[test]
fn a_program_that_does_not_understand_its_plan_stops_the_session() {
    let fake = project();
    fake.raw_program("slow", "echo \"error: unexpected argument '--size'\" >&2; exit 2");
    let said = fail(fake.measure(&["pair"]));
    assert!(said.contains("is not understood by its program: error: unexpected argument"), "{said}");
}
