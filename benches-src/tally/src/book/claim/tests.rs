//! Known answers.

use super::*;

fn claim(part: &str, conclusion: &str) -> Result<Claim> {
    let text = format!(
        "id = \"C1\"\nsentence = \"s\"\nsource = \"x\"\nexperiment = \"e\"\n[[part]]\nname = \"p\"\nquantity = \"q\"\n{part}\n[conclusion]\n{conclusion}\n"
    );
    let claim: Claim = toml::from_str(&text)?;
    claim.check()?;
    Ok(claim)
}

const WHOLE: &str = "holds = \"yes\"\ndoes-not-hold = \"no\"";

#[test]
fn a_conclusion_is_its_beginning_with_the_end_for_the_verdict() {
    let text = "begins = \"It takes {a}\"\nholds = \", as published.\"\nshifted = \", not what was published.\"\ndoes-not-hold = \".\"";
    let conclusion: Conclusion = toml::from_str(text).unwrap();
    assert_eq!(conclusion.sentence(Verdict::Holds).unwrap(), "It takes {a}, as published.");
    assert_eq!(conclusion.sentence(Verdict::DoesNotHold).unwrap(), "It takes {a}.");
    assert!(conclusion.sentence(Verdict::Undecided).unwrap().starts_with("It takes {a}: undecided"));
    assert_eq!(conclusion.sentence(Verdict::Compared).unwrap(), "It takes {a}");
    assert_eq!(conclusion.sentence(Verdict::NotMeasured), None);
    assert_eq!(conclusion.sentences().count(), 5);
}

#[test]
fn a_part_expects_one_thing_and_what_belongs_to_it() {
    assert!(claim("at_most = \"2\"", WHOLE).is_ok());
    assert!(claim("about = \"2\"\nwithin = 1.1", WHOLE).is_ok());
    for (part, reason) in [
        ("", "expects something"),
        ("at_most = \"2\"\nat_least = \"1\"", "is enough"),
        ("at_most = \"2\"\nwithin = 1.1", "belong to about"),
        ("at_most = \"2\"\nno_effect = \"1\"", "belong to about"),
        ("about = \"2\"\nwithin = 0.9", "a factor of 1"),
        ("about = \"2\"\nno_effect = \"1\"", "a sentence for shifted"),
        ("agreement = 2", "unknown field"),
    ] {
        let error = format!("{:#}", claim(part, WHOLE).unwrap_err());
        assert!(error.contains(reason), "{part:?}: {error}");
    }
    assert!(claim("at_most = \"2\"", "holds = \"yes\"").is_err());
}
