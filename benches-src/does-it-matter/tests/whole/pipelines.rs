//! Every program of pipelines is run as a reader would run it: all events arrive, each once and in its order.

use crate::support::{observe, run};

const THREAD: &str = env!("CARGO_BIN_EXE_pipeline-thread");
const SMOL: &str = env!("CARGO_BIN_EXE_pipeline-smol");
const TOKIO: &str = env!("CARGO_BIN_EXE_pipeline-tokio");

const ARMS: [(&str, &[&str]); 6] = [
    (THREAD, &["--channel", "crossbeam"]),
    (THREAD, &["--channel", "std"]),
    (THREAD, &["--channel", "blocking"]),
    (SMOL, &[]),
    (TOKIO, &["--runtime", "multi"]),
    (TOKIO, &["--runtime", "current"]),
];

#[test]
fn every_event_arrives_in_order() {
    for (program, own) in ARMS {
        for (pipelines, offramps) in [("1", "one"), ("4", "each"), ("64", "one"), ("64", "each")] {
            let shape = ["--pipelines", pipelines, "--offramps", offramps, "--capacity", "2"];
            let seen = observe(&[program], &[own, &shape, &["--iters", "2", "--warmups", "1"]].concat());
            assert_eq!(seen.samples[0].operations, 2 * 4096, "{program} {own:?} {shape:?}");
        }
    }
}

#[test]
fn events_that_cannot_be_shared_out_evenly_are_refused() {
    for (program, _) in ARMS {
        for wrong in ["0", "3", "512", "many"] {
            let output = run(&[program], &["--pipelines", wrong, "--once"]);
            assert!(!output.status.success(), "{program} took {wrong} pipelines");
            assert!(String::from_utf8_lossy(&output.stderr).contains("--pipelines"), "{program} {wrong}");
        }
    }
}
