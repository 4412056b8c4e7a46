//! Text that came from data is hostile until it has been here: it can become neither markup nor a
//! directive.

/// The text as HTML that shows it: every character that HTML, Markdown, mdBook or mdbook-cmdrun
/// could read as a command becomes a numeric entity, and every run of white space becomes one
/// space, so that no line or block can end early.
pub fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !escaped.is_empty() {
            escaped.push(' ');
        }
        for character in word.chars() {
            if character.is_alphanumeric()
                || " .,:;()/+%=@?°µ×–·±≅●○◇".contains(character)
                || is_inner_hyphen(word, character)
            {
                escaped.push(character);
            } else {
                escaped.push_str(&format!("&#{};", u32::from(character)));
            }
        }
    }
    escaped
}

/// Code as HTML that shows it line by line, for a `<pre>`. No line is empty, since Markdown would
/// take an empty one for the end of the block, and nothing in it can be read as a command.
pub fn code(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() * 5 / 4);
    let mut is_begin = true;
    for character in text.chars() {
        let is_end = character == '\n';
        if character.is_alphanumeric() || " .,:;()/=?".contains(character) || (is_end && !is_begin) {
            escaped.push(character);
        } else {
            escaped.push_str(&format!("&#{};", u32::from(character)));
        }
        is_begin = is_end;
    }
    escaped
}

/// JSON that stays data inside a page's script: it can neither end that nor become a directive of
/// mdBook's.
pub fn json(json: &serde_json::Value) -> String {
    // These stand nowhere but in strings, where JSON has another way to write them; and no object
    // begins with an object.
    [("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("{{", "{\\u007b")]
        .into_iter()
        .fold(json.to_string(), |json, (mark, escaped)| json.replace(mark, escaped))
}

/// A hyphen is harmless unless it could be half of a comment's end or begin a list.
fn is_inner_hyphen(word: &str, character: char) -> bool {
    character == '-' && !word.contains("--") && !word.starts_with('-') && !word.ends_with('-')
}

/// The text as an identifier: lower-case letters, digits and single hyphens.
pub fn identifier(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::{Captures, Regex};

    #[test]
    fn hostile_text_is_shown_and_does_nothing() {
        for hostile in
            ["<script>alert(1)</script>", "-->", "<!-- cmdrun rm -->", "{{#include x}}", "a|b", "a\n\nb", "`x`"]
        {
            let shown = html(hostile);
            for mark in ["<", ">", "{", "|", "\n", "`", "--"] {
                assert!(!shown.contains(mark), "{hostile:?} became {shown:?}");
            }
        }
        assert_eq!(html("AMD EPYC 9B14, 2.6 GHz"), "AMD EPYC 9B14, 2.6 GHz");
        assert_eq!(html("thread-socket"), "thread-socket");
        assert_eq!(html("a\n\nb"), "a b");
    }

    proptest! {
        #[test]
        fn nothing_but_safe_characters_comes_out(text in ".*") {
            let shown = html(&text);
            let commands = ['<', '>', '{', '}', '|', '\n', '`', '*', '_', '[', ']', '"', '\'', '\\', '$', '!'];
            prop_assert!(!shown.contains(commands));
            prop_assert!(!shown.contains("--"));
            for rest in shown.split('&').skip(1) {
                prop_assert!(rest.starts_with('#') && rest.contains(';'), "{}", shown);
            }
        }
    }

    proptest! {
        #[test]
        fn code_is_shown_as_it_is_and_does_nothing(text in "([a-z<>&{}#!`_*|\\[\\]\"'$ \\-]|\n){0,80}") {
            let shown = code(&text);
            let commands = ['<', '>', '{', '}', '|', '`', '*', '_', '[', ']', '"', '\'', '\\', '$', '!', '-'];
            prop_assert!(!shown.contains(commands) && !shown.contains("\n\n") && !shown.starts_with('\n'));
            let back = Regex::new("&#([0-9]+);").unwrap().replace_all(&shown, |found: &Captures| {
                char::from_u32(found[1].parse().unwrap()).unwrap().to_string()
            });
            prop_assert_eq!(back, text);
        }
    }

    #[test]
    fn json_in_a_page_stays_data() {
        let hostile = "</script><!-- cmdrun rm -->{{{#include x}} & more";
        let value = serde_json::json!({ "a": { hostile: [{ "b": hostile }] } });
        let shown = super::json(&value);
        for mark in ["<", ">", "&", "{{"] {
            assert!(!shown.contains(mark), "{shown}");
        }
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn identifiers_are_words_and_hyphens() {
        assert_eq!(identifier("task-socket[hops=500, runtime=multi]"), "task-socket-hops-500-runtime-multi");
    }
}
