//! Figures over a parameter, through the real executable: what their axis is called, and that two
//! points make no line.

use std::fs;

use serde_json::Value;

use crate::support::{Fake, PLAN, observation, succeed};

/// A project whose slow program has been measured with these sizes, with these words for names.
fn swept(sizes: &str, words: &str) -> Fake {
    let slow = "programs = [\"slow\"]\nquick = { placement = \"free\" }";
    let plan = PLAN.replace(slow, &slow.replace(" }", &format!(", size = [{sizes}] }}"))).replace("\n\n=== exp", words);
    let fake = Fake::with_plan(&plan.replace("slow[free]", "slow[free, size=3]"));
    let size = r#"size=$(echo "$*" | sed -n 's/.*--size \([0-9]*\).*/\1/p')"#;
    let slow = format!("{size}; ({}) | sed \"s/\\\"size\\\":3/\\\"size\\\":$size/\"", observation("slow", 2000));
    fake.program("slow", &slow);
    let charts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/charts");
    for file in [
        "draw.mjs",
        "config.json",
        "package-lock.json",
        "sweep.vl.json",
        "sweep-narrow.patch.json",
        "dots.vl.json",
        "dots-narrow.patch.json",
    ] {
        fake.write(&format!("book/charts/{file}"), &fs::read_to_string(format!("{charts}/{file}")).unwrap());
    }
    succeed(fake.measure(&[]));
    fake
}

/// The specification of its figure.
fn specification(fake: &Fake) -> String {
    fake.print(&["chart", "pair", "sweep", "--caption", "Sizes.", "--form", "page"]);
    fs::read_to_string(fake.path("book/src/generated/local/chapter/pair-sweep.vl.json")).unwrap()
}

#[test]
fn an_axis_over_a_parameter_is_called_by_the_words_of_its_chapter() {
    let is_named = |words| specification(&swept("3, 30, 300", words)).contains("\"how large a step is (logarithmic)\"");
    assert!(is_named("\n\n[axis]\nsize = \"how large a step is\"\n\n=== exp"));
    assert!(!is_named("\n\n=== exp"));
}

#[test]
fn two_points_are_rows_and_no_line() {
    let of_two: Value = serde_json::from_str(&specification(&swept("3, 30", "\n\n=== exp"))).unwrap();
    let rows = of_two["datasets"]["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(
        ["3", "30"].iter().all(|size| names.iter().any(|name| name.ends_with(&format!("size {size}")))),
        "{names:?}"
    );
    assert!(of_two["layer"].as_array().unwrap().iter().all(|layer| layer["mark"]["type"] != "line"));
}
