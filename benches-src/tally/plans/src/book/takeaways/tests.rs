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

#[test]
fn one_sentence_for_all_outcomes_becomes_a_case_for_each() {
    let read = |keys: &str| -> Result<Vec<Case>> {
        let mut front: Front = toml::from_str(&format!("[[takeaway]]\nid = \"x\"\n{keys}\n"))?;
        front.check()?;
        Ok(front.takeaways.remove(0).cases)
    };
    let said = |keys: &str| read(keys).unwrap().into_iter().map(|case| (case.when, case.say)).collect::<Vec<_>>();
    let case = |when: &[&str], say: &str| (when.iter().map(|own| (*own).to_owned()).collect(), say.to_owned());
    assert_eq!(said("say = \"{a}.\""), [case(&[], "{a}.")]);
    assert_eq!(
        said("ratio = \"a\"\nsay = \"It costs {a}× as much.\""),
        [
            case(&["a > 1"], "It costs {a}× as much{a unclear}."),
            case(&["a < 1"], "It costs only {a}× as much{a unclear}."),
            case(&[], "It costs {a}× as much{a unclear}."),
        ]
    );
    assert_eq!(
        said("when = [[\"a > 1\", \"b > 1\"]]\nsay = \"It [rises|does not].\""),
        [case(&["a > 1", "b > 1"], "It rises."), case(&[], "It does not.")]
    );
    for (keys, reason) in [
        ("ratio = \"a\"\nwhen = [[\"a > 1\"]]\nsay = \"x\"", "both ratio and when"),
        ("case = [{ say = \"x\" }]\nsay = \"x\"", "both say and cases"),
        ("case = [{ say = \"x\" }]\nratio = \"a\"", "go with say"),
        ("when = [[]]\nsay = \"[a|b]\"", "hides those after it"),
        ("say = \"It costs {a}× as much, not clearly different.\"", "write {… unclear}"),
        ("", "no sentence"),
    ] {
        let error = format!("{:#}", read(keys).unwrap_err());
        assert!(error.starts_with("takeaway x: ") && error.contains(reason), "{keys}: {error}");
    }
}
