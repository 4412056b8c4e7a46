//! One verb, one file.

pub mod between;
pub mod calculator;
pub mod chart;
pub mod check;
pub mod claim;
pub mod compare_builds;
pub mod confirm;
pub mod different;
pub mod exec_tied;
pub mod export;
pub mod figure;
pub mod identify;
pub mod import;
pub mod limits;
pub mod list;
pub mod listing;
pub mod measure;
pub mod schema;
pub mod spin;
pub mod stream;
pub mod table;
pub mod takeaway;
pub mod unpack;
pub mod value;

/// A JSON array in a line, of a value for each.
pub fn json_array<T>(all: &[T], value: impl Fn(&T) -> serde_json::Value) -> String {
    serde_json::Value::from(all.iter().map(value).collect::<Vec<_>>()).to_string() + "\n"
}
