//! What a source file says to the compiler, as a hash: no comment, no layout, nothing that is only
//! documented, linted or tested.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::checksum::hash;

/// The hash of a file. Of what is no Rust, every byte counts.
pub fn hash_of(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    let tokens = std::str::from_utf8(&bytes).ok().filter(|_| is_rust).and_then(|code| TokenStream::from_str(code).ok());
    let Some(tokens) = tokens else { return Ok(hash(&bytes)) };
    let mut said = String::new();
    say(tokens, &mut said);
    Ok(hash(said.as_bytes()))
}

fn say(tokens: TokenStream, said: &mut String) {
    let mut tokens = tokens.into_iter().peekable();
    let mut commas = 0;
    while let Some(token) = tokens.next() {
        if let TokenTree::Punct(sign) = &token
            && sign.as_char() == '#'
        {
            let inner = tokens.next_if(|next| matches!(next, TokenTree::Punct(sign) if sign.as_char() == '!'));
            match tokens.peek() {
                Some(TokenTree::Group(attribute)) if is_only_said(attribute) => {
                    tokens.next();
                    continue;
                }
                Some(TokenTree::Group(attribute)) if attribute.stream().to_string().replace(' ', "") == "cfg(test)" => {
                    // What follows belongs to it: an item ends with its body or a semicolon, and
                    // all else at a comma.
                    let is_last = |token: &TokenTree| match token {
                        TokenTree::Punct(sign) => [';', ','].contains(&sign.as_char()),
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        _ => false,
                    };
                    let _ = tokens.by_ref().find(is_last);
                    continue;
                }
                _ => said.push_str(if inner.is_some() { "#!" } else { "#" }),
            }
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                let [open, close] = match group.delimiter() {
                    Delimiter::Parenthesis => ['(', ')'],
                    Delimiter::Brace => ['{', '}'],
                    Delimiter::Bracket => ['[', ']'],
                    Delimiter::None => [' ', ' '],
                };
                said.push(open);
                say(group.stream(), said);
                said.push(close);
            }
            // A comma before a closing bracket is layout, but where it makes a tuple.
            TokenTree::Punct(sign) if sign.as_char() == ',' && tokens.peek().is_none() && commas > 0 => {}
            other => {
                commas += u32::from(matches!(&other, TokenTree::Punct(sign) if sign.as_char() == ','));
                said.push_str(&other.to_string());
                said.push(' ');
            }
        }
    }
}

/// Whether an attribute changes nothing of what is compiled.
fn is_only_said(attribute: &Group) -> bool {
    const WORDS: [&str; 6] = ["doc", "allow", "warn", "deny", "expect", "forbid"];
    let first = attribute.stream().into_iter().next().map(|word| word.to_string());
    attribute.delimiter() == Delimiter::Bracket && first.is_some_and(|word| WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: &str) -> String {
        let mut said = String::new();
        say(TokenStream::from_str(code).unwrap(), &mut said);
        said
    }

    #[test]
    fn comments_layout_documentation_lints_and_tests_say_nothing() {
        let plain = "fn a(b: u8, c: u8) -> u8 { b + c }";
        for same in [
            "// One.\nfn a(b: u8, c: u8) -> u8 { b + c }",
            "//! One.\n#![allow(dead_code)]\n/// Two.\nfn a(\n    b: u8,\n    c: u8,\n) -> u8 \
             {\n    b + /* three */ c\n}\n",
            "#[expect(unused)] #[doc(hidden)] fn a(b: u8, c: u8) -> u8 { b + c }",
            "fn a(b: u8, c: u8) -> u8 { b + c } #[cfg(test)] mod tests { fn d() {} }",
            "#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\nfn a(b: u8, c: u8) -> u8 { b + c }",
        ] {
            assert_eq!(said(same), said(plain), "{same}");
        }
    }

    #[test]
    fn all_else_says_something() {
        let plain = "const A: [u8; 2] = [1, 2]; fn a(b: u8) { c!(b) }";
        for other in [
            "const A: [u8; 2] = [1, 3]; fn a(b: u8) { c!(b) }",
            "const A: [u8; 2] = [1, 2]; #[inline] fn a(b: u8) { c!(b) }",
            "const A: [u8; 2] = [1, 2]; #[cfg(not(test))] fn a(b: u8) { c!(b) }",
            "const A: [u8; 2] = [1, 2]; fn a(b: u8) { c!(b, \"/// b\") }",
            "const A: [u8; 2] = [1, 2]; fn a(b: u8) { c![b] }",
        ] {
            assert_ne!(said(other), said(plain), "{other}");
        }
        assert_ne!(said("f((a,))"), said("f((a))"), "one is a tuple");
        assert_ne!(said("struct A { #[cfg(test)] b: u8, c: u8 }"), said("struct A { #[cfg(test)] b: u8, d: u8 }"));
    }
}
