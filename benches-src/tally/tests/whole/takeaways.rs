//! Findings as sentences, through the real executable: for every outcome that records can have, and
//! for every machine that came with the checkout.

use std::process::Command;

use serde_json::Value;

use crate::support::{Fake, fail, observation, of_another_cpu, succeed};

const FRONT: &str = r#"
[[takeaway]]
id = "which-is-slower"

[[takeaway.case]]
when = ["slow-over-fast > 1"]
say = "Slow is slower, {slow-over-fast}×."

[[takeaway.case]]
when = ["slow-over-fast < 1"]
say = "Fast is slower: {slow-over-fast}×."

[[takeaway.case]]
when = ["slow-over-fast ~ 1"]
say = "Both are alike: {slow-over-fast}×."

[[takeaway.case]]
say = "It cannot be told."

[[takeaway]]
id = "how-much"
say = "Slow takes {slow-over-fast}× as long{slow-over-fast unclear}."

[[takeaway]]
id = "in-a-list"
say = "Slow takes {slow-over-fast}× a step, or more."

[[takeaway]]
id = "in-parentheses"
say = "Slow takes longer (here {slow-over-fast}×{slow-over-fast unclear}), by {slow-over-fast}×{slow-over-fast unclear}."

[[takeaway]]
id = "hedged"
say = "We cannot say that slow takes {slow-over-fast}× a step."

[[takeaway]]
id = "of-a-full-run"

[[takeaway.case]]
say = "Pinned, a step takes {slow[one-cpu]}."

[[takeaway]]
id = "ladder"

[[takeaway.case]]
say = "On the ladder slow takes {slow-over-fast}×."

[[rung]]
label = "a <step>"
detail = "free"
ratio = "slow-over-fast"
left = "fast[free]"
right = "slow[free]"

[[rung]]
label = "a pinned step"
detail = "not measured in a quick run"
ratio = "slow[one-cpu] / slow[free]"
left = "fast[free]"
right = "slow[one-cpu]"

[[advice]]
service = "steps"

[[advice.case]]
when = ["slow-over-fast > 2"]
use = "tasks"
say = "a slow step takes {slow[free]}"

[[advice.case]]
use = "either"
say = "no sure factor of two"
"#;

const QUANTITIES: &str = "[[quantity]]\nname = \"slow-over-fast\"\nexperiment = \"pair\"\nunit = \"ratio\"\nformula = \
                          \"slow[free] / fast[free]\"\n";

fn fake() -> Fake {
    let fake = Fake::new();
    fake.write("benches-src/takeaways.toml", FRONT);
    fake.write("benches-src/chapter/quantities.toml", QUANTITIES);
    fake
}

fn says(fake: &Fake) -> String {
    fake.print(&["takeaway", "which-is-slower"])
}

/// Measures as if for the first time: an earlier session of the same would be in the interval.
fn measured_anew(fake: &Fake) {
    let _ = std::fs::remove_dir_all(fake.path("data/local"));
    succeed(fake.measure(&[]));
}

/// Has `slow` take now this and now that, from process to process: its interval reaches far to both
/// sides.
fn waver(fake: &Fake) {
    let count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n";
    let (low, high) = (observation("slow", 300), observation("slow", 4000));
    fake.program("slow", &format!("{count}; if [ $((n / 2 % 2)) = 0 ]; then {low}; else {high}; fi"));
}

#[test]
fn each_outcome_has_its_sentence() {
    let fake = fake();
    assert!(says(&fake).contains("(not measured: run: cargo tally measure pair)"));
    let how_much = || fake.print(&["takeaway", "how-much"]);
    for (slow, sentence, clearly) in [
        (observation("slow", 3000), "Slow is slower, 3.00×.", "3.00× as long."),
        (observation("slow", 500), "Fast is slower: 0.500×.", "0.500× as long."),
        (observation("slow", 1000), "Both are alike: 1.00×.", "about as long."),
    ] {
        fake.program("slow", &slow);
        measured_anew(&fake);
        assert_eq!(says(&fake), format!("which-is-slower: {sentence}\n"));
        assert_eq!(how_much(), format!("how-much: Slow takes {clearly}\n"));
    }
    waver(&fake);
    measured_anew(&fake);
    assert_eq!(says(&fake), "which-is-slower: It cannot be told.\n");
    assert!(how_much().ends_with("× as long, not clearly different.\n"), "{}", how_much());
    let in_a_list = fake.print(&["takeaway", "in-a-list"]);
    assert!(in_a_list.ends_with("× (unclear) a step, or more.\n"), "{in_a_list}");
    let in_parentheses = fake.print(&["takeaway", "in-parentheses"]);
    assert!(in_parentheses.contains("×, unclear), by "), "{in_parentheses}");
    assert!(in_parentheses.ends_with("×, not clearly different.\n"), "{in_parentheses}");
    let hedged = fake.print(&["takeaway", "hedged"]);
    assert!(hedged.ends_with("× a step.\n"), "{hedged}");
}

