//! Figures over a parameter, through the real executable: what their axis is called.

use std::fs;

use crate::support::{Fake, PLAN, observation, succeed};

/// A project whose slow program has been measured with two sizes, with these words for names.
fn swept(words: &str) -> Fake {
    let slow = "programs = [\"slow\"]\nquick = { placement = \"free\" }";
    let plan = PLAN.replace(slow, &slow.replace(" }", ", size = [3, 30] }")).replace("\n\n=== exp", words);
    let fake = Fake::with_plan(&plan.replace("slow[free]", "slow[free, size=3]"));
    let size = r#"size=$(echo "$*" | sed -n 's/.*--size \([0-9]*\).*/\1/p')"#;
    let slow = format!("{size}; ({}) | sed \"s/\\\"size\\\":3/\\\"size\\\":$size/\"", observation("slow", 2000));
    fake.program("slow", &slow);
    let charts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/charts");
    for file in ["draw.mjs", "config.json", "package-lock.json", "sweep.vl.json", "sweep-narrow.patch.json"] {
        fake.write(&format!("book/charts/{file}"), &fs::read_to_string(format!("{charts}/{file}")).unwrap());
    }
    succeed(fake.measure(&[]));
    fake
}

/// The title below the plot.
fn axis(fake: &Fake) -> bool {
    fake.print(&["chart", "pair", "sweep", "--caption", "Sizes.", "--form", "page"]);
    let drawn = fs::read_to_string(fake.path("book/src/generated/local/chapter/pair-sweep.vl.json")).unwrap();
    drawn.contains("\"how large a step is (logarithmic)\"")
}

#[test]
fn an_axis_over_a_parameter_is_called_by_the_words_of_its_chapter() {
    assert!(axis(&swept("\n\n[axis]\nsize = \"how large a step is\"\n\n=== exp")));
    assert!(!axis(&swept("\n\n=== exp")));
}
