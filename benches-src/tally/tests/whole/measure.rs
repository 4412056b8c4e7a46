//! Measuring through the real executable, with shell scripts for programs: what goes well, and all
//! that can go wrong.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::support::{self, Fake, PLAN, fail, line, observation, succeed, summed};

#[test]
fn measures_once_and_then_only_what_has_changed() {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    let record = fake.record();
    assert_eq!(record.lines().count(), 1 + 6 * 3 + 1, "a header, six rounds of three cells, an end");
    assert!(!fake.path("data/local/chapter/pair.jsonl.partial").exists());

    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[]}\n");
    assert_eq!(fake.record(), record);
    fake.write("book/src/chapter.md", "# Other prose\n");
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[]}\n");

    fake.write("benches-src/chapter/src/bin/slow.rs", "//! One operation: another slow step.\n\nfn slow() {}\n");
    let page = fake.print(&["table", "pair", "--form", "page"]);
    assert!(page.contains("<strong>stale</strong>") && page.contains("chapter/src/bin/slow.rs"), "{page}");
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[\"pair\"]}\n");
    assert!(!fake.print(&["table", "pair", "--form", "page"]).contains("stale"));

    // What says nothing to the compiler changes nothing.
    fake.write(
        "benches-src/chapter/src/bin/slow.rs",
        "//! One operation: another slow step.\n\n// Why it is slow.\nfn slow() {}\n",
    );
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[]}\n");

    for (beneath, text) in [
        ("Cargo.lock", "[[package]]\nname = \"chapter\"\nversion = \"0.2.0\"\n"),
        ("harness/src/lib.rs", "pub fn clock() {}\n"),
        ("observation/Cargo.toml", "[dependencies]\nserde = \"1\"\n"),
        ("chapter/build.rs", "fn main() {}\n"),
    ] {
        fake.write(&format!("benches-src/{beneath}"), text);
        assert!(fake.print(&["table", "pair", "--form", "page"]).contains("<strong>older</strong>"), "{beneath}");
        assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[\"pair\"]}\n", "{beneath}");
    }
}

#[test]
fn a_plan_that_asks_for_more_leaves_a_record_fresh_and_is_measured_again() {
    let fewer = PLAN.replace("full = { placement = [\"free\", \"one-cpu\"] }\n", "");
    let more = fewer.replace("quick = { placement = \"free\" }", "quick = { placement = [\"free\", \"one-cpu\"] }");
    assert_ne!(fewer, more);
    let fake = Fake::with_plan(&fewer);
    succeed(fake.measure(&[]));
    fake.plan(&more);
    assert!(!fake.print(&["table", "pair", "--form", "page"]).contains("<strong>stale</strong>"));
    assert!(fake.print(&["list"]).contains("fresh"));
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[\"pair\"]}\n");
    assert!(!fake.print(&["value", "slow[one-cpu]"]).contains("not measured"));
    fake.plan(&fewer);
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[]}\n", "it has all that is asked for");
    fake.plan(&fewer.replacen("limit_seconds", "histogram_laps = 100\nlimit_seconds", 1));
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[\"pair\"]}\n", "no lap was timed alone");
}

#[test]
fn what_is_measured_only_where_it_is_named_is_left_out_of_a_run_of_all() {
    let fake = Fake::with_plan(&PLAN.replace("per = \"", "only_named = true\nper = \""));
    assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[]}\n");
    assert!(fake.print(&["table", "pair"]).contains("cargo tally measure pair"));
    assert_eq!(succeed(fake.measure(&["pair", "--json"])), "{\"measured\":[\"pair\"]}\n");
}

#[test]
fn numbers_come_out_as_they_went_in() {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    let value: serde_json::Value =
        serde_json::from_str(&fake.print(&["value", "slow", "--placement", "free", "--json"])).unwrap();
    assert_eq!(value["median_ns"], 2000.0);
    assert_eq!((&value["low_ns"], &value["high_ns"], &value["rounds"]), (&2000.0.into(), &2000.0.into(), &6.into()));
    assert_eq!((&value["machine"], &value["state"]), (&"local".into(), &"fresh".into()));
    let ratio: serde_json::Value =
        serde_json::from_str(&fake.print(&["value", "slow[free]", "--over", "fast[free]", "--json"])).unwrap();
    assert_eq!(ratio["median"], 2.0);
    assert!(fake.print(&["claim", "T1"]).contains("holds"));
    assert!(fake.print(&["value", "slow[one-cpu]"]).contains("full only"));
}

