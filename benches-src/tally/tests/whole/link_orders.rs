//! Programs that are linked anew for each round: with scripts in the place of cargo and its linker,
//! and with the real ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Fake, PLAN, fail, line, observation, succeed};
use serde_json::Value;

/// Builds the fake programs: they say in which order they were linked. What it links them of is
/// noted down where it is asked to, unless a file makes its linker one that cannot.
const CARGO: &str = r#"
mkdir -p target/release/deps
for program in fast slow; do
    sed "s/no steady state/linked as usual/" programs/$program > target/release/$program
    chmod +x target/release/$program
done
if [ -z "$LLD_REPRODUCE" ] || [ -e old-linker ]; then exit 0; fi
for last in "$@"; do program=$last; done
mkdir -p collected/inputs
cp programs/$program collected/inputs/program
tar -cf "$LLD_REPRODUCE" -C collected inputs
"#;

/// Links a program in an order, and notes that down.
const LINKER: &str = r#"
order="as usual"
while [ $# -gt 0 ]; do
    case "$1" in
        -o) to=$2 ;;
        --shuffle-sections=*) order=${1##*=} ;;
    esac
    shift
done
echo "$order" >> ../../../../links.log
sed "s/no steady state/linked $order/" program > "$to"
chmod +x "$to"
"#;

fn fake() -> Fake {
    with_tools(CARGO, LINKER)
}

fn with_tools(cargo: &str, linker: &str) -> Fake {
    let fake = Fake::with_plan(&plan());
    fake.script("bin/cargo", cargo);
    fake.script("bin/rustc", "echo \"$PWD/toolchain/lib\"");
    fake.script("toolchain/bin/rust-lld", linker);
    fake
}

fn plan() -> String {
    PLAN.replacen("limit_seconds", "relinked = true\nlimit_seconds", 1)
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
    let runs = lines.iter().filter_map(|line| line.get("run"));
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
    let links = |fake: &Fake| {
        let log = fs::read_to_string(fake.path("links.log")).unwrap_or_default();
        fs::write(fake.path("links.log"), "").unwrap();
        log.lines().filter(|order| *order != "as usual").count()
    };
    succeed(measure(&fake, &["--effort", "full"]));
    assert_eq!(links(&fake), 2 * 41);
    succeed(measure(&fake, &["--effort", "full", "--again"]));
    assert_eq!(links(&fake), 0);

    fake.program("slow", &observation("slow", 2100));
    succeed(measure(&fake, &["--effort", "full", "--again"]));
    assert_eq!(links(&fake), 41, "the other program is as it was");
    assert_eq!((kept(&fake, "fast").len(), kept(&fake, "slow").len()), (41, 41), "what the program was before is gone");
    assert_eq!(fs::read_dir(fake.path("target/link-orders")).unwrap().count(), 2, "what they were linked of is gone");
    assert_eq!(
        fake.print(&["value", "slow[free]", "--json"]).matches("2100").count(),
        4,
        "the low end is an earlier session's"
    );
}

/// The programs that are linked in other orders.
fn kept(fake: &Fake, program: &str) -> Vec<PathBuf> {
    fs::read_dir(fake.path("target/link-orders").join(program)).unwrap().map(|entry| entry.unwrap().path()).collect()
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
fn why_a_linker_cannot_is_said() {
    let said = |fake: &Fake| {
        let output = measure(fake, &["--effort", "full"]).output().unwrap();
        assert!(output.status.success() && runs(fake).iter().all(|(_, _, order, _)| order.is_none()));
        String::from_utf8(output.stderr).unwrap()
    };
    let with_another = fake();
    with_another.write("old-linker", "");
    assert!(said(&with_another).contains("cargo links fast with another linker than lld"));

    let without = fake();
    fs::remove_file(without.path("toolchain/bin/rust-lld")).unwrap();
    assert!(said(&without).contains("Rust's toolchain has no linker at"));

    let of_another_version = with_tools(CARGO, &LINKER.replace("as usual", "by another version"));
    assert!(said(&of_another_version).contains("target/release/fast as it is"));

    let without_orders = with_tools(CARGO, &LINKER.replace("order=${1##*=}", "echo \"unknown argument\" >&2; exit 1"));
    assert!(said(&without_orders).contains("unknown argument"));
}

#[test]
fn the_environment_does_not_make_cargo_build_elsewhere_or_otherwise() {
    let fake = with_tools(&format!("echo \"$@\" >> cargo.log; env >> cargo.log\n{CARGO}"), LINKER);
    let mut command = measure(&fake, &["--effort", "test"]);
    for name in [
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
        "CARGO_PROFILE_RELEASE_LTO",
    ] {
        command.env(name, "of-the-environment");
    }
    command.env("CARGO_BUILD_JOBS", "2");
    succeed(command);
    let log = fake.read("cargo.log");
    assert!(log.contains(&format!("--target-dir {}", fake.path("target").display())), "{log}");
    assert!(!log.contains("of-the-environment") && log.contains("CARGO_BUILD_JOBS=2"), "{log}");
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "it names a target, which must be this machine's")]
fn what_a_users_configuration_says_leads_neither_elsewhere_nor_to_other_programs() {
    let fake = compiled();
    let configuration = "[build]\ntarget = \"x86_64-unknown-linux-gnu\"\nrustflags = [\"--cfg\", \"otherwise\"]\n\
                         [profile.release]\ndebug-assertions = true\n";
    fake.write("home/config.toml", configuration);
    let measure = || {
        let mut measure = fake.tally(&["measure", "--effort", "test"]);
        measure.env("CARGO_HOME", fake.path("home"));
        succeed(measure);
        fake.record()
    };
    assert!(measure().contains("no steady state"));
    let path = "benches-src/chapter/src/bin/slow.rs";
    let refuses = "fn main() { if cfg!(any(otherwise, debug_assertions)) { panic!(\"built otherwise\") }";
    fake.write(path, &fake.read(path).replace("no steady state", "of another listing").replace("fn main() {", refuses));
    let record = measure();
    assert!(record.contains("of another listing"), "an old program was measured: {record}");
    assert!(!record.contains("\"failure\""), "{record}");
}

#[test]
fn an_order_that_changes_nothing_is_told() {
    let fake = with_tools(CARGO, &LINKER.replace("order=${1##*=}", ""));
    let error = fail(measure(&fake, &["--effort", "full"]));
    assert!(error.contains("fast is the same in order 1 as without"), "{error}");
}

#[test]
fn a_program_that_changes_meanwhile_is_not_measured() {
    let fake = with_tools(&format!("[ -z \"$LLD_REPRODUCE\" ] || echo : >> programs/slow\n{CARGO}"), LINKER);
    let error = fail(measure(&fake, &["--effort", "full"]));
    assert!(error.contains("slow was changed while it was linked in other orders"), "{error}");
}

#[test]
fn what_is_built_beside_a_session_is_not_measured_by_it() {
    let fake = with_tools(CARGO, LINKER);
    // As cargo does, somebody puts another file in a program's place, as soon as that has run once.
    let replaced = "mv other target/release/slow 2>/dev/null\n";
    fake.script("other", &observation("slow", 9000));
    fake.program("slow", &format!("{replaced}{}", observation("slow", 2000)));
    succeed(measure(&fake, &[]));
    assert!(fake.read("target/release/slow").contains("9000000"), "it was replaced");
    assert!(fake.record().contains("2000000") && !fake.record().contains("9000000"), "{}", fake.record());

    fake.program("slow", &observation("slow", 2100));
    succeed(measure(&fake, &["--again"]));
    assert!(fake.record().contains("2100000"), "the next session measures what is built by then");
}

#[test]
fn asked_to_stop_while_linking_it_does_not_blame_the_linker() {
    let stop = "[ -z \"$LLD_REPRODUCE\" ] || { kill -INT $PPID; sleep 1; exit 1; }\n";
    let fake = with_tools(&format!("{stop}{CARGO}"), LINKER);
    let error = fail(measure(&fake, &["--effort", "full"]));
    assert!(error.contains("interrupted") && !error.contains("this linker"), "{error}");
}

/// A project whose programs are compiled: they print what the scripts do.
fn compiled() -> Fake {
    let fake = Fake::with_plan(&plan());
    let package = "[package]\nname = \"chapter\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    fake.write("rust-toolchain.toml", include_str!("../../../../rust-toolchain.toml"));
    fake.write(".cargo/config.toml", "[build]\ntarget-dir = \"target\"\n");
    fake.write("benches-src/Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"chapter\"]\n");
    fake.write("benches-src/Cargo.lock", "version = 4\n\n[[package]]\nname = \"chapter\"\nversion = \"0.1.0\"\n");
    fake.write("benches-src/chapter/Cargo.toml", package);
    for (program, ns) in [("fast", 1000), ("slow", 2000)] {
        let line = line(program, ns);
        let unless_once = "if std::env::args().all(|argument| argument != \"--once\")";
        let placement = "std::env::args().skip_while(|argument| argument != \"--placement\").nth(1).unwrap()";
        let code = format!(
            "//! One operation: a step.\nfn main() {{ {unless_once} {{ \
             println!(\"{{}}\", r#\"{line}\"#.replace(\"PLACEMENT\", &{placement})) }} }}\n"
        );
        fake.write(&format!("benches-src/chapter/src/bin/{program}.rs"), &code);
    }
    fake
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "Rust links with lld on this architecture alone")]
fn real_programs_are_linked_in_several_orders_and_the_usual_ones_stay() {
    let fake = compiled();
    let usual = || fs::read(fake.path("target/release/slow")).unwrap();
    succeed(fake.tally(&["measure", "--effort", "test"]));
    let before = usual();
    succeed(fake.tally(&["measure", "--effort", "full"]));
    assert!(before == usual(), "linking in other orders has changed the usual program");
    let linked = kept(&fake, "slow");
    assert_eq!(linked.len(), 41);
    let in_order = |order: &str| linked.iter().find(|path| path.to_string_lossy().ends_with(order)).unwrap();
    assert!(fs::read(in_order("-1")).unwrap() != fs::read(in_order("-2")).unwrap(), "two orders make one program");
    for order in ["-1", "-2"] {
        assert!(does_its_work_once(in_order(order)), "in order {order}");
    }
}

fn does_its_work_once(program: &Path) -> bool {
    Command::new(program).arg("--once").status().unwrap().success()
}
