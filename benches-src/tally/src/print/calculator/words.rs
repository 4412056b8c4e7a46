//! How answers are worded. The page's script words them in the same way, from the same data.

use serde::{Deserialize, Serialize};

use super::Unit;
use crate::print::format;

/// The sentences of which an answer is made.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sentences {
    pub yes: Sentence,
    /// An interval reaches over a bound, and its median keeps to it,
    pub probably: Sentence,
    /// or does not, and no effect may be all there is,
    pub open: Sentence,
    /// or may not.
    pub hardly: Sentence,
    pub no: Sentence,
    pub unknown: Sentence,
    /// The case cannot be.
    pub senseless: Sentence,
    /// Up to what they would still do.
    pub still: Sentence,
    /// Up to what they would do.
    pub would: Sentence,
    /// What a pool of threads needs.
    pub pool: Sentence,
    /// What has to be raised first.
    pub raise: Sentence,
    /// What was not measured so far.
    pub beyond: Sentence,
}

/// A sentence with a place for a list.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sentence {
    /// With `{parts}` where the list goes.
    say: String,
    /// What stands between two parts,
    between: String,
    last: String,
}

impl Sentence {
    /// The sentence with these parts.
    pub fn with(&self, parts: &[String]) -> String {
        let list = match parts {
            [] => String::new(),
            [only] => only.clone(),
            [first @ .., last] => first.join(&self.between) + &self.last + last,
        };
        self.say.replace("{parts}", &list)
    }
}

/// Where a number is rounded to, so that what is said of it stays true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    Above,
    Below,
}

/// Two digits of a number, or fewer where these are thousandths.
pub fn rounded(value: f64, toward: Toward) -> f64 {
    const MOST_DECIMALS: i32 = 3;
    let place = (-15..=MOST_DECIMALS).rev().find(|place| shifted(value, *place).abs() < 100.0).unwrap_or(-15);
    // What is whole but for the noise of arithmetic is whole.
    let whole = match toward {
        Toward::Above => (shifted(value, place) - 1e-6).ceil(),
        Toward::Below => (shifted(value, place) + 1e-6).floor(),
    };
    // Nothing has no sign.
    0.0 + shifted(whole, -place)
}

/// With three digits.
pub fn significant(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// With the point moved by so many places. Powers of ten are exact only above 1.
fn shifted(value: f64, places: i32) -> f64 {
    if places >= 0 { value * 10f64.powi(places) } else { value / 10f64.powi(-places) }
}

/// An end of an interval as a sentence says it, without its unit.
pub fn end(unit: Unit, value: f64, toward: Toward) -> String {
    const GIB: f64 = 1_073_741_824.0;
    match unit {
        Unit::Cores => plain(rounded(value, toward)),
        Unit::Gibibytes => plain(rounded(value / GIB, toward)),
        Unit::Number if toward == Toward::Above => plain(value.ceil()),
        Unit::Number => plain(value.floor()),
    }
}

/// A number with all its digits.
pub fn plain(number: f64) -> String {
    format::grouped(&number.to_string()).replace('-', "−")
}
