//! Experiments that count system calls, with shell scripts for programs and strace as it is
//! installed here.

use std::time::{Duration, Instant};

use crate::support::{Fake, fail, succeed};

const PLAN: &str = r#"
=== experiments/pair.toml
question = "How many system calls does a step make?"
prediction = "One, and two."
per = "step"
count = "system-calls"
limit_seconds = 2

[[cells]]
programs = ["fast"]
quick = { placement = ["free"], size = [3] }

[[cells]]
programs = ["slow"]
quick = { placement = ["free"], size = [3] }
full = { placement = ["free", "one-cpu"], size = [3] }

=== claims/T1.toml
sentence = "Slow writes twice as often."
source = "elsewhere"
experiment = "pair"
holds = "It writes {slow[free].calls_write} times a step."
shifted = "Shifted."
does_not_hold = "It does not."
undecided = "Nobody knows."

[[parts]]
name = "slow over fast"
quantity = "slow[free].calls_write / fast[free].calls_write"
published = "twice"
about = "published"
within = 1
no_effect = "1"

[[parts]]
name = "receives"
quantity = "slow[free].calls_recvfrom"
equals = "0"
"#;

/// A script whose every lap writes so often.
fn writes(program: &str, times: usize) -> String {
    let write = "echo x >/dev/null; ".repeat(times);
    format!(
        r#"echo set-up >/dev/null
while [ $# -gt 0 ]; do [ "$1" = --iters ] && laps=$2; shift; done
lap=0; while [ $lap -lt $laps ]; do {write}lap=$((lap+1)); done
echo '{{"program":"chapter/{program}","parameters":{{"size":3}},"placement":"free","samples":[{{"operations":'$laps',"elapsed_ns":1000}}]}}'"#
    )
}

fn counting() -> Fake {
    let fake = Fake::with_plan(PLAN);
    fake.program("fast", &writes("fast", 1));
    fake.program("slow", &writes("slow", 2));
    fake
}

fn json(fake: &Fake, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&fake.print(&[arguments, &["--json"]].concat())).unwrap()
}

/// Puts a script in the place of strace; none where it is empty.
fn with_strace(fake: &Fake, script: &str) -> std::process::Command {
    fake.write("tools/empty", "");
    if !script.is_empty() {
        fake.script("tools/strace", script);
    }
    let mut measure = fake.measure(&["--again"]);
    measure.env("PATH", fake.path("tools"));
    measure
}

#[test]
fn system_calls_are_counted_exactly_and_set_up_falls_out() {
    let fake = counting();
    succeed(fake.measure(&[]));
    assert_eq!(fake.record().lines().count(), 1 + 6 * 2 + 1, "six rounds of two cells, and no A/A pair");
    let value = json(&fake, &["value", "slow[free].calls_write"]);
    assert_eq!((&value["median"], &value["low"], &value["high"]), (&2.0.into(), &2.0.into(), &2.0.into()));
    assert_eq!(json(&fake, &["value", "fast[free].calls_openat"])["median"], 1.0);
    assert_eq!(json(&fake, &["value", "fast[free].calls_recvfrom"])["median"], 0.0);
    assert_eq!(json(&fake, &["value", "slow[free].calls_write / fast[free].calls_write"])["median"], 2.0);
    assert!(fake.print(&["value", "fast.calls_write / slow[free].calls_recvfrom"]).contains("divides by 0"));
    assert!(fake.print(&["claim", "T1"]).contains("holds"), "{}", fake.print(&["claim", "T1"]));
    assert!(!fake.record().contains("elapsed_ns"), "times under strace are no results");
    assert!(fail(fake.tally(&["value", "slow[free]"])).contains("has the measure \"elapsed\""));
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[]}\n");
}

#[test]
fn the_table_has_a_column_per_kind_and_no_time() {
    let fake = counting();
    succeed(fake.measure(&[]));
    let text = fake.print(&["table", "pair"]);
    let heads: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heads[..4], ["calls", "per", "step", "all"]);
    assert!(heads.contains(&"write") && !heads.contains(&"execve"), "set-up has no column: {text}");
    let page = fake.print(&["table", "pair", "--form", "page"]);
    for part in [
        "size 3. System calls per step, counted by strace and not timed",
        "<th scope=\"col\">write</th>",
        "<td>2.00</td>",
        "effort = full only: slow",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("CPU, user") && !page.contains("Noise floor"), "{page}");
    let rows = json(&fake, &["table", "pair"]);
    let fast = rows.as_array().unwrap().iter().find(|row| row["id"] == "fast[size=3, free]").unwrap();
    assert_eq!((&fast["others"]["write"], &fast["rounds"]), (&1.0.into(), &6.into()));
    let csv = fake.read("book/src/generated/local/chapter/pair.csv");
    let heads = csv.lines().next().unwrap();
    let fast = csv.lines().find(|line| line.starts_with("\"fast")).unwrap();
    assert!(heads.starts_with("cell,program,placement,condition,parameters,rounds,sessions,all,"), "{csv}");
    assert!(fast.starts_with("\"fast[size=3, free]\",fast,free,,size=3,6,1,"), "{csv}");
    assert_eq!(heads.split(',').count(), fast.split(',').count() - 1, "one comma is within quotes");
}

