//! The formats that people write: what each of their keys is, from the doc comments of the types
//! that read them, for editors as a JSON Schema and for `benches-src/README.md` as tables.

use std::fs;

use anyhow::{Context, Result, ensure};
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::{Map, Value};

use crate::book::claim::Claim;
use crate::book::experiment::Experiment;
use crate::book::order::Order;
use crate::book::programs::Programs;
use crate::book::published::Publication;
use crate::book::quantities::Quantities;
use crate::book::takeaways::Front;
use crate::name::nearest;
use crate::project::Project;

/// A format.
pub struct Format {
    /// What the command line calls it, and the name of its schema's file.
    pub name: &'static str,
    /// Which files are of it, from the project's root on; `*` stands for any name.
    pub files: &'static str,
    schema: Schema,
}

/// Every format, in the order in which somebody meets them who adds to a chapter.
pub fn all() -> Vec<Format> {
    fn of<T: JsonSchema>(name: &'static str, files: &'static str) -> Format {
        Format { name, files, schema: schema_for!(T) }
    }
    vec![
        of::<Programs>("programs", "benches-src/*/programs.toml"),
        of::<Experiment>("experiment", "benches-src/*/experiments/*.toml"),
        of::<Quantities>("quantities", "benches-src/*/quantities.toml"),
        of::<Claim>("claim", "benches-src/*/claims/*.toml"),
        of::<Front>("takeaways", "benches-src/**/takeaways.toml"),
        of::<Order>("order", "benches-src/*/order.toml"),
        of::<Publication>("published", "data/published/*.toml"),
    ]
}

/// The format of this name.
pub fn named(name: &str) -> Result<Format> {
    let known: Vec<&str> = all().iter().map(|format| format.name).collect();
    all().into_iter().find(|format| format.name == name).with_context(|| {
        let near = nearest(name, known.iter().copied()).map_or(String::new(), |near| format!("did you mean {near}? "));
        format!("unknown format {name:?}; {near}there are: {}", known.join(", "))
    })
}

impl Format {
    /// Its JSON Schema, as text.
    pub fn json(&self) -> String {
        format!("{:#}\n", self.schema.as_value())
    }

    /// In a line, what it is.
    pub fn is(&self) -> String {
        first_sentence(&description(self.schema.as_value()))
    }

    /// Its keys as Markdown: a table for the file, and one for each kind of table and word in it.
    fn tables(&self) -> String {
        let schema = self.schema.as_value();
        let mut out = format!("### {}: `{}`\n\n{}\n\n", self.name, self.files, description(schema));
        out += &keys(schema);
        for (name, own) in schema["$defs"].as_object().into_iter().flatten() {
            let rows = if own["oneOf"].is_array() { words(own) } else { keys(own) };
            // What is one thing or another, and has no keys, is said where it is used.
            if !rows.is_empty() {
                out += &format!("\n**{name}.** {}\n\n{rows}", description(own));
            }
        }
        out
    }
}

/// A row for each key of an object: those that are needed first, in the order of the type, and then
/// the others by name.
fn keys(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    let needed: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let others = properties.keys().map(String::as_str).filter(|key| !needed.contains(key));
    let mut out = "| key | its value | what it is | default |\n|---|---|---|---|\n".to_owned();
    for key in needed.iter().copied().chain(others) {
        let own = &properties[key];
        let default = if needed.contains(&key) { "needed".to_owned() } else { default(own) };
        out += &row(&[&format!("`{key}`"), &kind(own), &description(own), &default]);
    }
    if let Some(further) = schema.get("additionalProperties").filter(|further| further.is_object()) {
        out += &row(&["any other", &kind(further), "a parameter of the program, by its name", "none"]);
    }
    out
}

