//! Numbers with a name, through the real executable: what is asked for is one number, or an error
//! that says which it could be.

use crate::support::{self, Fake, fail, preprocess, succeed};

const QUANTITIES: &str = r#"
[[quantity]]
name = "slow-over-fast"
experiment = "pair"
unit = "ratio"
formula = "slow[free] / fast-step"

[[quantity]]
name = "fast-step"
experiment = "pair"
unit = "ns"
formula = "fast[free]"
"#;

/// The usual experiment, and another with the same cells.
fn twice() -> String {
    support::plan_with_another("other")
}

fn fake(quantities: &str) -> Fake {
    let fake = Fake::with_plan(&twice());
    fake.write("benches-src/chapter/quantities.toml", quantities);
    fake
}

#[test]
fn a_name_is_said_everywhere_and_means_one_number() {
    let used = twice().replace("quantity = \"slow[free] / fast[free]\"", "quantity = \"slow-over-fast\"");
    let used = used
        .replace("{slow[free] / fast[free]} times", "{slow-over-fast} times")
        .replace("It does: {slow[free] / fast[free]}", "It does: {slow-over-fast}");
    let fake = Fake::with_plan(&used);
    fake.write("benches-src/chapter/quantities.toml", QUANTITIES);
    succeed(fake.measure(&[]));
    assert_eq!(fake.print(&["value", "slow-over-fast"]), "2.00 [2.00–2.00]\n");
    assert_eq!(fake.print(&["value", "fast-step", "--over", "fast-step"]), "1.00 [1.00–1.00]\n");
    assert_eq!(fake.print(&["value", "(slow-over-fast * fast-step) / fast-step"]), "2.00 [2.00–2.00]\n");
    let page = fake.print(&["value", "slow-over-fast", "--form", "page"]);
    assert!(page.contains("chapter.md#pair") && page.contains("&#91;free&#93; / fast&#91;free&#93;"), "{page}");
    assert!(fake.print(&["claim", "T1"]).contains("It does: 2.00"));
    let refused = fail(fake.tally(&["value", "slow-over-fast", "--experiment", "other"]));
    assert!(refused.contains("several sessions, other and pair"), "{refused}");
}

#[test]
fn an_expression_is_answered_by_the_experiment_beside_it_or_by_exactly_one() {
    let fake = fake("");
    succeed(fake.measure(&[]));
    let said = fail(fake.tally(&["value", "slow[free] / fast[free]"]));
    assert!(said.contains("several experiments: other, pair; say which, by --experiment"), "{said}");
    assert_eq!(fake.print(&["value", "slow[free]", "--experiment", "pair"]), "2.00 µs [2.00–2.00]\n");
    fake.write("book/src/chapter.md", "# Chapter\n\n<!-- cmdrun tally value slow[free] -->\n");
    assert!(
        fail(fake.tally(&["check"]))
            .contains("book/src/chapter.md, line 3: tally value slow[free]: slow[free] is measured")
    );
    let built = preprocess(&fake, "cmdrun", serde_json::json!({}), "<!-- cmdrun tally value slow[free] -->\n");
    assert!(!built.status.success() && String::from_utf8_lossy(&built.stderr).contains("several experiments"));
}

#[test]
fn names_that_mean_two_things_or_themselves_are_found() {
    for (quantities, reason) in [
        (
            QUANTITIES.replace("fast-step\"\nexperiment", "fast\"\nexperiment"),
            "quantity fast: a program or another quantity has this name",
        ),
        (
            QUANTITIES.replace("formula = \"fast[free]\"", "formula = \"slow-over-fast * slow[free]\""),
            "stands in its own formula",
        ),
        (
            QUANTITIES.replace("experiment = \"pair\"\nunit = \"ns", "experiment = \"other\"\nunit = \"ns"),
            "several sessions, other and pair",
        ),
        (QUANTITIES.replace("\"pair\"\nunit = \"ratio", "\"pear\"\nunit = \"ratio"), "pear"),
        (QUANTITIES.replace("unit = \"ns\"", "unit = \"hours\""), "unknown variant `hours`"),
        (
            QUANTITIES.replace("fast[free]\"", "fast[moon]\""),
            "there is no cell fast[moon]; there are: fast[size=3, free]",
        ),
        (QUANTITIES.replace("fast[free]\"", "fsat[free]\""), "did you mean fast?"),
        (QUANTITIES.replace("fast[free]\"", "fast[free].migration\""), "did you mean migrations?"),
        (QUANTITIES.replace("slow-over-fast", "Slow"), "is no name for a quantity"),
    ] {
        let said = fail(fake(&quantities).tally(&["check"]));
        assert!(said.contains(reason), "{reason}: {said}");
    }
}

#[test]
fn a_name_that_comes_to_another_unit_than_its_own_is_never_printed() {
    let fake = fake(&QUANTITIES.replace("unit = \"ns\"", "unit = \"B\""));
    succeed(fake.measure(&[]));
    for arguments in [["value", "fast-step"], ["value", "slow-over-fast"]] {
        let said = fail(fake.tally(&arguments));
        assert!(said.contains("fast[free] is said to be in B, and comes to ns"), "{said}");
    }
    succeed(fake.tally(&["export", "there"]));
    let said = fail(fake.tally(&["check"]));
    assert!(said.contains("bundle.zst, chapter/pair: quantity fast-step: fast[free] is said"), "{said}");
    assert!(said.contains("data/machines/there/sessions/20"), "{said}");
}

#[test]
fn a_misspelt_measure_is_an_error_with_the_nearest_name_wherever_it_stands() {
    let fake = fake("");
    succeed(fake.measure(&[]));
    let said = fail(fake.tally(&["value", "slow[free].voluntary", "--experiment", "pair"]));
    assert!(said.contains("has the measure \"voluntary\"; did you mean voluntary_switches?"), "{said}");
    for (from, to) in [
        ("quantity = \"slow[free] /", "quantity = \"slow[free].voluntary /"),
        ("It does: {slow[free] /", "It does: {slow[free].voluntary /"),
    ] {
        let changed = twice().replace(from, to);
        assert_ne!(changed, twice());
        fake.plan(&changed);
        let said = fail(fake.tally(&["check"]));
        assert!(said.contains("did you mean voluntary_switches?"), "{to}: {said}");
    }
    fake.plan(&twice());
    fake.write("book/src/chapter.md", "<!-- cmdrun tally value --experiment pair slow[free].voluntary -->\n");
    assert!(fail(fake.tally(&["check"])).contains("did you mean voluntary_switches?"));
}

#[test]
fn a_selector_that_fits_nothing_lists_what_there_is() {
    let fake = fake("");
    let said = fail(fake.tally(&["value", "slow[fre]", "--experiment", "pair"]));
    assert!(
        said.contains("there is no cell slow[fre]; there are: slow[size=3, free], slow[size=3, one-cpu]"),
        "{said}"
    );
    let said = fail(fake.tally(&["value", "slow[fre]"]));
    assert!(said.contains("there are: slow[size=3, free]"), "{said}");
}