#[test]
fn charts_refuse_what_was_counted() {
    let fake = counting();
    succeed(fake.measure(&[]));
    assert!(fail(fake.tally(&["chart", "pair", "dots"])).contains("counts and times nothing"));
    let page = fake.print(&["chart", "pair", "dots", "--form", "page"]);
    assert!(page.contains("class=\"missing\"") && page.contains("counts and times nothing"), "{page}");
}

#[test]
fn a_test_run_counts_too_and_check_accepts_the_plan() {
    let fake = counting();
    succeed(fake.measure(&["--effort", "test"]));
    assert!(fake.record().contains("calls_write"));
    assert!(fake.print(&["table", "pair"]).contains("test run"));
    fake.write(
        "book/src/chapter.md",
        "# Chapter\n\n<!-- cmdrun tally table pair -->\n\n<!-- cmdrun tally value slow[free].calls_write -->\n",
    );
    fake.write("data/published/elsewhere.toml", &published_without_a_time(&fake));
    fake.write("book/src/claims.md", "<!-- cmdrun tally claim T1 -->\n");
    assert_eq!(fake.print(&["check"]), "plans, listings, pages and records agree\n");
}

/// Of what others published, only what this plan can answer.
fn published_without_a_time(fake: &Fake) -> String {
    fake.read("data/published/elsewhere.toml").replace("beside = \"slow[free, size=3]\"\n", "")
}

#[test]
fn without_strace_or_without_leave_the_cell_is_unavailable() {
    for (script, reason) in [
        ("", "apt-get install strace"),
        ("echo 'strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted' >&2\nexit 1\n", "--cap-add=SYS_PTRACE"),
    ] {
        let fake = counting();
        succeed(with_strace(&fake, script));
        let table = fake.print(&["table", "pair"]);
        assert!(table.contains("unavailable: because strace") && table.contains(reason), "{table}");
        assert!(fake.print(&["table", "pair", "--form", "page"]).contains("class=\"none\""));
    }
}

#[test]
fn a_strace_that_writes_something_else_and_programs_that_fail_are_failures() {
    let fake = counting();
    let strange = "out=$4; shift 4\n\"$@\"; echo '1.0 what is this' >$out\n";
    fail(with_strace(&fake, strange));
    let said = fake.print(&["value", "slow[free].calls"]);
    assert!(said.contains("failed") && said.contains("which version is it"), "{said}");

    fake.program("slow", "echo 'out of luck' >&2; exit 3");
    fail(fake.measure(&["--again"]));
    assert!(fake.print(&["value", "slow[free].calls"]).contains("exit status 3. out of luck"));
    assert_eq!(json(&fake, &["value", "fast[free].calls_write"])["median"], 1.0);
}

#[test]
fn what_hangs_under_strace_is_killed_with_it() {
    let fake = counting();
    let mark = "61.234567";
    fake.program("slow", &format!("sleep {mark}"));
    let started = Instant::now();
    fail(fake.measure(&["--effort", "test"]));
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(fake.record().contains("no answer within 2 s"));
    let left = || {
        let found = std::process::Command::new("pgrep").args(["-f", &format!("sleep {mark}")]).output().unwrap();
        String::from_utf8_lossy(&found.stdout).into_owned()
    };
    // It was sent its signal, and the kernel may need a moment to take it down.
    let killed = Instant::now();
    while !left().is_empty() && killed.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(left(), "", "the sleeping child is gone with strace");
}

#[test]
fn plans_that_count_are_checked() {
    for (from, to, reason) in [
        ("\"system-calls\"", "\"sheep\"", "system-calls"),
        ("limit_seconds", "histogram_laps = 9\nlimit_seconds", "has no histogram_laps"),
        ("count = \"system-calls\"\n", "", "only an experiment that times nothing may have none"),
        ("limit_seconds", "headline = \"slow[free] / fast[free]\"\nlimit_seconds", "in the headline"),
    ] {
        let fake = Fake::with_plan(&PLAN.replacen(from, to, 1));
        let said = fail(fake.tally(&["list"]));
        assert!(said.contains("experiments/pair.toml") && said.contains(reason), "{said}");
    }
}
