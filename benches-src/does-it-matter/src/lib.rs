//! What the programs of this chapter share: the document that services are given, and what they do with it.

pub mod generator;
pub mod http;
pub mod order;
pub mod phases;
pub mod pieces;
pub mod pipeline;
pub mod remote;
pub mod serving;
pub mod task;
pub mod tls;

use observation::Measure;

/// A result that is a plain count or a ratio.
pub fn count(value: f64) -> Measure {
    Measure { unit: "1".to_owned(), values: vec![value] }
}

/// A result that is a time.
pub fn nanoseconds(value: f64) -> Measure {
    Measure { unit: "ns".to_owned(), values: vec![value] }
}

/// A result in bytes.
pub fn bytes(value: f64) -> Measure {
    Measure { unit: "B".to_owned(), values: vec![value] }
}
