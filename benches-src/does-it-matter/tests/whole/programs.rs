//! Every program of the chapter is run once as a reader would run it; what each does beside is looked at in the other files.

use crate::support::each_program_does_what_it_says;

#[test]
fn each_program_does_its_work_once_and_says_what_it_has() {
    each_program_does_what_it_says(|name| match name {
        // It needs a server that runs already: servers.rs has one.
        "load" | "callers" => None,
        // They build what they measure, for seconds: building.rs has them.
        "service" | "serve-documented" | "count-instructions" => None,
        // What they do once is a whole load test, of several phases.
        "serve-thread" | "serve-tokio-plain" | "serve-tokio" | "serve-nothing" => {
            Some(&["--milliseconds", "40", "--common-rate", "500"])
        }
        "ask-thread" | "ask-pool" | "ask-tokio" => Some(&["--milliseconds", "40", "--connections", "20"]),
        "spread-thread" | "spread-tokio" | "spread-runtimes" | "spread-monoio" => {
            Some(&["--milliseconds", "40", "--connections", "20"])
        }
        "brief-thread" | "brief-pool" | "brief-tokio" => Some(&["--milliseconds", "40"]),
        _ => Some(&[]),
    });
}