/// A row for each word that may stand in a place.
fn words(schema: &Value) -> String {
    let words = schema["oneOf"].as_array().into_iter().flatten();
    let rows = words.map(|word| row(&[&format!("`{}`", word["const"]), &description(word)]));
    format!("| word | what it is |\n|---|---|\n{}", rows.collect::<String>())
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// A value's kind in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        // An untagged choice of types has a generated name, which nobody reads.
        return if name.starts_with("OneOrMany") { "a value or a list".to_owned() } else { name.to_owned() };
    }
    let either = ["anyOf", "allOf"].iter().find_map(|of| schema[*of].as_array());
    if let Some(either) = either {
        let kinds: Vec<String> = either.iter().filter(|own| own["type"] != "null").map(kind).collect();
        return kinds.join(" or ");
    }
    let named = match &schema["type"] {
        Value::Array(several) => several.iter().find(|own| *own != "null").and_then(Value::as_str),
        one => one.as_str(),
    };
    match named {
        Some("string") => "text".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("number") => "number".to_owned(),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("array") => format!("list of {}", kind(&schema["items"])),
        Some("object") => format!("table of {}", kind(&schema["additionalProperties"])),
        _ => "any value".to_owned(),
    }
}

fn default(schema: &Value) -> String {
    match &schema["default"] {
        Value::Null => "none".to_owned(),
        Value::String(text) if text.is_empty() => "none".to_owned(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Object(table) if *table == Map::new() => "none".to_owned(),
        value => format!("`{value}`"),
    }
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.').to_owned()
}

const BEGIN: &str = "<!-- What follows is written by `cargo tally schema --write`. -->\n";
const END: &str = "<!-- What precedes is written by `cargo tally schema --write`. -->\n";

/// The text of `benches-src/README.md` with the tables as the types say them.
pub fn rewritten(readme: &str) -> Result<String> {
    let parts = readme.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.with_context(|| format!("it has no two lines between which to write: {BEGIN}{END}"))?;
    let tables: Vec<String> = all().iter().map(Format::tables).collect();
    Ok(format!("{before}{BEGIN}\n{}\n{END}{after}", tables.join("\n")))
}

/// Refuses tables that are not what the types say. A project without that file has none.
pub fn check(project: &Project) -> Result<()> {
    let path = project.formats();
    if !path.is_file() {
        return Ok(());
    }
    let check = || -> Result<()> {
        let readme = fs::read_to_string(&path)?;
        ensure!(
            rewritten(&readme)? == readme,
            "its tables are not what the types say; run: cargo tally schema --write"
        );
        Ok(())
    };
    check().with_context(|| project.place(&path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// An example. It has more to say.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Example {
        /// How it is called: a | b.
        name: String,
        /// How long it takes,
        /// in seconds.
        #[serde(default = "sixty")]
        seconds: u64,
        #[serde(default)]
        /// Which.
        which: Option<Which>,
        /// Those.
        #[serde(default)]
        those: Vec<String>,
    }

    /// Which of two.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    enum Which {
        /// The first.
        First,
        /// The second.
        Second,
    }

    fn sixty() -> u64 {
        60
    }

    #[test]
    fn a_table_says_what_the_type_says() {
        let format = Format { name: "example", files: "a/*.toml", schema: schema_for!(Example) };
        let expected = "\
### example: `a/*.toml`

An example. It has more to say.

| key | its value | what it is | default |
|---|---|---|---|
| `name` | text | How it is called: a \\| b. | needed |
| `seconds` | whole number | How long it takes, in seconds. | `60` |
| `those` | list of text | Those. | none |
| `which` | Which | Which. | none |

**Which.** Which of two.

| word | what it is |
|---|---|
| `\"first\"` | The first. |
| `\"second\"` | The second. |
";
        assert_eq!(format.tables(), expected);
        assert_eq!(format.is(), "An example");
    }

    #[test]
    fn only_what_stands_between_the_two_lines_is_rewritten() {
        let once = rewritten(&format!("before\n{BEGIN}rubbish\n{END}after\n")).unwrap();
        assert!(
            once.starts_with(&format!("before\n{BEGIN}\n### programs")) && once.ends_with(&format!("{END}after\n"))
        );
        assert!(!once.contains("rubbish"));
        assert_eq!(rewritten(&once).unwrap(), once);
        assert!(rewritten("nothing").unwrap_err().to_string().contains("no two lines"));
    }

    #[test]
    fn every_key_of_every_format_is_explained() {
        for format in all() {
            for line in format.tables().lines().filter(|line| line.starts_with("| `")) {
                let words = line.split(" | ").nth(if line.matches(" | ").count() > 2 { 2 } else { 1 }).unwrap();
                assert!(words.split_whitespace().count() > 1, "{}: {line}", format.name);
            }
        }
        assert!(named("experiments").err().unwrap().to_string().contains("did you mean experiment?"));
    }
}