#[test]
fn a_full_record_satisfies_a_quick_build() {
    let fake = Fake::with_plan(&PLAN.replace("full = { placement = [\"free\", \"one-cpu\"] }\n", ""));
    succeed(fake.measure(&["--effort", "full"]));
    assert_eq!(succeed(fake.measure(&["--effort", "quick", "--json"])), "{\"measured\":[]}\n");
    assert_eq!(fake.record().lines().count(), 1 + 20 * 3 + 1);
}

#[test]
fn a_noisy_headline_doubles_the_rounds_once() {
    let fake = Fake::new();
    let (first, second) = (observation("slow", 2000), observation("slow", 3000));
    fake.program("slow", &format!("if [ $(($$ % 2)) = 0 ]; then {first}; else {second}; fi"));
    // Every process takes several process ids, so whether one is even is as good as a coin; all
    // alike are tried again.
    for _ in 0..5 {
        succeed(fake.measure(&["--again", "--effort", "full"]));
        if fake.record().contains("\"doubled\":true") {
            assert_eq!(fake.record().lines().count(), 1 + 40 * 4 + 1);
            return;
        }
    }
    panic!("five sessions of a coin that always fell on the same side");
}

#[test]
fn what_chance_draws_is_drawn_anew_in_each_round_and_alike_for_all_cells() {
    let plan = PLAN.replacen("[[cells]]", "anew_each_round = \"seed\"\n\n[[cells]]", 1);
    let fake = Fake::with_plan(&plan);
    for (program, ns) in [("fast", 1000), ("slow", 2000)] {
        let seed = r#"seed=$(echo "$*" | sed -n 's/.*--seed \([0-9]*\).*/\1/p')"#;
        let with_seed = format!(
            "{seed}; ({}) | sed \"s/\\\"size\\\":3/\\\"size\\\":3,\\\"seed\\\":$seed/\"",
            observation(program, ns)
        );
        fake.program(program, &with_seed);
    }
    succeed(fake.measure(&[]));
    let record = fake.record();
    let runs =
        record.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?.get("run").cloned());
    let mut seeds = std::collections::BTreeMap::<u64, std::collections::BTreeSet<u64>>::new();
    for run in runs {
        let seed = run["observation"]["parameters"]["seed"].as_u64().unwrap();
        seeds.entry(run["round"].as_u64().unwrap()).or_default().insert(seed);
    }
    assert!(seeds.len() == 6 && seeds.values().all(|own| own.len() == 1), "{seeds:?}");
    let all: std::collections::BTreeSet<u64> = seeds.values().flatten().copied().collect();
    assert_eq!(all.len(), 6, "{seeds:?}");
    assert!(!fake.print(&["table", "pair", "--form", "page"]).contains("all rounds had the same seed"));
    // What was measured before that says so.
    let alike: String = record
        .lines()
        .map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("sum");
            if let Some(seed) = line.pointer_mut("/run/observation/parameters/seed") {
                *seed = 1.into();
            }
            line.to_string() + "\n"
        })
        .collect();
    fake.change_record(&alike);
    assert!(fake.print(&["table", "pair", "--form", "page"]).contains("all rounds had the same seed"));
}

