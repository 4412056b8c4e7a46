//! Plans against what programs say of themselves.

use crate::support::{Fake, PLAN, fail};

/// A program that says it has these parameters and measures.
fn describing(name: &str, parameters: &str, measures: &str) -> String {
    format!(r#"echo '{{"program":"chapter/{name}","parameters":[{parameters}],"measures":[{measures}]}}'"#)
}

const SIZE: &str = r#"{"name":"size","default":"1","values":[],"means":"how large"}"#;

fn check(fake: &Fake) -> String {
    let output = fake.tally(&["check", "--programs", "programs"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_parameter_that_a_program_does_not_have_is_found_with_the_one_that_was_meant() {
    let fake = Fake::new();
    fake.raw_program("fast", &describing("fast", SIZE, ""));
    fake.raw_program("slow", &describing("slow", &SIZE.replace("\"size\"", "\"sizes\""), ""));
    let said = check(&fake);
    assert!(said.contains("experiments/pair.toml: of slow: it has no parameter size (did you mean sizes?)"), "{said}");
    assert!(!said.contains("of fast: it has"), "{said}");
}

#[test]
fn a_value_that_a_parameter_cannot_have_is_found() {
    let fake = Fake::new();
    fake.raw_program("fast", &describing("fast", SIZE, ""));
    fake.raw_program("slow", &describing("slow", &SIZE.replace("[]", "[\"4\",\"5\"]"), ""));
    let said = check(&fake);
    assert!(said.contains("of slow: size is one of 4, 5, and not 3"), "{said}");
}

#[test]
fn a_measure_that_a_program_does_not_report_is_found_whatever_is_asked_of_it() {
    let plan =
        PLAN.replace("limit_seconds = 2", "limit_seconds = 2\nfurther_measures = [\"held_bytes\", \"calls_read\"]");
    let fake = Fake::with_plan(&plan);
    let measures = r#"{"name":"held_byte","unit":"B","means":"x"},{"name":"calls_*","unit":"1","means":"x"}"#;
    for name in ["fast", "slow"] {
        fake.raw_program(name, &describing(name, SIZE, measures));
    }
    let said = check(&fake);
    assert!(said.contains("of fast: it has no measure held_bytes (did you mean held_byte?)"), "{said}");
    assert!(!said.contains("calls_read"), "{said}");
}

#[test]
fn programs_that_are_not_built_or_are_others_are_said_to_be() {
    let fake = Fake::new();
    fake.raw_program("fast", &describing("slow", SIZE, ""));
    fake.raw_program("slow", "echo nonsense");
    let said = check(&fake);
    assert!(said.contains("fast: it calls itself chapter/slow instead of chapter/fast"), "{said}");
    assert!(said.contains("slow: --describe printed no description"), "{said}");
    let said = fail(fake.tally(&["check", "--programs", "nowhere"]));
    assert!(said.contains("nowhere/fast cannot be started; run: cargo build --release"), "{said}");
}
