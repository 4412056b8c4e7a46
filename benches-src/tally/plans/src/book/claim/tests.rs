//! Known answers.

use super::*;

fn claim(part: &str, conclusion: &str) -> Result<Claim> {
    let text = format!(
        "sentence = \"s\"\nsource = \"x\"\nexperiment = \"e\"\n{conclusion}\n[[parts]]\nname = \"p\"\nquantity = \
         \"q\"\n{part}\n"
    );
    let mut claim: Claim = toml::from_str(&text)?;
    claim.resolve(&[])?;
    claim.check()?;
    Ok(claim)
}

const WHOLE: &str = "holds = \"yes\"\ndoes_not_hold = \"no\"";

#[test]
fn a_conclusion_is_its_beginning_with_the_end_for_the_verdict() {
    let text = "begins = \"It takes {a}\"\nholds = \", as published.\"\nshifted = \", not what was \
                published.\"\ndoes_not_hold = \".\"";
    let claim = claim("about = \"2\"\nno_effect = \"1\"", text).unwrap();
    assert_eq!(claim.conclusion(Verdict::Holds).unwrap(), "It takes {a}, as published.");
    assert_eq!(claim.conclusion(Verdict::DoesNotHold).unwrap(), "It takes {a}.");
    assert!(claim.conclusion(Verdict::Undecided).unwrap().starts_with("It takes {a}: undecided"));
    assert_eq!(claim.conclusion(Verdict::TooClose).unwrap(), "It takes {a}: too close to tell.");
    assert_eq!(claim.conclusion(Verdict::Compared).unwrap(), "It takes {a}");
    assert_eq!(claim.conclusion(Verdict::NotMeasured), None);
    assert_eq!(claim.conclusions().count(), 6);
}

#[test]
fn what_a_claim_leaves_out_others_say() {
    let named = "name = \"hop-ratio\"\nexperiment = \"ring\"\nunit = \"ratio\"\nformula = \"a / b\"";
    let named: [Named; 1] = [toml::from_str(named).unwrap()];
    let read = |text: &str| -> Result<Claim> {
        let mut claim: Claim = toml::from_str(&format!("sentence = \"s\"\n{WHOLE}\n{text}"))?;
        claim.resolve(&named)?;
        claim.check()?;
        Ok(claim)
    };
    let named = read("parts = [{ name = \"p\", quantity = \"hop-ratio\", published = \"f\" }]").unwrap();
    assert_eq!((named.experiment.as_str(), named.source.as_str()), ("ring", "predictions"));
    assert!(matches!(named.parts[0].expected().unwrap(), Expected::About { value: "published", within: WITHIN, .. }));
    let other = "parts = [{ name = \"p\", quantity = \"a / b\", published = \"f\", at_most = \"2\" }]\n";
    let other = read(&format!("experiment = \"pair\"\n{other}")).unwrap();
    assert_eq!((other.experiment.as_str(), other.parts[0].experiment.as_deref()), ("pair", None));
    assert_eq!(other.parts[0].expected().unwrap(), Expected::AtMost("2"));
    for (parts, reason) in [
        (
            "[{ name = \"p\", quantity = \"a / b\", at_most = \"2\" }]",
            "it says no experiment, and \"a / b\" is no quantity with a name",
        ),
        ("[{ name = \"p\", quantity = \"hop-ratio\" }]", "expects something"),
        ("[{ name = \"p\", quantity = \"hop-ration\", at_most = \"2\" }]", "would say it; did you mean hop-ratio?"),
        ("[]", "it has no parts"),
    ] {
        let error = format!("{:#}", read(&format!("parts = {parts}")).unwrap_err());
        assert!(error.contains(reason), "{parts}: {error}");
    }
}

#[test]
fn a_part_expects_one_thing_and_what_belongs_to_it() {
    assert!(claim("at_most = \"2\"", WHOLE).is_ok());
    assert!(claim("about = \"2\"\nwithin = 1.1", WHOLE).is_ok());
    for (part, reason) in [
        ("", "expects something"),
        ("within = 2.0", "belong to about"),
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