#[test]
fn a_program_that_crashes_hangs_or_babbles_fails_alone() {
    let fake = Fake::new();
    for (script, reason) in [
        ("echo 'out of luck' >&2; kill -SEGV $$", "ended by signal 11. out of luck"),
        ("echo 'thread panicked' >&2; exit 101", "exit status 101. thread panicked"),
        ("sleep 60", "gave no answer within 2 s"),
        ("echo nonsense", "no observation"),
        (
            "echo '{\"program\":\"chapter/other\",\"parameters\":{},\"placement\":\"free\"}'",
            "reported on chapter/other",
        ),
        // What the record would be refused for is a failure of this process, and not the end of the
        // session.
        (
            "echo '{\"program\":\"chapter/slow\",\"parameters\":{\"size\":3},\"placement\":\"free\",\"measures\":{\"x\":{\"unit\":\"B\",\"values\":[-1]}}}'",
            "reported what cannot be: the measure x: -1 B, below 0",
        ),
        (
            "echo '{\"program\":\"chapter/slow\",\"parameters\":{\"size\":3},\"placement\":\"free\",\"measures\":{\
             \"total_bytes\":{\"unit\":\"B\",\"values\":[-1]},\"available_bytes\":{\"unit\":\"B\",\"values\":[1]}}}'",
            "reported what cannot be: the measure total_bytes: -1 B, below 0",
        ),
    ] {
        // Two seconds for every run that hangs: one round is enough to see it.
        let _ = std::fs::remove_file(fake.path("data/local/chapter/pair.jsonl"));
        fake.program("slow", script);
        let said = fail(fake.measure(&["--again", "--effort", "test"]));
        assert!(said.contains("processes failed, so that these will be measured again"), "{said}");
        let record = fake.record().replace("\"effort\":\"test\"", "\"effort\":\"quick\"");
        fake.change_record(&record);
        let slow = fake.print(&["value", "slow[free]"]);
        assert!(slow.contains("failed") && slow.contains(reason), "{script}: {slow}");
        assert!(
            fake.print(&["value", "fast[free]"]).contains("1,000 ns")
                || fake.print(&["value", "fast[free]"]).contains("1.00 µs")
        );
        let page = fake.print(&["table", "pair", "--form", "page"]);
        assert!(page.contains("class=\"missing\"") && page.contains("1.00"), "{page}");
    }
}

