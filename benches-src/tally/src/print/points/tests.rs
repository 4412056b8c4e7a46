//! Known answers.

use super::*;
use crate::compute::quantity::Missing;
use crate::record::Record;
use crate::record::made_up::{cell, header};

fn row(hops: u64) -> Row {
    let mut cell = cell("x", "free");
    cell.parameters.insert("hops".to_owned(), json!(hops));
    cell.parameters.insert("runtime".to_owned(), json!(if hops > 2 { "multi" } else { "current" }));
    Row { cell, main: Err(Missing::new("failed", "")), beyond: None, others: Vec::new(), marks: Vec::new() }
}

#[test]
fn a_sweep_goes_over_the_number_that_varies() {
    assert_eq!(swept_parameter(&[row(2), row(8)]).as_deref(), Some("hops"));
    assert_eq!(swept_parameter(&[row(2), row(2)]), None, "words and constants are no sweep");
    let own = |program: &str, bytes: u64, hops: u64| {
        let mut row = row(hops);
        row.cell.program = program.to_owned();
        row.cell.parameters.insert("bytes".to_owned(), json!(bytes));
        row
    };
    let rows = [own("a", 1, 2), own("a", 1, 8), own("b", 5, 2), own("b", 5, 8), row(8)];
    assert_eq!(swept_parameter(&rows).as_deref(), Some("hops"), "bytes only tell the programs apart");
}

#[test]
fn what_has_no_interval_has_no_ends_of_one() {
    let scale = Scale::of(crate::book::unit::Unit::Nanoseconds, 4921.0);
    let estimate = Estimate { median: 4921.0, interval: None, rounds: 3 };
    let expected = json!({ "median": 4.921, "low": null, "high": null, "said": "4.92 µs", "interval": "no interval" });
    assert_eq!(marks(estimate, scale), expected);
    let known = marks(Estimate { interval: Some((4880.0, 4970.0)), ..estimate }, scale);
    assert_eq!((&known["low"], &known["high"], &known["interval"]), (&json!(4.88), &json!(4.97), &json!("4.88–4.97")));
}

#[test]
fn an_axis_has_a_unit_or_says_what_is_counted() {
    use crate::book::unit::Unit;
    assert_eq!(per_operation(Scale::of(Unit::Nanoseconds, 4921.0), "elapsed", "hop"), "µs per hop");
    assert_eq!(per_operation(Scale::of(Unit::Count, 286_129.0), "instructions", "request"), "instructions per request");
    assert_eq!(per_operation(Scale::of(Unit::Count, 9.0), "first_error", "process"), "first error per process");
}

#[test]
fn names_of_lines_that_end_together_stand_above_each_other() {
    let point = |median: f64| json!({ "low": median, "median": median, "high": median, "last": true });
    let mut points = [point(100.0), point(1.0), point(100.0), point(100.0)];
    points[1]["first"] = true.into();
    assert_eq!(set_names_apart(&mut points, "last"), 45.0);
    assert_eq!(points.each_ref().map(|point| point["last_dy"].as_f64().unwrap()), [0.0, 0.0, -15.0, -30.0]);
    assert!(points.iter().all(|point| point.get("first_dy").is_none()));
}

#[test]
fn caches_are_marked_where_the_sweep_reaches_them() {
    let mut header = header(Vec::new());
    let caches = "L1 data 32K, shared by 1; L1 instruction 32K, shared by 1; L2 unified 1024K, shared by 1; L3 \
                  unified 32M, shared by 2";
    header.machine.known.insert("caches of CPU 0".to_owned(), caches.to_owned());
    let record = Record { header, runs: Vec::new(), end: None };
    let marks = cache_marks(&record, &[json!({ "x": 2.0 }), json!({ "x": 2000.0 })], 4096.0);
    let seen: Vec<(&str, f64)> =
        marks.iter().map(|mark| (mark["note"].as_str().unwrap(), mark["x"].as_f64().unwrap())).collect();
    assert_eq!(seen, [("L1", 8.0), ("L2", 256.0)], "L3 would be at 8192");
}
