//! Programs that are linked anew for each round, with a script in the place of cargo.

mod support;

use std::fs;
use std::process::Command;

use serde_json::Value;
use support::{Fake, PLAN, fail, succeed};

/// Builds the fake programs: they say in which order they were linked. A file makes its linker one that knows no orders.
const CARGO: &str = r#"
echo "${LINK_ORDER:-usual} $*" >> cargo.log
if [ -n "$LINK_ORDER" ] && [ -e old-linker ]; then echo "unknown argument" >&2; exit 1; fi
mkdir -p target/release
for program in fast slow; do
    sed "s/no steady state/linked ${LINK_ORDER:-as usual}/" programs/$program > target/release/$program
    chmod +x target/release/$program
done
"#;

fn fake() -> Fake {
    with_cargo(CARGO)
}

fn with_cargo(script: &str) -> Fake {
    let fake = Fake::with_plan(&PLAN.replacen("limit_seconds", "relinked = true\nlimit_seconds", 1));
    fake.script("bin/cargo", script);
    fake
}

fn measure(fake: &Fake, arguments: &[&str]) -> Command {
    let mut command = fake.tally(&["measure"]);
    let path = format!("{}:{}", fake.path("bin").display(), std::env::var("PATH").unwrap());
    command.args(arguments).env("PATH", path);
    command
}

/// Cell, round, order of the functions and what the program said of it, of each process.
fn runs(fake: &Fake) -> Vec<(u64, u64, Option<u64>, String)> {
    let lines: Vec<Value> = fake.record().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // One of the cells fails: what its program prints is of another placement.
    let runs = lines.iter().filter_map(|line| line.get("run")).filter(|run| run.get("observation").is_some());
    let number = |run: &Value, key: &str| run[key].as_u64();
    let said = |run: &Value| run["observation"]["doubts"][0].as_str().unwrap().split(':').next().unwrap().to_owned();
    runs.map(|run| (run["cell"].as_u64().unwrap(), number(run, "round").unwrap(), number(run, "link_order"), said(run)))
        .collect()
}

#[test]
fn each_round_runs_an_order_of_its_own_and_a_twin_another() {
    let fake = fake();
    succeed(measure(&fake, &["--effort", "full"]));
    let twin = 3;
    for (cell, round, order, said) in runs(&fake) {
        let wanted = round + if cell == twin { 2 } else { 1 };
        assert_eq!((order, said), (Some(wanted), format!("linked {wanted}")), "cell {cell} in round {round}");
    }
    assert!(fake.read("target/release/slow").contains("linked as usual"), "others find what they know");
    let page = fake.print(&["table", "pair", "--form", "page"]);
    assert!(page.contains("in 21 orders of functions"), "{page}");
}

#[test]
fn what_was_linked_is_kept_until_a_program_changes() {
    let fake = fake();
    let builds = |fake: &Fake| -> Vec<String> {
        let log = fake.read("cargo.log");
        fs::remove_file(fake.path("cargo.log")).unwrap();
        log.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    succeed(measure(&fake, &["--effort", "full"]));
    assert_eq!(builds(&fake).iter().filter(|order| *order != "usual").count(), 21);
    succeed(measure(&fake, &["--effort", "full", "--again"]));
    assert_eq!(builds(&fake), ["usual"]);

    fake.program("slow", &support::observation("slow", 2100));
    succeed(measure(&fake, &["--effort", "full", "--again"]));
    assert_eq!(builds(&fake).iter().filter(|order| *order != "usual").count(), 21);
    let kept = |program: &str| fs::read_dir(fake.path("target/link-orders").join(program)).unwrap().count();
    assert_eq!((kept("fast"), kept("slow")), (21, 21), "what the program was before is gone");
    assert_eq!(fake.print(&["value", "slow[free]", "--json"]).matches("2100").count(), 3);
}

#[test]
fn with_a_linker_that_cannot_and_in_a_quick_run_the_page_says_what_no_interval_has() {
    for (effort, rounds) in [("full", 20), ("quick", 6)] {
        let fake = fake();
        fake.write("old-linker", "");
        succeed(measure(&fake, &["--effort", effort]));
        assert!(runs(&fake).iter().all(|(_, _, order, said)| order.is_none() && said == "linked as usual"));
        assert_eq!(runs(&fake).iter().filter(|(cell, ..)| *cell == 0).count(), rounds);
        let page = fake.print(&["table", "pair", "--form", "page"]);
        assert!(page.contains("Doubt: all rounds ran programs that were linked once"), "{page}");
    }
}

#[test]
fn a_chapter_whose_build_script_knows_no_orders_is_told() {
    let fake = with_cargo(&CARGO.replace("linked ${LINK_ORDER:-as usual}", "linked as usual"));
    let error = fail(measure(&fake, &["--effort", "full"]));
    assert!(error.contains("fast is the same in order 1 as without"), "{error}");
}

#[test]
fn asked_to_stop_while_linking_it_does_not_blame_the_linker() {
    let fake = with_cargo(&CARGO.replace("mkdir", "[ -z \"$LINK_ORDER\" ] || { kill -INT $PPID; exit 1; }\nmkdir"));
    let error = fail(measure(&fake, &["--effort", "full"]));
    assert!(error.contains("interrupted") && !error.contains("this linker"), "{error}");
}
