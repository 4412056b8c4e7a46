//! What computes keeps its worker: a light task behind it waits.

use crate::support::observe;

#[test]
fn a_light_task_waits_behind_tasks_that_compute() {
    let laps = ["--bytes", "16777216", "--placement", "one-cpu", "--histogram", "5"];
    let seen = observe(&[env!("CARGO_BIN_EXE_wait-task")], &laps);
    // No CPU hashes 16 MiB within two milliseconds, and with one worker two such computations come first.
    assert!(seen.samples[0].elapsed_ns / seen.samples[0].operations > 2_000_000, "{seen:?}");
}
