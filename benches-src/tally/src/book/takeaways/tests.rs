//! What is wrong with sentences, and what they stand on.

use super::*;

fn takeaway(cases: &str) -> Result<()> {
    let front: Front = toml::from_str(&format!("[[takeaway]]\nid = \"x\"\ncase = [{cases}]\n"))?;
    cases_are_whole(&front.takeaways[0].cases)
}

#[test]
fn every_outcome_has_a_sentence_and_none_is_hidden() {
    assert!(takeaway("{ when = [\"a > 1\"], say = \"more\" }, { say = \"else\" }").is_ok());
    for (cases, reason) in [
        ("{ when = [\"a > 1\"], say = \"more\" }", "an outcome is missing"),
        ("{ say = \"else\" }, { say = \"never\" }", "hides those after it"),
        ("{ when = [\"a = 1\"], say = \"more\" }, { say = \"else\" }", "is no condition"),
        ("", "no sentence"),
    ] {
        assert!(takeaway(cases).unwrap_err().to_string().contains(reason), "{cases}");
    }
}

#[test]
fn what_stands_in_braces_is_found() {
    assert_eq!(in_braces("a {b} c {d / e}×."), ["b", "d / e"]);
    assert!(in_braces("none").is_empty());
}
