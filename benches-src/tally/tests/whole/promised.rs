//! What was promised of how long the book measures, held against the sessions that the checkout
//! brings along.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tally::book::experiment::Experiment;
use tally::book::plan::Plans;
use tally::project::Project;
use tally::record::Effort;
use tally::record::contributed::Contributed;

const QUICK: Duration = Duration::from_secs(8 * 60);
const FULL: Duration = Duration::from_secs(100 * 60);

#[test]
#[expect(clippy::print_stdout, reason = "how near the promise is says when something has to give")]
fn the_rounds_of_all_experiments_take_no_longer_than_promised_on_the_reference_machine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let plans = Plans::load(&Project::at(&root).unwrap()).unwrap();
    let reference = Contributed::open(&root.join("data/machines/reference"), &root.join("target/digests"));
    for (effort, most) in [(Effort::Quick, QUICK), (Effort::Full, FULL)] {
        // Of each experiment the newest, whichever session that is in.
        let mut newest = BTreeMap::new();
        for (session, index, header) in reference.records().filter(|(.., header)| header.effort == effort) {
            // What was given up since is in no run, and what is measured only where it is named, or
            // where limits may be pushed, is in none of all.
            let is_in_all = |own: &Experiment| own.is_asked_for(&[]) && !own.push;
            if !plans.experiment(&header.experiment).is_ok_and(|(_, experiment)| is_in_all(experiment)) {
                continue;
            }
            let name = (header.chapter.clone(), header.experiment.clone());
            newest.insert(name, session.record(index).unwrap().rounds_took());
        }
        let all: Duration = newest.values().sum();
        println!(
            "{effort:?}: {} experiments in {:.0} s, to be at most {:.0}",
            newest.len(),
            all.as_secs_f64(),
            most.as_secs_f64()
        );
        assert!(newest.len() > 30, "{effort:?}: only {} experiments", newest.len());
        assert!(all <= most, "{effort:?}: {all:?}; the longest are {:?}", longest(&newest));
    }
}

fn longest(experiments: &BTreeMap<(String, String), Duration>) -> Vec<(&str, u64)> {
    let mut all: Vec<_> = experiments.iter().map(|((_, name), took)| (name.as_str(), took.as_secs())).collect();
    all.sort_by_key(|(_, seconds)| std::cmp::Reverse(*seconds));
    all.truncate(8);
    all
}
