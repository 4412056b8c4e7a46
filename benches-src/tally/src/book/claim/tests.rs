//! Known answers.

use super::*;

#[test]
fn a_conclusion_is_its_beginning_with_the_end_for_the_verdict() {
    let text = "begins = \"It takes {a}\"\nholds = \", as published.\"\nshifted = \", not what was published.\"\ndoes-not-hold = \".\"";
    let conclusion: Conclusion = toml::from_str(text).unwrap();
    assert_eq!(conclusion.sentence(Verdict::Holds).unwrap(), "It takes {a}, as published.");
    assert_eq!(conclusion.sentence(Verdict::DoesNotHold).unwrap(), "It takes {a}.");
    assert!(conclusion.sentence(Verdict::Inconclusive).unwrap().starts_with("It takes {a}: undecided, since"));
    assert_eq!(conclusion.sentence(Verdict::NotMeasured), None);
    assert_eq!(conclusion.sentences().count(), 4);
}
