//! After a thousand rounds nothing is left over. The only test of its executable, since it looks at
//! the whole process.

mod support;

use std::fs;

use tally::book::plan::Plans;
use tally::measure::budget::cells;
use tally::measure::interrupted::Interrupted;
use tally::measure::session::Session;
use tally::project::Project;
use tally::record::machine::State;
use tally::record::sources::Sources;
use tally::record::{Effort, FORMAT, Header, Record};

use support::{Fake, observation};

/// One cell for the thousand rounds; then, in one experiment each, all other ways in which a
/// process can come and go.
const PLAN: &str = r#"
=== experiments/many.toml
question = "?"
prediction = "!"
per = "step"
headline = "fast / fast"
twins = ["fast"]
cells = [{ programs = ["fast"], quick = { placement = ["free"], size = [3] } }]

=== experiments/odd.toml
question = "?"
prediction = "!"
per = "step"
headline = "fast / slow"
twins = ["fast"]
limit_seconds = 1
cells = [
    { programs = ["fast"], quick = { placement = ["free"], condition = ["none", "spinners"], size = [3] } },
    { programs = ["slow"], quick = { placement = ["free"], condition = ["none", "spinners"], size = [3] } },
]

=== experiments/counted.toml
question = "?"
prediction = "!"
per = "step"
count = "system-calls"
limit_seconds = 1
cells = [
    { programs = ["fast"], quick = { placement = ["free"], condition = ["none", "spinners"], size = [3] } },
    { programs = ["slow"], quick = { placement = ["free"], size = [3] } },
]
"#;

/// What this process holds: descriptors, threads, children, and what lies in its temporary folder.
fn held(temporary: &std::path::Path) -> [usize; 4] {
    let entries = |folder: &str| fs::read_dir(folder).unwrap().count();
    let own = std::process::id();
    let is_child = |entry: &fs::DirEntry| {
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{own}"))
    };
    let children = fs::read_dir("/proc").unwrap().flatten().filter(is_child).count();
    [entries("/proc/self/fd"), entries("/proc/self/task"), children, fs::read_dir(temporary).unwrap().count()]
}

fn session(fake: &Fake, experiment: &str, effort: Effort, interrupted: &Interrupted) -> Record {
    let project = Project::find().unwrap();
    let plans = Plans::load(&project).unwrap();
    let (plan, experiment) = plans.experiment(experiment).unwrap();
    let path = project.local_record(&plan.chapter, &experiment.name);
    let header = Header {
        format: FORMAT,
        chapter: plan.chapter.clone(),
        experiment: experiment.name.clone(),
        effort,
        seed: 1,
        cells: cells(effort, experiment).unwrap().into_iter().filter(|cell| !cell.is_twin()).collect(),
        sources: Sources::default(),
        built: None,
        revision: None,
        machine: Default::default(),
        before: State::read(),
    };
    let session = Session {
        project: &project,
        programs: fake.path("programs"),
        link_orders: None,
        before: None,
        tally: env!("CARGO_BIN_EXE_tally").into(),
        experiment,
        plan,
        path: path.clone(),
        interrupted: interrupted.clone(),
        progress: &|_, _| {},
    };
    session.run(header).unwrap();
    Record::load(&path).unwrap().unwrap()
}

#[test]
fn after_a_thousand_rounds_nothing_is_left_over() {
    let fake = Fake::with_plan(PLAN);
    fake.program("fast", &observation("fast", 1000));
    fake.write("temporary/.keep", "");
    std::env::set_current_dir(fake.root()).unwrap();
    // SAFETY: the harness of the only test of this executable reads no variable meanwhile.
    unsafe { std::env::set_var("TMPDIR", fake.path("temporary")) };
    let interrupted = Interrupted::listen().unwrap();
    session(&fake, "many", Effort::Test, &interrupted);

    let before = held(&fake.path("temporary"));
    let mut rounds = 0;
    while rounds < 1000 {
        rounds += session(&fake, "many", Effort::Full, &interrupted).complete_rounds().len();
    }
    for script in ["exit 3", "echo nonsense", "exec sleep 60"] {
        fake.program("slow", script);
        session(&fake, "odd", Effort::Test, &interrupted);
        session(&fake, "counted", Effort::Test, &interrupted);
    }
    assert_eq!(held(&fake.path("temporary")), before, "descriptors, threads, children, temporary files");
}
