//! What sums find, and what the format does not have.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::record::first_unknown_field;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_byte_of_any_line_that_is_another_is_found(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        static WRITTEN: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let folder = tempfile::tempdir().unwrap();
            fs::read(written(folder.path())).unwrap()
        });
        let mut bytes = WRITTEN.clone();
        let at = at.index(bytes.len() - 1);
        prop_assume!(bytes[at] != to);
        bytes[at] = to;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("switch-cost/socket.jsonl");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let error = format!("{:#}", Record::load(&path).unwrap_err());
        prop_assert!(error.contains("socket.jsonl, line "), "{}", error);
    }
}

#[test]
fn a_digit_that_flipped_is_named_with_its_line_and_the_cure() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"elapsed_ns\":[10000", "\"elapsed_ns\":[11000", 1)).unwrap();
    let error = format!("{:#}", Record::load(&path).unwrap_err());
    assert!(error.contains("line 2: the line does not come to its sum") && error.contains("measure again"), "{error}");
}

#[test]
fn a_line_without_its_sum_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    fs::write(&path, without_sums(&fs::read_to_string(&path).unwrap())).unwrap();
    let error = format!("{:#}", Record::load(&path).unwrap_err());
    assert!(error.contains("line 1: the line does not end with its sum"), "{error}");
}

#[test]
fn what_the_format_does_not_have_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(written(folder.path())).unwrap();
    assert_eq!(first_unknown_field(&text).unwrap(), None);
    let more = text.replacen("\"seed\":", "\"diary\":\"dear\",\"seed\":", 1);
    assert_eq!(first_unknown_field(&with_sums(&more)).unwrap(), Some(1));
    let more = text.replacen("\"doubts\":", "\"diary\":\"dear\",\"doubts\":", 1);
    assert_eq!(first_unknown_field(&with_sums(&more)).unwrap(), Some(2));
}
