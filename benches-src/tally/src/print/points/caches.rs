//! Where caches end on a sweep over participants.

use serde_json::{Value, json};

use crate::record::Record;

/// Where so many participants that each touch so many bytes would fill a cache, as far as the sweep
/// reaches.
pub fn cache_marks(record: &Record, points: &[Value], bytes_each: f64) -> Vec<Value> {
    let xs = points.iter().filter_map(|point| point["x"].as_f64());
    let (low, high) = xs.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    let caches = record.header.machine.data_caches().into_iter();
    let caches = caches.map(|(name, bytes)| (name, bytes / bytes_each)).filter(|(_, x)| (low..=high).contains(x));
    caches.map(|(name, x)| json!({ "who": "cache", "note": name, "x": x })).collect()
}