#[test]
fn no_finding_stands_on_a_number_of_fewer_than_six_rounds() {
    let fake = fake();
    // Both arms of the first round, and no other.
    let count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n";
    fake.program("slow", &format!("{count}; [ $n -lt 2 ] || exit 1; {}", observation("slow", 3000)));
    fail(fake.measure(&[]));
    assert_eq!(says(&fake), "which-is-slower: It cannot be told.\n");
    let said = fake.print(&["takeaway", "ladder"]);
    assert_eq!(said, "ladder: (too few rounds: it was measured in 1, and six give an interval)\n");
    assert!(fake.print(&["value", "slow-over-fast"]).contains("3.00"), "a table has it nevertheless");
}

#[test]
fn a_finding_that_most_machines_contradict_says_so_and_a_range_is_that_of_all() {
    let fake = fake();
    let over = "[[takeaway]]\nid = \"over-machines\"\n\n[[takeaway.case]]\nwhen = [\"slow-over-fast range > 0.4\"]\n\
                say = \"Slow takes {slow-over-fast range} times as long on {slow-over-fast machines}.\"\n\n\
                [[takeaway.case]]\nsay = \"It depends.\"\n\n";
    fake.write("benches-src/takeaways.toml", &(over.to_owned() + FRONT));
    for (machine, ns) in [("one", 500), ("two", 600)] {
        fake.program("slow", &observation("slow", ns));
        measured_anew(&fake);
        succeed(fake.tally(&["export", machine]));
    }
    fake.program("slow", &observation("slow", 3000));
    measured_anew(&fake);
    assert_eq!(says(&fake), "which-is-slower: Slow is slower, 3.00×.\n", "all three have one description");
    for machine in ["one", "two"] {
        let record = fake.unpacked(machine);
        fake.contribute(machine, &of_another_cpu(&record));
    }
    assert_eq!(says(&fake), "which-is-slower: Slow is slower, 3.00×. None of 2 other machines agrees.\n");
    let on_page = fake.print(&["takeaway", "which-is-slower", "--form", "page"]);
    assert!(on_page.contains("<span class=\"among\">None of 2 other machines agrees.</span>"), "{on_page}");
    let other = fake.print(&["takeaway", "which-is-slower", "--machine", "two"]);
    assert_eq!(other, "which-is-slower: Fast is slower: 0.600×.\n", "two of three say so");
    let range = "over-machines: Slow takes 0.50–3.0 times as long on three machines.\n";
    assert_eq!(fake.print(&["takeaway", "over-machines"]), range);
    assert!(fake.print(&["takeaway", "--advice"]).contains("steps: tasks, 1 of 3 machines agree. a slow step"));
    let line = fake.print(&["list", "--machines", "--line"]);
    assert!(line.starts_with("Ranges: three machines, "), "{line}");
    waver(&fake);
    measured_anew(&fake);
    let unclear = fake.print(&["takeaway", "how-much"]);
    assert!(unclear.ends_with("× as long, not clearly different.\n"), "nothing is contradicted: {unclear}");
}

#[test]
fn what_is_not_measured_has_no_sentence_and_the_others_stand() {
    let fake = fake();
    let page = |arguments: &[&str]| fake.print(&[arguments, &["--form", "page"]].concat());
    assert!(page(&["takeaway", "which-is-slower"]).contains("class=\"missing\""), "without any, it is said why");
    succeed(fake.measure(&[]));
    let both = page(&["takeaway", "which-is-slower", "of-a-full-run"]);
    assert!(
        both.starts_with(
            "Slow is slower, <a class=\"value\" href=\"chapter.md#pair\" title=\"2.00 &#91;2.00–2.00&#93;"
        ),
        "{both}"
    );
    assert!(both.contains(">2.00×</a>.") && !both.contains("Pinned"), "{both}");
    assert!(fake.print(&["takeaway", "of-a-full-run"]).contains("full only"));
    let advice = page(&["takeaway", "--advice"]);
    assert!(
        advice
            .contains("<td><strong>either</strong></td><td class=\"among\">1 of 1</td><td>no sure factor of two</td>"),
        "{advice}"
    );
    let variants = fake.print(&["takeaway", "--variants"]);
    for sentence in
        ["Slow is slower", "Fast is slower", "Both are alike", "It cannot be told", "tasks: a slow step takes 2.00 µs"]
    {
        assert!(variants.contains(sentence), "{variants}");
    }
}