#[test]
fn a_program_that_cannot_be_started_is_no_failure_of_its_own() {
    let fake = Fake::new();
    std::fs::set_permissions(fake.path("programs/slow"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let said = fail(fake.measure(&[]));
    assert!(said.contains("cannot start") && said.contains("programs/slow: Permission denied"), "{said}");
    assert!(!fake.path("data/local/chapter/pair.jsonl").exists());
}

#[test]
fn a_build_may_put_another_tally_in_its_place_while_it_measures() {
    let fake = Fake::new();
    std::fs::copy(env!("CARGO_BIN_EXE_tally"), fake.path("own-tally")).unwrap();
    fake.program("fast", &format!("rm -f {}; {}", fake.path("own-tally").display(), observation("fast", 1000)));
    let mut command = Command::new(fake.path("own-tally"));
    command.args(["measure", "--programs", "programs"]).current_dir(fake.root());
    command.env("TMPDIR", fake.root()).env("TALLY_TEST_LOCK", fake.root());
    succeed(command);
    assert!(!fake.path("own-tally").exists());
    assert_eq!(fake.record().lines().count(), 1 + 6 * 3 + 1);
}

#[test]
fn what_a_failed_program_says_names_no_folder_of_its_reader() {
    let fake = Fake::new();
    let root = fake.root().canonicalize().unwrap();
    let said = format!("{} is missing, and so is /home/arthur-dent/.x", root.join("data").display());
    fake.program("slow", &format!("echo '{said}' >&2; exit 1"));
    let mut command = fake.measure(&["--effort", "test"]);
    command.env("HOME", "/home/arthur-dent");
    let said = fail(command);
    assert!(said.contains("[checkout]/data is missing"), "the reason is said at once: {said}");
    let record = fake.record();
    assert!(record.contains("[checkout]/data is missing, and so is [home]/.x"), "{record}");
    assert!(!record.contains("arthur-dent"), "{record}");
}

#[test]
fn what_is_unavailable_says_why_on_the_page() {
    let fake = Fake::new();
    fake.program(
        "slow",
        r#"echo '{"program":"chapter/slow","parameters":{"size":3},"placement":"free","unavailable":{"elapsed":"it needs <b>wings</b>"}}'"#,
    );
    succeed(fake.measure(&[]));
    let page = fake.print(&["claim", "T1", "--form", "page"]);
    assert!(page.contains("not measured") && page.contains("because it needs &#60;b&#62;wings"), "{page}");
}

#[test]
fn killed_in_the_middle_it_goes_on_and_nothing_is_lost() {
    for signal in ["-KILL", "-INT", "-TERM"] {
        let fake = Fake::new();
        fake.program("slow", &format!("sleep 0.2; {}", observation("slow", 2000)));
        let mut tally = fake.measure(&[]).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let partial = fake.path("data/local/chapter/pair.jsonl.partial");
        let lines = || std::fs::read_to_string(&partial).unwrap_or_default().lines().count();
        while lines() < 6 {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(Command::new("kill").args([signal, &tally.id().to_string()]).status().unwrap().success());
        let ended = tally.wait_with_output_and_status();
        assert!(!ended.0, "{signal}");
        if signal != "-KILL" {
            assert!(ended.1.contains("kept in") && ended.1.contains("Run again to go on"), "{}", ended.1);
        }
        let kept = std::fs::read_to_string(&partial).unwrap();
        assert!(kept.lines().count() >= 6);

        let said = {
            let output = fake.measure(&[]).output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stderr).unwrap()
        };
        assert!(said.contains("going on with chapter/pair"), "{said}");
        let record = fake.record();
        let whole_lines = &kept[..=kept.rfind('\n').unwrap()];
        assert!(record.starts_with(whole_lines), "{signal}: what was measured before stays as it was");
        let value: serde_json::Value = serde_json::from_str(&fake.print(&["value", "slow[free]", "--json"])).unwrap();
        assert_eq!(value["rounds"], 6, "{signal}: six complete rounds, beside the one that was interrupted");
    }
}

#[test]
fn an_interruption_takes_no_doubling_from_a_session() {
    let fake = Fake::new();
    // Each round has two processes of the same cell, and so many rounds differ, whichever comes
    // first in one, and also after one whose round was never ended.
    let (first, second) = (observation("slow", 2000), observation("slow", 3000));
    let count = "case \"$*\" in *one-cpu*) own=one ;; *) own=free ;; esac
                 n=$(cat $own 2>/dev/null || echo 0); echo $((n + 1)) > $own; sleep 0.01";
    fake.program("slow", &format!("{count}; if [ $((n / 4 % 2)) = 0 ]; then {first}; else {second}; fi"));
    let full = ["--effort", "full"];
    let mut tally = fake.measure(&full).spawn().unwrap();
    let partial = fake.path("data/local/chapter/pair.jsonl.partial");
    while std::fs::read_to_string(&partial).unwrap_or_default().lines().count() < 8 {
        thread::sleep(Duration::from_millis(10));
    }
    tally.kill().unwrap();
    tally.wait().unwrap();
    succeed(fake.measure(&full));
    let record = fake.record();
    assert!(record.contains("\"took_ms\":") && record.contains("\"doubled\":true"), "{record}");
    let page = fake.print(&["table", "pair", "--form", "page"]);
    assert!(page.contains("after the rounds had been doubled once") && !page.contains("too long"), "{page}");
}

#[test]
fn an_unfinished_session_that_is_not_gone_on_with_is_put_aside_each_time() {
    let fake = Fake::new();
    fake.program("slow", &format!("sleep 0.2; {}", observation("slow", 2000)));
    let partial = fake.path("data/local/chapter/pair.jsonl.partial");
    for aside in ["abandoned", "abandoned-2"] {
        let mut quick = fake.measure(&[]).spawn().unwrap();
        while std::fs::read_to_string(&partial).unwrap_or_default().lines().count() < 3 {
            thread::sleep(Duration::from_millis(10));
        }
        quick.kill().unwrap();
        quick.wait().unwrap();
        let output = fake.measure(&["--effort", "test", "--again"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("is put aside as") && said.contains(aside), "{said}");
        assert!(fake.read(&format!("data/local/chapter/pair.jsonl.{aside}")).contains("\"effort\":\"quick\""));
    }
}

trait WaitWithOutput {
    fn wait_with_output_and_status(&mut self) -> (bool, String);
}

impl WaitWithOutput for std::process::Child {
    fn wait_with_output_and_status(&mut self) -> (bool, String) {
        use std::io::Read;
        let status = self.wait().unwrap();
        let mut said = String::new();
        self.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status.success(), said)
    }
}

#[test]
fn a_full_disk_is_said_and_the_session_goes_on_afterwards() {
    let fake = Fake::new();
    // A limit on the size of files stands for a disk without room; the signal that comes with it is
    // ignored.
    let tally = env!("CARGO_BIN_EXE_tally");
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("trap '' XFSZ; ulimit -f 12; exec {tally} measure --programs programs")]);
    limited.current_dir(fake.root()).env("TMPDIR", fake.root()).env("TALLY_TEST_LOCK", fake.root());
    let said = fail(limited);
    assert!(
        said.contains("cannot write") && said.contains("pair.jsonl.partial") && said.contains("Make room"),
        "{said}"
    );
    succeed(fake.measure(&[]));
    assert!(fake.print(&["value", "slow[free] / fast[free]"]).starts_with("2.00"));
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let fake = Fake::new();
    fake.write("data/local", "a file where the folder should be");
    let said = fail(fake.measure(&[]));
    assert!(said.contains("data/local") && said.contains("writable"), "{said}");
}

