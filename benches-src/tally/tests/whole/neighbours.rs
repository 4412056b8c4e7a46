//! The conditions `spinners` and `streamer`, with shell scripts that look around them while they
//! are measured.

use crate::support::{Fake, PLAN, fail, observation, succeed};

/// The usual plan, with the slow program also amid spinners.
fn plan() -> String {
    let grid = "quick = { placement = \"free\" }\nfull = { placement = [\"free\", \"one-cpu\"] }";
    let plan = PLAN.replacen("limit_seconds", "further_measures = [\"spinners\"]\nlimit_seconds", 1);
    let amid = "condition = [\"none\", \"spinners\"] }";
    assert!(PLAN.contains(grid));
    plan.replace(
        grid,
        &format!("quick = {{ placement = \"free\", {amid}\nfull = {{ placement = [\"free\", \"one-cpu\"], {amid}"),
    )
}

/// The usual plan, with the slow program also beside a streamer.
fn plan_with_streamer() -> String {
    plan().replace("\"none\", \"spinners\"", "\"none\", \"streamer\"")
}

/// Reports how many of its siblings are spinners (tally by the name under which it runs) of the
/// class SCHED_IDLE (5), each on one CPU; and takes longer without any.
const LOOKS_AROUND: &str = r#"
spinners=0
for process in /proc/[0-9]*; do
    grep -qs "^PPid:[[:space:]]*$PPID\$" $process/status || continue
    tr '\0' ' ' <$process/cmdline | grep -q 'exe spin [0-9]* $' || continue
    [ "$(cut -d ' ' -f 41 $process/stat)" = 5 ] || continue
    grep -q '^Cpus_allowed_list:[[:space:]]*[0-9]*$' $process/status && spinners=$((spinners+1))
done
if [ $spinners = 0 ]; then ns=2000; else ns=1500; fi
echo '{"program":"chapter/slow","parameters":{"size":3},"placement":"free",
"samples":[{"operations":1000,"elapsed_ns":'$ns'000}],"measures":{"spinners":{"unit":"1","values":['$spinners']}}}'
"#;

fn json(fake: &Fake, expression: &str) -> serde_json::Value {
    serde_json::from_str(&fake.print(&["value", expression, "--json"])).unwrap()
}

#[test]
fn one_spins_on_every_cpu_while_the_cell_runs_and_at_no_other_time() {
    let fake = Fake::with_plan(&plan());
    fake.program("slow", LOOKS_AROUND);
    succeed(fake.measure(&[]));
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    assert_eq!(json(&fake, "slow[free, spinners].spinners")["median"], cpus);
    assert_eq!(json(&fake, "slow[free].spinners")["median"], 0.0, "without a condition, the cell without any");
    assert_eq!(json(&fake, "slow[free]")["median_ns"], 2000.0);
    assert_eq!(json(&fake, "slow[free, twin]")["median_ns"], 2000.0);
    assert_eq!(json(&fake, "slow[free, spinners] / slow[free]")["median"], 0.75);
}

#[test]
fn one_streams_on_another_core_while_the_cell_runs_or_the_reason_is_recorded() {
    let fake = Fake::with_plan(&plan_with_streamer());
    fake.program("slow", &LOOKS_AROUND.replace("exe spin [0-9]* ", "exe stream [1-9][0-9]* [1-9][0-9]* "));
    succeed(fake.measure(&[]));
    assert_eq!(json(&fake, "slow[free].spinners")["median"], 0.0, "without a condition, the cell without any");
    let beside = json(&fake, "slow[free, streamer].spinners");
    match beside["reason"].as_str() {
        None => assert_eq!(beside["median"], 1.0),
        Some(reason) => assert!(reason.contains("core") || reason.contains("cache"), "{reason}"),
    }
}

#[test]
fn tables_name_the_condition_and_fall_back_to_the_plain_baseline() {
    let fake = Fake::with_plan(&plan());
    fake.program("slow", LOOKS_AROUND);
    succeed(fake.measure(&[]));
    let table = fake.print(&["table", "pair"]);
    assert!(table.contains("slow[size=3, free, spinners]     1.50 µs [1.50–1.50], beyond I/O 500 ns"), "{table}");
    let page = fake.print(&["table", "pair", "--form", "page"]);
    assert!(page.contains(">slow, with spinners</a>"), "{page}");
    assert_eq!(
        page.matches("1900").count() + page.matches("1.90").count(),
        1,
        "published beside the plain cell: {page}"
    );
    let points = fake.print(&["chart", "pair", "dots"]);
    assert!(points.contains("\"label\":\"slow, with spinners\""), "{points}");
}

#[test]
fn a_baseline_under_the_same_condition_is_preferred() {
    let baseline = "quick = { placement = \"free\" }\n\n[[cells]]\nprograms = [\"slow\"]";
    let amid = baseline.replace("\"free\"", "\"free\", condition = [\"none\", \"spinners\"]");
    let fake = Fake::with_plan(&plan().replacen(baseline, &amid, 1));
    fake.program("slow", LOOKS_AROUND);
    fake.program("fast", &LOOKS_AROUND.replace("slow", "fast").replace("2000", "1000").replace("1500", "900"));
    succeed(fake.measure(&[]));
    let table = fake.print(&["table", "pair"]);
    assert!(table.contains("slow[size=3, free, spinners]     1.50 µs [1.50–1.50], beyond I/O 600 ns"), "{table}");
}

#[test]
fn spinners_end_with_what_they_were_started_for() {
    let fake = Fake::with_plan(&plan());
    fake.program("slow", &format!("sleep 0.3; {}", observation("slow", 2000)));
    for signal in ["-TERM", "-KILL"] {
        let mut tally = fake.measure(&[]).spawn().unwrap();
        let tally_id = tally.id().to_string();
        let spinners = || {
            let found = std::process::Command::new("pgrep").args(["-P", &tally_id, "-f", "exe spin"]).output().unwrap();
            String::from_utf8(found.stdout).unwrap()
        };
        let mut running = String::new();
        while running.is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(5));
            running = spinners();
        }
        assert!(std::process::Command::new("kill").args([signal, &tally_id]).status().unwrap().success());
        tally.wait().unwrap();
        let spins = |spinner: &&str| {
            let status = std::fs::read_to_string(format!("/proc/{spinner}/status")).unwrap_or_default();
            !status.is_empty() && !status.contains("State:\tZ")
        };
        // On a busy machine it takes a while until who is killed has gone.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while let Some(left) = running.lines().find(spins) {
            assert!(std::time::Instant::now() < deadline, "{signal}: {left} still spins");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn plans_with_mistakes_in_conditions_are_refused() {
    for (from, to, reason) in [
        (
            "[\"none\", \"spinners\"]",
            "[\"none\", \"moonlight\"]",
            "unknown condition \"moonlight\" of slow; there are: none, spinners, streamer",
        ),
        ("[\"none\", \"spinners\"]", "[\"spinners\"]", "the quick grid lacks slow[size=3, free], but has"),
        ("twins = [\"fast[free]\"]", "twins = [\"slow[free, spinners]\"]", "cannot have a twin"),
    ] {
        let plan = plan().replace("twins = [\"slow[free]\"]", "twins = [\"fast[free]\"]");
        let fake = Fake::with_plan(&plan.replacen(from, to, 1));
        let said = fail(fake.tally(&["list"]));
        assert!(said.contains("experiments/pair.toml") && said.contains(reason), "{said}");
    }
}
