//! The table of a machine's limits, from a record that is made up, in each form; and experiments
//! that push a machine to a limit only when somebody asks for it.

use crate::support::{Fake, fail, succeed};

const LIMITS: &str = r#"
=== programs.toml
[program]
machine-limits = { label = "limits", series = "baseline" }
slow = { label = "slow", series = "thread" }

=== experiments/ceilings.toml
question = "Which limits?"
prediction = "Some."
per = "reading"
measures = ["pid_max"]

[[cells]]
programs = ["machine-limits"]
quick = { placement = ["free"] }

=== experiments/pushed.toml
question = "How far?"
prediction = "Far."
per = "unit"
push = true
measures = ["reached"]

[[cells]]
programs = ["slow"]
quick = { placement = ["free"], push = [true] }
"#;

/// A machine with groups of the second version, on which a group two levels up is the first limit
/// of threads.
fn with_limits() -> Fake {
    let fake = Fake::with_plan(LIMITS);
    fake.write("benches-src/chapter/limits.toml", include_str!("../../../limits/limits.toml"));
    fake.write(
        "benches-src/chapter/src/bin/machine-limits.rs",
        "//! One operation: one reading.\n\nfn run(laps: Laps) {\n    for () in laps {}\n}\n",
    );
    let plain = [
        ("pid_max", 32768),
        ("max_map_count", 65530),
        ("threads_max", 192730),
        ("pids_max", 10813),
        ("pids_level", 2),
        ("pids_version", 2),
        ("nofile_hard", 20000),
        ("thread_by_pid_max", 32430),
        ("thread_by_max_map_count", 16372),
        ("thread_by_pids_max", 10800),
        ("thread_ceiling", 10800),
        ("task_brigade_by_nofile", 9988),
        ("task_brigade_ceiling", 9988),
    ];
    let plain = plain.map(|(name, value)| format!(r#""{name}":{{"unit":"1","values":[{value}]}}"#)).join(",");
    let sizes = r#""memory_total":{"unit":"B","values":[25769803776]}"#;
    let unavailable = r#""nproc_soft":"unlimited","task_by_pid_max":"unlimited","nr_open":"<b>it</b> cannot be read""#;
    fake.program(
        "machine-limits",
        &format!(
            r#"echo '{{"program":"chapter/machine-limits","parameters":{{}},"placement":"free","measures":{{{plain},{sizes}}},"unavailable":{{{unavailable}}}}}'"#
        ),
    );
    fake.program(
        "slow",
        r#"echo '{"program":"chapter/slow","parameters":{"push":true},"placement":"free","measures":{"reached":{"unit":"1","values":[9]}}}'"#,
    );
    fake
}

#[test]
fn the_limits_say_which_binds_first_and_how_to_raise_it() {
    let fake = with_limits();
    assert!(fake.print(&["limits"]).contains("(not measured: run: cargo tally measure ceilings)"));
    succeed(fake.measure(&["ceilings"]));

    let text = fake.print(&["limits"]);
    assert!(text.contains("threads of a control group               10,813"), "{text}");
    assert!(text.contains("    threads: 10,800  <- binds first"), "{text}");
    assert!(
        text.contains("    threads: 16,372\n") && text.contains("    brigade of tasks: 9,988  <- binds first"),
        "{text}"
    );
    assert!(text.contains("/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/../../pids.max"), "{text}");
    assert!(text.contains("threads of a user                        unlimited"), "{text}");

    assert!(text.contains("\nAs they were measured: this machine, 2"), "a record's limits are not of now: {text}");
    assert!(text.ends_with("\nTo measure them again: cargo tally measure ceilings --again\n"), "{text}");

    let page = fake.print(&["limits", "--form", "page"]);
    assert!(
        page.contains("To measure them again: <code class=\"command\">cargo tally measure ceilings --again</code>")
    );
    assert!(page.contains("<td>32,768</td><td>32,430</td>"), "{page}");
    assert!(page.contains("<td><strong>10,800 ← first</strong></td>"), "{page}");
    assert!(page.contains("<td>24.0 GiB</td>"), "{page}");
    assert!(page.contains("<details>") && page.contains("sysctl"), "{page}");
    assert!(!page.contains("\n\n") && !page.contains("<b>"), "what came from a record is no markup: {page}");

    let json: serde_json::Value = serde_json::from_str(&fake.print(&["limits", "--json"])).unwrap();
    let of = |measure: &str| json.as_array().unwrap().iter().find(|limit| limit["measure"] == measure).unwrap().clone();
    assert_eq!(of("pids_max")["binds_first"], serde_json::json!(["thread"]));
    assert_eq!(of("pid_max")["value"], 32768.0);
    assert_eq!(of("nproc_soft")["value"]["missing"], "unlimited");
    assert_eq!(of("pid_max")["ceilings"]["task"]["missing"], "unlimited");
    assert_eq!(of("nr_open")["value"]["missing"], "<b>it</b> cannot be read");
}

#[test]
fn a_directive_may_print_the_limits() {
    let fake = with_limits();
    let page = |directive: &str| format!("# Chapter\n\n<!-- cmdrun {directive} -->\n");
    std::fs::remove_file(fake.path("benches-src/chapter/src/bin/fast.rs")).unwrap();
    fake.write("data/published/elsewhere.toml", "title = \"\"\nurl = \"\"\ndate = \"\"\nfigure = []\n");
    fake.write("book/src/chapter.md", &page("tally limits"));
    assert!(fail(fake.tally(&["check"])).contains("chapter/experiments/pushed.toml: no page shows it"));
    fake.write("book/src/more.md", "<!-- cmdrun tally table ceilings -->\n<!-- cmdrun tally table pushed -->\n");
    assert_eq!(fake.print(&["check"]), "plans, listings, pages and records agree\n");
    fake.write("book/src/chapter.md", &page("tally limits --all"));
    assert!(fail(fake.tally(&["check"])).contains("tally limits --all"));
}

#[test]
fn what_pushes_a_machine_is_measured_only_when_asked_for() {
    let fake = with_limits();
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[\"ceilings\"]}\n");
    let page = fake.print(&["table", "pushed", "--form", "page"]);
    let reason = "because it pushes this machine to a limit, which a build does only when asked to; run: cargo tally \
                  measure pushed";
    assert!(page.contains("<strong>not measured</strong>") && page.contains(reason), "{page}");
    assert!(fail(fake.measure(&["pushed"])).contains("add --push-limits"));

    assert_eq!(succeed(fake.measure(&["pushed", "--push-limits", "--json"])), "{\"measured\":[\"pushed\"]}\n");
    assert!(fake.print(&["value", "slow[push=true].reached"]).starts_with("9.00 "));
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[]}\n", "and what was pushed once stays");
    fake.write("benches-src/chapter/src/bin/slow.rs", "//! One operation: another.\n");
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[]}\n", "even when it is stale");
    let page = fake.print(&["table", "pushed", "--form", "page"]);
    assert!(page.contains("stale") && page.contains("cargo tally measure pushed"), "{page}");
}

#[test]
fn what_the_compiler_made_a_program_of_makes_its_records_stale() {
    let fake = with_limits();
    let page = || fake.print(&["table", "ceilings", "--form", "page"]);
    fake.write("benches-src/chapter/src/climb.rs", "fn one_way() {}\n");
    fake.write("benches-src/chapter/src/other.rs", "fn of_no_concern() {}\n");
    let [root, climb] = ["", "benches-src/chapter/src/climb.rs"].map(|path| fake.path(path).display().to_string());
    fake.write("target/release/machine-limits.d", &format!("{root}target/release/machine-limits: {climb}\n"));
    succeed(fake.measure(&[]));
    fake.write("benches-src/chapter/src/other.rs", "fn changed() {}\n");
    assert!(!page().contains("<strong>stale</strong>"), "{}", page());
    fake.write("benches-src/chapter/src/climb.rs", "fn another_way() {}\n");
    assert!(page().contains("<strong>stale</strong>") && page().contains("chapter/src/climb.rs"), "{}", page());
    let listing = fake.print(&["listing", "machine-limits", "--form", "page"]);
    assert!(listing.contains("<strong>stale</strong>") && listing.contains("chapter/src/climb.rs"), "{listing}");
}
