//! A record holds what its format has and nothing more: reading a line and writing it again changes
//! nothing.

use anyhow::Result;

use super::checksum::without_sum;
use super::lines::Line;

/// The number of the first line of a record of which that is not so.
pub fn first_unknown_field(record: &str) -> Result<Option<usize>> {
    for (number, line) in record.lines().enumerate() {
        let line = without_sum(line)?;
        let read: Line = serde_json::from_str(&line)?;
        // Most lines are written today as they were then, to the letter.
        if serde_json::to_string(&read)? == line {
            continue;
        }
        let written: serde_json::Value = serde_json::from_str(&line)?;
        if serde_json::to_value(&read)? != written {
            return Ok(Some(number + 1));
        }
    }
    Ok(None)
}