#[test]
fn records_that_cannot_be_read_are_boxed_put_aside_and_measured_again() {
    for (name, damage) in [
        ("truncated", (|text: &str| text[..text.len() - 30].to_owned()) as fn(&str) -> String),
        ("corrupt", |text| summed(&text.replacen("\"run\"", "\"ruin\"", 1))),
        ("flipped", |text| text.replacen("\"elapsed_ns\":[2", "\"elapsed_ns\":[3", 1)),
        ("older", |text| summed(&text.replacen("\"format\":3", "\"format\":2", 1))),
        ("from the future", |text| summed(&text.replacen("\"format\":3", "\"format\":4", 1))),
        ("empty", |_| String::new()),
    ] {
        let fake = Fake::new();
        succeed(fake.measure(&[]));
        let damaged = damage(&fake.record());
        fake.write("data/local/chapter/pair.jsonl", &damaged);
        let page = fake.print(&["table", "pair", "--form", "page"]);
        assert!(
            page.contains("<strong>unreadable</strong>") && page.contains("cargo tally measure pair"),
            "{name}: {page}"
        );
        assert!(!page.contains(&fake.root().display().to_string()), "where the checkout lies is nobody's business");
        assert!(fake.print(&["value", "slow[free]"]).contains("unreadable"), "{name}");
        assert_eq!(succeed(fake.measure(&["--json"])), "{\"measured\":[\"pair\"]}\n");
        assert_eq!(fake.read("data/local/chapter/pair.jsonl.unreadable"), damaged, "{name}: nothing is lost");
        assert!(fake.print(&["value", "slow[free]"]).contains("2.00 µs"));
        fake.write("data/local/chapter/pair.jsonl", "nonsense again\n");
        succeed(fake.measure(&[]));
        assert_eq!(fake.read("data/local/chapter/pair.jsonl.unreadable-2"), "nonsense again\n");
        assert_eq!(fake.read("data/local/chapter/pair.jsonl.unreadable"), damaged, "{name}: nor by the next one");
    }
}

#[test]
fn plans_with_mistakes_are_refused_with_place_and_reason() {
    for (from, to, reason) in [
        (
            "programs = [\"fast\"]",
            "programs = [\"fats\"]",
            "experiments/pair.toml: unknown program \"fats\": it has no entry in programs.toml; did you mean fast?",
        ),
        ("placement = \"free\"", "placement = \"moon\"", "experiments/pair.toml: unknown placement \"moon\" of fast"),
        ("baseline = \"fast\"", "baseline = \"nothing\"", "programs.toml: slow: unknown baseline \"nothing\""),
        ("slow[free] / fast[free]\"\ntwins", "slow[free] / \"\ntwins", "expected a program"),
        ("question =", "query =", "experiments/pair.toml, line 1: unknown field `query`"),
    ] {
        let fake = Fake::with_plan(&PLAN.replacen(from, to, 1));
        let said = fail(fake.tally(&["list"]));
        assert!(said.contains("benches-src/chapter/") && said.contains(reason), "{said}");
    }
}

