//! Where sentences begin and end: one that needs a number which is not there is left out as a
//! whole.

use std::ops::Range;

use anyhow::{Context, Result};

/// The sentences of a paragraph, one after the other, with the space after each. A sign within one
/// of these places ends none.
pub fn of(text: &str, without: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        let is_inside = without.iter().any(|place| place.contains(&at));
        if !matches!(sign, '.' | '!' | '?') || is_inside {
            continue;
        }
        // Brackets and quotation marks that close after it belong to it.
        let rest = &text[end..];
        let closing = rest.len() - rest.trim_start_matches(['"', '”', ')', '*', '_']).len();
        let after = &rest[closing..];
        let next = after.trim_start();
        let begins = |next: &str| !next.starts_with(|next: char| next.is_lowercase() || next == ',' || next == ';');
        if after.starts_with(char::is_whitespace) && !next.is_empty() && begins(next) {
            let until = text.len() - next.len();
            sentences.push(from..until);
            from = until;
        }
    }
    if from < text.len() {
        sentences.push(from..text.len());
    }
    sentences
}

/// What stands in braces, with them.
pub fn braces(text: &str) -> Result<Vec<Range<usize>>> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let close = text[open..].find('}').with_context(|| format!("a brace that is not closed in {text:?}"))?;
        from = open + close + 1;
        places.push(open..from);
    }
    Ok(places)
}

/// The paragraph around a place in a page: what stands between two empty lines, or a row or an item
/// of its own.
pub fn paragraph(text: &str, at: usize) -> Range<usize> {
    let line_of = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let is_own = |line: &str| line.trim_start().starts_with(['|', '#', '-', '>']) || line.trim().is_empty();
    let mut from = line_of(at);
    while from > 0 && !is_own(text[from..].lines().next().unwrap_or_default()) {
        let before = line_of(from - 1);
        if text[before..from].trim().is_empty() {
            break;
        }
        from = before;
    }
    let mut to = from;
    for (number, line) in text[from..].split_inclusive('\n').enumerate() {
        if number > 0 && is_own(line) {
            break;
        }
        to += line.len();
    }
    from..to
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        of(text, &[]).into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn a_sentence_ends_where_another_begins() {
        assert_eq!(
            sentences("It takes 1.5 µs. So what? (It does.) End"),
            ["It takes 1.5 µs. ", "So what? ", "(It does.) ", "End"]
        );
        assert_eq!(sentences("e.g. this, i.e. that."), ["e.g. this, i.e. that."]);
        let masked = "A {x. Y} b. C.";
        let hidden = 2..8;
        let places = of(masked, std::slice::from_ref(&hidden));
        assert_eq!(places.into_iter().map(|place| &masked[place]).collect::<Vec<_>>(), ["A {x. Y} b. ", "C."]);
    }

    #[test]
    fn a_paragraph_is_what_stands_between_empty_lines_or_an_item_of_its_own() {
        let page = "# Head\n\nOne\ntwo.\n\n- item\n  goes on\n- next\n| a | b |\n";
        let at = |word: &str| &page[paragraph(page, page.find(word).unwrap())];
        assert_eq!(at("two"), "One\ntwo.\n");
        assert_eq!(at("item"), "- item\n  goes on\n");
        assert_eq!(at("goes"), "- item\n  goes on\n");
        assert_eq!(at("next"), "- next\n");
        assert_eq!(at("| b"), "| a | b |\n");
    }

    proptest! {
        #[test]
        fn sentences_make_up_the_text(text in "[a-zA-Zé.!? \\n\"{}]{0,60}") {
            prop_assert_eq!(sentences(&text).concat(), text.clone());
            for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
                let place = paragraph(&text, at);
                prop_assert!(text.is_char_boundary(place.start) && text.is_char_boundary(place.end));
            }
        }
    }
}
