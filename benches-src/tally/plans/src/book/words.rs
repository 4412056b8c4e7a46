//! Words for names: what charts and tables call a program, a value of a parameter, a placement or a
//! condition. Names are for commands.

use serde_json::Value;

use crate::book::cell::{self, Cell, plain};
use crate::book::programs::{Programs, Reading};

/// What a part of a cell's name is about; of columns that leave as few rows, a figure has the first
/// of these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Program,
    Placement,
    Condition,
    Parameter(String),
}

impl Programs {
    /// A cell in words: its program, and those of its parameters that not all cells beside it
    /// share; then its condition.
    pub fn cell(&self, cell: &Cell, shared: &[String]) -> String {
        self.parts(cell, shared).into_iter().map(|(_, words)| words).collect::<Vec<_>>().join(", ")
    }

    /// The same, each part by itself.
    pub fn parts(&self, cell: &Cell, shared: &[String]) -> Vec<(Part, String)> {
        let own = cell.parameters.iter().filter(|(name, _)| !shared.contains(name));
        let own = own.map(|(name, value)| (Part::Parameter(name.clone()), self.value(name, value)));
        let condition = cell.condition.as_deref().map(|name| (Part::Condition, condition(name).to_owned()));
        let program = (Part::Program, self.label(&cell.program).to_owned());
        [program].into_iter().chain(own.filter(|(_, words)| !words.is_empty())).chain(condition).collect()
    }

    /// What the axis over a parameter is called.
    pub fn axis(&self, parameter: &str) -> String {
        self.axes.get(parameter).cloned().unwrap_or_else(|| parameter.replace('_', " "))
    }

    /// A parameter's value in words.
    pub fn value(&self, name: &str, value: &Value) -> String {
        let bytes = value.as_u64().filter(|_| name.ends_with("_bytes")).map(size);
        let number = bytes.unwrap_or_else(|| plain(value));
        match self.parameters.get(name) {
            Some(Reading::Sentence(words)) => words.replace("{}", &number),
            Some(Reading::Each(words)) => words.get(&plain(value)).cloned().unwrap_or(number),
            None if value.is_string() => number,
            None => format!("{} {number}", name.trim_end_matches("_bytes").replace('_', " ")),
        }
    }

    /// Whether this is a number without words of a parameter whose other values have some: where it
    /// stands alone, it says nothing.
    pub fn lacks_words(&self, name: &str, value: &Value) -> bool {
        let has_none =
            |reading: &Reading| matches!(reading, Reading::Each(words) if !words.contains_key(&plain(value)));
        value.is_number() && !name.ends_with("_bytes") && self.parameters.get(name).is_some_and(has_none)
    }
}

/// A number of bytes on the largest scale that leaves it whole.
fn size(bytes: u64) -> String {
    let scales = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = scales.iter().find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size));
    whole.map_or(format!("{bytes} B"), |(size, name)| format!("{} {name}", bytes / size))
}

pub fn placement(name: &str) -> &str {
    match name {
        "one-cpu" => "on one CPU",
        "two-cpus" => "pinned to two CPUs",
        "free" => "unpinned",
        unknown => unknown,
    }
}

fn condition(name: &str) -> &str {
    match name {
        cell::SPINNERS => "with spinners",
        cell::STREAMER => "with a noisy neighbour",
        cell::NO_STACK_CACHE => "no stack kept",
        cell::LARGE_STACK_CACHE => "every stack kept",
        cell::LARGE_TCACHE => "200 blocks at hand",
        cell::ONE_ARENA => "one arena",
        cell::JEMALLOC => "jemalloc",
        cell::MIMALLOC => "mimalloc",
        unknown => unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell(parameters: Value) -> Cell {
        Cell {
            program: "thread-socket".to_owned(),
            parameters: serde_json::from_value(parameters).unwrap(),
            placement: "free".to_owned(),
            condition: None,
        }
    }

    #[test]
    fn a_cell_reads_in_words_and_without_what_all_share() {
        let words: Programs = toml::from_str(
            "[program]\nthread-socket = { label = \"threads\", series = \"thread\" }\n[parameter]\nhops = \"{} \
             members\"\nruntime = { current = \"one worker\" }\n",
        )
        .unwrap();
        let own = cell(json!({ "hops": 500, "runtime": "current", "stack_bytes": 65536, "chains": 2 }));
        assert_eq!(words.cell(&own, &["chains".to_owned()]), "threads, 500 members, one worker, stack 64 KiB");
        assert_eq!(Programs::default().cell(&cell(json!({ "hops": 2 })), &[]), "thread-socket, hops 2");
        assert_eq!(size(1000), "1000 B");
        let some: Programs = toml::from_str("[parameter]\npause = { 5 = \"5 ms\" }\nhops = \"{} members\"\n").unwrap();
        let lacks = ["pause", "hops"].map(|name| [json!(5), json!(7)].map(|value| some.lacks_words(name, &value)));
        assert_eq!(lacks, [[false, true], [false, false]]);
    }

    #[test]
    fn an_axis_is_called_by_words_where_the_plan_has_some() {
        let words: Programs = toml::from_str("[axis]\ntouch_bytes = \"bytes of data in each\"\n").unwrap();
        assert_eq!(words.axis("touch_bytes"), "bytes of data in each");
        assert_eq!(words.axis("read_bytes"), "read bytes");
    }
}