#[test]
fn a_row_of_the_ladder_that_is_not_measured_says_why_in_the_table_and_has_no_bar() {
    let fake = fake();
    for file in ["draw.mjs", "config.json", "package-lock.json", "ladder.vl.json"] {
        fake.write(&format!("book/charts/{file}"), "{\"data\": {\"name\": \"rows\"}}");
    }
    fake.write("book/charts/ladder-narrow.patch.json", "[]");
    succeed(fake.measure(&[]));
    let page = fake.print(&["figure", "ladder", "--form", "page"]);
    assert!(
        page.contains("a &#60;step&#62;") && page.contains("full only") && page.contains("On the ladder slow takes"),
        "{page}"
    );
    let rows = fake.print(&["figure", "ladder"]);
    assert!(rows.contains("\"said\":\"2.00×\"") && !rows.contains("pinned"), "{rows}");
}

#[test]
fn a_number_of_the_ladder_stands_beyond_its_interval() {
    let fake = fake();
    waver(&fake);
    succeed(fake.measure(&[]));
    let rows = fake.print(&["figure", "ladder"]);
    let row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert!(row["high"].as_f64() > row["ratio"].as_f64(), "{row}");
    assert_eq!(row["text_at"], row["high"], "{row}");
}

#[test]
fn sentences_with_mistakes_are_found() {
    for (from, to, reason) in [
        ("when = [\"slow-over-fast > 1\"]\n", "", "a case before the last has no condition"),
        ("say = \"It cannot", "when = [\"slow-over-fast > 9\"]\nsay = \"It cannot", "an outcome is missing"),
        ("slow-over-fast > 1", "slow-over-fast = 1", "is no condition"),
        ("slow-over-fast > 1", "a service is cheap", "is no answer of the calculator"),
        ("slow-over-fast > 1", "slow-over-fats > 1", "did you mean slow-over-fast?"),
        (
            "{slow-over-fast}×.\"\n\n[[takeaway.case]]\nwhen = [\"slow-over-fast <",
            "{slow[fre]}×.\"\n\n[[takeaway.case]]\nwhen = [\"slow-over-fast <",
            "there is no cell slow[fre]",
        ),
        ("id = \"which-is-slower\"", "id = \"Which?\"", "is no name for a takeaway"),
        ("use = \"either\"\n", "", "a case without use"),
    ] {
        let fake = fake();
        let changed = FRONT.replacen(from, to, 1);
        assert_ne!(changed, FRONT, "{from}");
        fake.write("benches-src/takeaways.toml", &changed);
        let said = fail(fake.tally(&["check"]));
        assert!(said.contains("takeaways.toml") && said.contains(reason), "{reason}: {said}");
    }
    let fake = fake();
    assert!(fail(fake.tally(&["check"])).contains("no page shows the takeaway which-is-slower"));
    fake.write("book/src/chapter.md", "# Chapter\n\n<!-- cmdrun tally takeaway which-is-slover -->\n");
    let said = fail(fake.tally(&["check"]));
    assert!(said.contains("chapter.md, line 3") && said.contains("did you mean which-is-slower?"), "{said}");
}

#[test]
#[ignore = "minutes among many machines; by ci/test --nightly"]
fn every_machine_of_the_checkout_gets_whole_sentences() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let machines = std::fs::read_dir(format!("{root}/data/machines")).unwrap().flatten();
    let machines: Vec<String> = machines.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(machines.len() > 2);
    for machine in machines {
        for words in [&["takeaway"][..], &["takeaway", "--advice"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tally"));
            command.args(words).args(["--machine", &machine]).current_dir(root);
            let said = succeed(command);
            assert!(
                !said.contains(['{', '}']) && !said.contains("NaN") && said.lines().count() > 3,
                "{machine}: {said}"
            );
        }
    }
}