#[test]
fn a_parameter_that_the_program_does_not_take_is_found_before_anything_is_timed() {
    let fake = Fake::new();
    fake.raw_program("slow", "echo \"error: unexpected argument '--size' found\" >&2; exit 2");
    let said = fail(fake.measure(&[]));
    assert!(said.contains("experiments/pair.toml") && said.contains("'--size'"), "{said}");
    assert!(!fake.path("data/local").exists());
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let fake = Fake::new();
    for (arguments, reason) in [
        (&["value", "nobody"][..], "unknown program \"nobody\"; there are: fast, slow"),
        (&["value", "slow[moon]"], "there is no cell slow[moon]"),
        (&["table", "nothing"], "unknown experiment \"nothing\"; there are: pair"),
        (&["claim", "C99"], "unknown claim \"C99\"; there are: T1"),
        (&["list", "--machine", "moon"], "unknown machine \"moon\"; there are: local, reference"),
        (&["measure", "--effort", "heroic"], "quick, full"),
        (&["measure", "nothing"], "unknown experiment"),
        (&["value", "slow", "--placement", "moon"], "unknown placement"),
    ] {
        let said = fail(fake.tally(arguments));
        assert!(said.contains(reason), "{arguments:?}: {said}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let mut lost = fake.tally(&["list"]);
    lost.current_dir(elsewhere.path());
    assert!(fail(lost).contains("in no checkout of the book"));
}

#[test]
fn a_test_run_never_becomes_a_result() {
    let fake = Fake::new();
    succeed(fake.measure(&["--effort", "test"]));
    for form in ["text", "page"] {
        for command in [&["value", "slow[free]"][..], &["table", "pair"], &["claim", "T1"]] {
            let printed = fake.print(&[command, &["--form", form]].concat());
            assert!(printed.contains("test run"), "{printed}");
            assert!(!printed.contains("2.00 µs"), "{printed}");
        }
    }
    assert!(fail(fake.tally(&["export", "a-machine"])).contains("test run"));
}

#[test]
fn a_test_run_replaces_no_result() {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    let record = fake.record();
    fake.write("benches-src/chapter/src/bin/slow.rs", "//! One operation: another slow step.\n");
    for arguments in [&["--effort", "test"][..], &["pair", "--effort", "test", "--again"]] {
        let output = fake.measure(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && said.contains("pair.jsonl is of a quick run, which no test run replaces"),
            "{said}"
        );
        assert_eq!(fake.record(), record);
    }
    succeed(fake.measure(&[]));
    assert_ne!(fake.record(), record, "a quick run replaces it");
}

#[test]
fn hostile_text_in_a_record_stays_text() {
    let fake = Fake::new();
    let hostile = "<script>alert(1)</script> --> <!-- cmdrun touch pwned --> {{#include x}} | a\\nb";
    fake.program("slow", &format!("printf '%s\\n' '{hostile}' >&2; exit 1"));
    fail(fake.measure(&[]));
    fake.change_record(&fake.record().replacen("\"CPU\":\"", &format!("\"CPU\":\"{hostile}"), 1));
    for command in [
        &["table", "pair"][..],
        &["claim", "T1"],
        &["claim"],
        &["list", "--machines"],
        &["list", "--shown"],
        &["value", "slow[free]"],
    ] {
        let page = fake.print(&[command, &["--form", "page"]].concat());
        for mark in ["<script", "-->", "<!--", "{{#", "\n\n"] {
            assert!(!page.contains(mark), "{command:?} let {mark:?} through: {page}");
        }
    }
}

#[test]
fn only_one_measures_at_a_time() {
    let fake = Fake::new();
    fake.program("slow", &format!("sleep 0.1; {}", observation("slow", 2000)));
    let mut first = fake.measure(&[]).spawn().unwrap();
    while !fake.path("data/local/chapter/pair.jsonl.partial").exists() {
        thread::sleep(Duration::from_millis(10));
    }
    let second = fake.measure(&[]).output().unwrap();
    assert!(first.wait().unwrap().success());
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(said.contains("something else is measuring") && said.contains("nothing to measure"), "{said}");
    assert!(second.status.success());
}

#[test]
fn export_takes_what_is_allowed_and_refuses_what_is_private() {
    let fake = Fake::new();
    assert!(fail(fake.tally(&["export", "a-machine"])).contains("no local records"));
    succeed(fake.measure(&[]));
    for slug in ["", "Local", "local", "reference", "../x", "a--b"] {
        assert!(fail(fake.tally(&["export", slug])).contains("no name for a machine"), "{slug}");
    }
    fake.change_record(&fake.record().replacen("\"known\":{", "\"known\":{\"host name\":\"arthur-dent\",", 1));
    succeed(fake.tally(&["export", "a-machine"]));
    let exported = fake.unpacked("a-machine");
    assert!(
        !exported.contains("arthur-dent") && !fake.read("data/machines/a-machine/machine.toml").contains("arthur-dent")
    );
    let shown = |machine: &str| fake.print(&["value", "slow[free]", "--machine", machine]);
    assert_eq!(shown("a-machine"), shown("local"));

    fake.change_record(&fake.record().replacen("no steady state", "/home/arthur-dent no steady state", 1));
    let mut export = fake.tally(&["export", "a-machine"]);
    export.env("HOME", "/home/arthur-dent");
    assert!(fail(export).contains("/home/arthur-dent"));
    assert_eq!(fake.unpacked("a-machine"), exported, "what was there stays");
}

#[test]
fn an_export_is_of_one_machine_and_written_whole_or_not_at_all() {
    let fake = Fake::with_plan(&support::plan_with_another("other"));
    succeed(fake.measure(&[]));
    let (pair, other) = (fake.record(), fake.read("data/local/chapter/other.jsonl"));
    let of_another = |record: &str| summed(&record.replacen("\"kernel\":\"", "\"kernel\":\"0.", 1));

    fake.write("data/local/chapter/other.jsonl", &of_another(&other));
    let said = fail(fake.tally(&["export", "a-machine"]));
    assert!(
        said.contains("local/chapter/pair.jsonl is of another machine") && said.contains("kernel; measure again"),
        "{said}"
    );
    assert!(!fake.path("data/machines/a-machine").exists());

    fake.write("data/local/chapter/other.jsonl", &other);
    fake.contribute("a-machine", &of_another(&pair));
    let before = fake.unpacked("a-machine");
    let said = fail(fake.tally(&["export", "a-machine"]));
    assert!(
        said.contains("machines/a-machine/machine.toml is of another") && said.contains("use another name"),
        "{said}"
    );
    assert_eq!(fake.unpacked("a-machine"), before);

    // Nothing takes its place where something cannot be written.
    std::fs::remove_dir_all(fake.path("data/machines/a-machine")).unwrap();
    fake.write("data/machines/a-machine", "no folder");
    assert!(fail(fake.tally(&["export", "a-machine"])).contains("nothing was exported"));
    std::fs::remove_file(fake.path("data/machines/a-machine")).unwrap();
    succeed(fake.tally(&["export", "a-machine"]));
    assert_eq!(fake.unpacked("a-machine"), other + &pair, "no byte is changed by the way");
    let files = std::fs::read_dir(fake.path("data/machines/a-machine/sessions")).unwrap();
    assert_eq!(files.count(), 1, "one bundle");
}

#[test]
fn a_session_is_exported_where_no_machine_came_with_the_programs() {
    let fake = Fake::new();
    drop(std::fs::remove_dir_all(fake.path("data/machines")));
    succeed(fake.measure(&[]));
    succeed(fake.tally(&["export", "a-machine"]));
    assert_eq!(fake.unpacked("a-machine"), fake.record());
}

#[test]
fn an_export_leaves_out_what_failed_and_says_so() {
    let fake = Fake::with_plan(&support::plan_with_another("other"));
    succeed(fake.measure(&[]));
    let (pair, other) = (fake.record(), fake.read("data/local/chapter/other.jsonl"));
    let failures = |line: &str| match line.split_once("\"observation\":") {
        Some((run, seen)) if seen.contains("chapter/slow") => {
            format!("{run}\"failure\":{{\"exit\":\"exit status 7\",\"last_lines\":[]}}}},\"sum\":\"\"}}\n")
        }
        _ => format!("{line}\n"),
    };
    let failed: String = pair.lines().map(failures).collect();
    assert_ne!(failed, pair);
    fake.change_record(&failed);
    let output = fake.tally(&["export", "a-machine"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("local/chapter/pair.jsonl is left out: every process of slow[size=3, free] failed"),
        "{said}"
    );
    assert_eq!(fake.unpacked("a-machine"), other);
}

#[test]
fn an_export_warns_of_what_is_stale_or_planned_no_more() {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    let record = fake.record();
    fake.contribute("a-machine", &record.replacen("\"experiment\":\"pair\"", "\"experiment\":\"gone\"", 1));
    fake.write("benches-src/chapter/src/bin/slow.rs", "//! One operation: another slow step.\n");
    let output = fake.tally(&["export", "a-machine"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    for warning in [
        "local/chapter/pair.jsonl was measured before these changed: chapter/src/bin/slow.rs; run: cargo tally \
         measure pair",
        "bundle.zst: chapter/gone is of no experiment of any plan any more",
    ] {
        assert!(said.contains(warning), "{said}");
    }
    assert!(fake.unpacked("a-machine").ends_with(&record), "it is exported nevertheless");
}

#[test]
fn a_condition_of_glibc_is_a_variable_of_the_environment() {
    let plan = PLAN
        .replace(
            "placement = \"free\" }\nfull",
            "placement = \"free\", condition = [\"none\", \"no-stack-cache\"] }\nfull",
        )
        .replace("full = { placement = [\"free\", \"one-cpu\"] }\n", "");
    let fake = Fake::with_plan(&plan);
    let without = observation("slow", 3000);
    let slow = format!(
        "case \"$GLIBC_TUNABLES\" in glibc.pthread.stack_cache_size=0) {without};; *) {};; esac",
        observation("slow", 2000)
    );
    fake.program("slow", &slow);
    succeed(fake.measure(&[]));
    let ratio = fake.print(&["value", "slow[free, no-stack-cache]", "--over", "slow[free]"]);
    assert_eq!(ratio, "1.50 [1.50–1.50]\n");
    assert!(fake.print(&["table", "pair"]).contains("no-stack-cache]"));
}

/// The usual plan, in which the slow program is also run with jemalloc in the C library's place.
fn plan_with_jemalloc() -> String {
    PLAN.replace("placement = \"free\" }\nfull", "placement = \"free\", condition = [\"none\", \"jemalloc\"] }\nfull")
        .replace("full = { placement = [\"free\", \"one-cpu\"] }\n", "")
}

#[test]
fn a_cell_is_measured_with_its_own_allocator_or_not_at_all() {
    let fake = Fake::with_plan(&plan_with_jemalloc());
    let (with, without) = (observation("slow", 3000), observation("slow", 2000));
    // The shell that runs this says which libraries it has loaded.
    fake.program("slow", &format!("if grep -q /libjemalloc /proc/$$/maps; then {with}; else {without}; fi"));
    succeed(fake.measure(&[]));
    let shown = fake.print(&["value", "slow[free, jemalloc]", "--over", "slow[free]"]);
    let names_it = fake.record().contains("\"libjemalloc.so.2\":\"");
    if names_it {
        assert_eq!(shown, "1.50 [1.50–1.50]\n");
    } else {
        assert!(
            shown.contains("libjemalloc.so.2 is not installed; on Debian: apt-get install libjemalloc2"),
            "{shown}"
        );
    }
}

#[test]
fn a_program_that_no_library_can_be_loaded_for_is_not_measured_as_if_one_were() {
    let fake = Fake::with_plan(&plan_with_jemalloc());
    let said = line("slow", 2000).replace("PLACEMENT", "free");
    fake.write("slow.rs", &format!("fn main() {{ println!(\"{{}}\", r#\"{said}\"#) }}"));
    let mut compiler = Command::new("rustc");
    compiler
        .args(["-C", "target-feature=+crt-static"])
        .arg(fake.path("slow.rs"))
        .arg("-o")
        .arg(fake.path("programs/slow"));
    succeed(compiler);
    succeed(fake.measure(&[]));
    let shown = fake.print(&["value", "slow[free, jemalloc]"]);
    assert!(shown.contains("its program loads no libraries"), "{shown}");
    assert!(!fake.print(&["value", "slow[free]"]).contains("unavailable"), "without the condition it is measured");
}

#[test]
fn a_program_that_only_a_full_run_measures_takes_nothing_from_a_quick_page() {
    let third = "[[cells]]\nprograms = [\"third\"]\nfull = { placement = \"free\" }\n\n=== claims";
    let entry = "[program]\nthird = { label = \"third\", series = \"task\" }\n";
    let fake = Fake::with_plan(&PLAN.replacen("=== claims", third, 1).replacen("[program]\n", entry, 1));
    fake.write("benches-src/chapter/src/bin/third.rs", "//! One operation: a third step.\n");
    fake.program("third", &observation("third", 3000));
    succeed(fake.measure(&[]));
    let page = fake.print(&["table", "pair", "--form", "page"]);
    assert!(page.contains("Measured with effort = full only") && page.contains("third"), "{page}");
    assert!(fake.print(&["value", "third"]).contains("full only"));
    assert!(fail(fake.tally(&["value", "fourth"])).contains("unknown program"));
}
