//! What is said of the formats is what the types say.

use crate::support;
use std::path::Path;

use tally::print::formats;

#[test]
fn the_tables_of_the_readme_are_what_the_types_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let is_current = formats::rewritten(&readme).unwrap() == readme;
    assert!(
        is_current,
        "the tables of benches-src/README.md are not what the types say; run: cargo tally schema --write"
    );
}

#[test]
fn a_schema_is_printed_and_written_even_where_a_plan_cannot_be_read() {
    let fake = support::Fake::with_plan("=== experiments/pair.toml\nnonsense\n");
    let list = fake.print(&["schema"]);
    assert!(list.lines().count() == 7 && list.contains("claim        benches-src/*/claims/*.toml"), "{list}");
    let schema: serde_json::Value = serde_json::from_str(&fake.print(&["schema", "experiment"])).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["limit_seconds"]["default"], 60);
    assert!(support::fail(fake.tally(&["schema", "claims"])).contains("did you mean claim?"));

    let cannot = support::fail(fake.tally(&["schema", "--write"]));
    assert!(cannot.contains("cannot read benches-src/README.md"), "{cannot}");
    let (begin, end) = lines();
    fake.write("benches-src/README.md", &format!("# How\n\n{begin}{end}"));
    support::succeed(fake.tally(&["schema", "--write"]));
    assert!(fake.read("benches-src/README.md").contains("| `limit_seconds` | whole number |"));
    assert!(fake.path("target/schemas/claim.json").is_file());
}

#[test]
fn check_refuses_tables_that_are_not_what_the_types_say() {
    let fake = support::Fake::new();
    let (begin, end) = lines();
    fake.write("benches-src/README.md", &format!("{begin}old\n{end}"));
    let said = support::fail(fake.tally(&["check"]));
    assert!(
        said.contains("benches-src/README.md: its tables are not what the types say; run: cargo tally schema --write")
    );
    support::succeed(fake.tally(&["schema", "--write"]));
    assert!(!support::fail(fake.tally(&["check"])).contains("README.md"), "other things are still wrong");
}

/// The lines between which the tables stand.
fn lines() -> (&'static str, &'static str) {
    (
        "<!-- What follows is written by `cargo tally schema --write`. -->\n",
        "<!-- What precedes is written by `cargo tally schema --write`. -->\n",
    )
}
