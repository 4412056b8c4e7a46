//! Checksums. Each line of a record ends with one over the text before it: a digit that flipped on
//! a disk would look as good as any other.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

/// What stands between a line's text and its sum.
const MEMBER: &str = ",\"sum\":\"";

const END: &str = "\"}";

/// So many hexadecimal digits: one line in four thousand million would be taken for another.
const DIGITS: usize = 8;

/// A JSON object with one member more, the sum of what stands before it. It stays an object, and
/// one line.
pub fn with_sum(object: &str) -> String {
    let text = object.strip_suffix('}').expect("a line is an object");
    [text, MEMBER, &sha256(text.as_bytes())[..DIGITS], END].concat()
}

/// What is done about a line that is not what was written.
const CURE: &str = "take the file from where it is whole, or measure again";

/// The object without its sum, if that is right.
pub fn without_sum(line: &str) -> Result<String> {
    let rest = line.strip_suffix(END).and_then(|rest| rest.split_at_checked(rest.len().checked_sub(DIGITS)?));
    let parts = rest.and_then(|(text, sum)| Some((text.strip_suffix(MEMBER)?, sum)));
    let (text, sum) =
        parts.with_context(|| format!("the line does not end with its sum: it was cut off or changed; {CURE}"))?;
    ensure!(
        sha256(text.as_bytes())[..DIGITS] == *sum,
        "the line does not come to its sum, {sum}: it was changed since it was written; {CURE}"
    );
    Ok([text, "}"].concat())
}

/// All of a SHA-256, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// A short hash: enough to tell versions of a file apart.
pub fn hash(bytes: &[u8]) -> String {
    sha256(bytes)[..16].to_owned()
}

pub fn hash_file(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hash(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sum_is_the_beginning_of_a_sha_256_of_what_stands_before_it() {
        // printf '{"run":{}' | sha256sum
        assert_eq!(with_sum(r#"{"run":{}}"#), r#"{"run":{},"sum":"4024901b"}"#);
        assert_eq!(without_sum(r#"{"run":{},"sum":"4024901b"}"#).unwrap(), r#"{"run":{}}"#);
    }

    #[test]
    fn a_line_without_a_sum_is_refused_whatever_it_is() {
        for line in ["", "}", "\"}", "{}", r#"{"run":{}}"#, r#"{"sum":"4024901b"}"#, "ää\"}", "ääää\"}", "0dbbaeaä\"}"]
        {
            assert!(without_sum(line).unwrap_err().to_string().contains("does not end with its sum"), "{line}");
        }
    }

    proptest! {
        #[test]
        fn one_byte_that_is_another_is_found_wherever_it_is(
            text in "[ -~]{0,60}",
            at in any::<prop::sample::Index>(),
            to in any::<u8>(),
        ) {
            let line = with_sum(&serde_json::json!({ "run": text }).to_string());
            prop_assert!(without_sum(&line).is_ok());
            let mut bytes = line.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = to;
            // What is no text is no line of one.
            if let Ok(changed) = String::from_utf8(bytes) {
                prop_assert_eq!(without_sum(&changed).is_ok(), changed == line);
            }
        }
    }
}
