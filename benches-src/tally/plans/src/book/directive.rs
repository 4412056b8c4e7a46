//! Directives of pages, `<!-- cmdrun tally value … -->`: one way to read them, for the build and
//! for `tally check`.
//!
//! A directive stands on one line, and no shell sees what is in it: words are parted by spaces, and
//! double quotes keep some together. Whatever looks like a directive and is none is an error, lest
//! a page show nothing, or the directive itself.

use std::ops::Range;

use anyhow::{Result, bail, ensure};

/// A directive where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Directive {
    /// Its bytes in the text. Of one that ends its line, the line's end is among them: what it
    /// prints has its own.
    pub place: Range<usize>,
    /// The line it stands on, counted from 1.
    pub line: usize,
    /// The command line, as it was written.
    pub command: String,
    /// Whether its line goes on after it, so that what it prints stands within that line.
    pub inline: bool,
}

/// The name by which mdBook and readers know the preprocessor.
const NAME: &str = "cmdrun";

/// Every directive of a text, each read or with what is wrong, in the order in which they stand
/// there.
pub fn all(text: &str) -> Vec<Result<Directive, (usize, String)>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(OPEN).map(|at| from + at) {
        let inside = &text[at + OPEN.len()..];
        from = at + OPEN.len();
        if !looks_like_one(inside) {
            continue;
        }
        let line = 1 + text[..at].matches('\n').count();
        match read(inside) {
            Ok((command, bytes)) => {
                let end = from + bytes;
                let rest = &text[end..];
                let line_end = ["\n", "\r\n"].into_iter().find(|end| rest.starts_with(end)).map_or(0, str::len);
                let place = at..end + line_end;
                from = place.end;
                found.push(Ok(Directive { place, line, command, inline: line_end == 0 }));
            }
            Err(error) => found.push(Err((line, error.to_string()))),
        }
    }
    found
}

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Whether a comment's text begins like a directive, in whatever letters and after whatever space.
fn looks_like_one(inside: &str) -> bool {
    let inside = inside.trim_start();
    let name = inside.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME));
    name && !inside[NAME.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
}

/// A comment's command and its length with its end.
fn read(inside: &str) -> Result<(String, usize)> {
    let line = inside.lines().next().unwrap_or_default();
    let Some((body, _)) = line.split_once(CLOSE) else {
        ensure!(!inside.contains(CLOSE), "a directive stands on one line, and this one goes on after it");
        bail!("this directive has no end; {CLOSE} closes it");
    };
    let Some(command) = body.trim_start_matches(' ').strip_prefix(NAME).and_then(|rest| rest.strip_prefix(' ')) else {
        bail!("a directive begins with <!-- {NAME}, in small letters and with spaces only");
    };
    ensure!(!body.contains(OPEN), "a directive begins within this one");
    let command = command.trim();
    ensure!(!command.is_empty(), "this directive names no command");
    Ok((command.to_owned(), body.len() + CLOSE.len()))
}

/// The words of a command line. What a shell would do something with is refused, since nothing
/// would be done.
pub fn words(command: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for sign in command.chars() {
        match sign {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            '$' | '`' | '\\' => bail!("no shell reads a directive, and {sign:?} has no meaning in it"),
            ';' | '&' | '|' | '<' | '>' | '\'' | '#' if !quoted => {
                bail!("no shell reads a directive, and {sign:?} has no meaning outside double quotes")
            }
            sign if sign.is_control() => bail!("a directive has spaces and no other white space"),
            sign => word.get_or_insert_default().push(sign),
        }
    }
    ensure!(!quoted, "a quotation mark has no second one");
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn commands(text: &str) -> Vec<(usize, String, bool)> {
        let read = all(text).into_iter().map(|found| found.unwrap());
        read.map(|directive| (directive.line, directive.command, directive.inline)).collect()
    }

    #[test]
    fn directives_are_found_where_they_stand() {
        let text =
            "a <!-- cmdrun tally value x --> b\n<!--cmdrun tally table y -->\n<!-- a remark --> <!-- cmdrun date -->";
        let found = commands(text);
        assert_eq!(
            found,
            [
                (1, "tally value x".to_owned(), true),
                (2, "tally table y".to_owned(), false),
                (3, "date".to_owned(), true)
            ]
        );
        let two = "<!-- cmdrun tally value x --> and <!-- cmdrun tally value y -->\n";
        assert_eq!(commands(two).len(), 2, "two on one line, of which the second ends it");
        let places: String = all(two).into_iter().map(|found| two[found.unwrap().place].to_owned()).collect();
        assert_eq!(places, two.replace(" and ", ""));
    }

    #[test]
    fn what_only_looks_like_a_directive_is_wrong_and_says_where() {
        for (text, line, reason) in [
            ("\n<!-- cmdrun tally value\nx -->\n", 2, "stands on one line"),
            ("<!-- cmdrun tally value x\n", 1, "has no end"),
            ("<!-- CMDRUN tally value x -->", 1, "in small letters"),
            ("<!--\tcmdrun tally value x -->", 1, "spaces only"),
            ("<!-- cmdrun\ttally value x -->", 1, "spaces only"),
            ("<!--\ncmdrun tally value x -->", 1, "stands on one line"),
            ("<!-- cmdrun -->", 1, "names no command"),
            ("<!-- cmdrun  -->", 1, "names no command"),
            ("<!-- cmdrun tally <!-- cmdrun tally value x -->", 1, "begins within"),
        ] {
            let Err((at, said)) = &all(text)[0] else { panic!("{text:?} is read as a directive") };
            assert!(*at == line && said.contains(reason), "{text:?}: line {at}: {said}");
        }
        assert_eq!(all("<!-- the preprocessor cmdrun --> <!-- cmdrunning -->"), []);
    }

    #[test]
    fn words_are_parted_by_spaces_and_kept_together_by_quotes() {
        let read = |command| words(command).unwrap();
        assert_eq!(read(r#"tally value  "a[b, c] / d" --over e"#), ["tally", "value", "a[b, c] / d", "--over", "e"]);
        assert_eq!(read(r#"tally value x[a]"b c" """#), ["tally", "value", "x[a]b c", ""]);
        for shell in
            ["x $(touch y)", "x `touch y`", "x; touch y", "x && y", "x > y", "x | y", r#""$HOME""#, "a 'b'", "a\\b"]
        {
            assert!(words(shell).unwrap_err().to_string().contains("no shell"), "{shell}");
        }
        assert!(words("\"a").unwrap_err().to_string().contains("quotation mark"));
        assert!(words("a\tb").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic_and_places_follow_one_another(
            text in "(<!--|-->|cmdrun| |\n|\t|\"|é|x){0,40}",
        ) {
            let mut end = 0;
            for directive in all(&text).into_iter().flatten() {
                prop_assert!(directive.place.start >= end && text.is_char_boundary(directive.place.end));
                end = directive.place.end;
                let _ = words(&directive.command);
            }
        }
    }
}
