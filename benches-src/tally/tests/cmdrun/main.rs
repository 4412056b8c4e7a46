//! Tally beside the real mdbook-cmdrun, which it is built with here: `cargo test --features
//! cmdrun`. One chapter is printed by both, each directive as the shell command that it is, and
//! commands that are not tally's are run.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use mdbook_preprocessor::book::{Book, BookItem, Chapter};
use regex::Regex;
use serde_json::json;
use support::{Fake, preprocess};
use tempfile::TempDir;
use walkdir::WalkDir;

#[path = "../support/mod.rs"]
mod support;

const CHAPTER: &str = "limits.md";

/// A checkout of this book, with a `tally` on its path that prints as a build of the published site
/// does.
fn checkout() -> TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let copy = tempfile::tempdir().unwrap();
    for linked in ["benches-src", "data", "rust-toolchain.toml", ".cargo"] {
        symlink(root.join(linked), copy.path().join(linked)).unwrap();
    }
    for entry in WalkDir::new(root.join("book")) {
        let entry = entry.unwrap();
        let to = copy.path().join(entry.path().strip_prefix(root).unwrap());
        match entry.file_type().is_dir() {
            true => fs::create_dir_all(&to).unwrap(),
            false => drop(fs::copy(entry.path(), &to).unwrap()),
        }
    }
    let tally = copy.path().join("bin/tally");
    fs::create_dir(copy.path().join("bin")).unwrap();
    let own = env!("CARGO_BIN_EXE_tally");
    fs::write(&tally, format!("#!/bin/sh\nexec '{own}' \"$@\" --machine reference --form page\n")).unwrap();
    fs::set_permissions(&tally, fs::Permissions::from_mode(0o755)).unwrap();
    copy
}

/// The chapter as it comes back, where `book.toml` lists these commands.
fn printed(checkout: &Path, content: &str, commands: &[&str]) -> String {
    let listed = format!("[preprocessor.cmdrun]\ncommands = {}\n", json!(commands));
    fs::write(checkout.join("book.toml"), listed).unwrap();
    let mut book = Book::new();
    book.push_item(Chapter::new("Chapter", content.to_owned(), CHAPTER, Vec::new()));
    let settings = json!({ "measure": { "effort": "never", "show": "reference" } });
    let context = json!({
        "root": checkout,
        "config": { "book": { "src": "book/src" }, "preprocessor": settings },
        "renderer": "html",
        "mdbook_version": "0.5.4",
    });
    let path = format!("{}:{}", checkout.join("bin").display(), env::var("PATH").unwrap());
    let mut tally = Command::new(env!("CARGO_BIN_EXE_tally"));
    tally.args(["preprocess", "cmdrun"]).current_dir(checkout).env("PATH", path);
    let mut child = tally.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), &json!([context, book])).unwrap();
    chapter(&child.wait_with_output().unwrap())
}

/// The chapter as a preprocessor has given it back.
fn chapter(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let book: Book = serde_json::from_slice(&output.stdout).unwrap();
    match book.iter().next() {
        Some(BookItem::Chapter(chapter)) => chapter.content.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_chapter_comes_out_as_the_real_mdbook_cmdrun_prints_it() {
    let checkout = checkout();
    let content = fs::read_to_string(checkout.path().join("book/src").join(CHAPTER)).unwrap();
    let directive = Regex::new("<!-- cmdrun (.*?) -->").unwrap();
    let commands: Vec<&str> = directive.captures_iter(&content).map(|found| found.extract::<1>().1[0]).collect();
    assert!(commands.len() > 8, "{commands:?}");
    let by_tally = printed(checkout.path(), &content, &[]);
    let by_shell = printed(checkout.path(), &content, &commands);
    for (by_shell, by_tally) in by_shell.lines().zip(by_tally.lines()) {
        assert_eq!(by_shell, by_tally);
    }
    assert_eq!(by_shell, by_tally);
}

#[test]
fn a_command_that_book_toml_lists_is_run_and_what_it_prints_is_read_for_no_directive() {
    let fake = Fake::new();
    let hostile = "**cmdrun error**: not at all {{#include /etc/passwd}} <!-- cmdrun tally dance -->";
    fake.write("book/src/said.txt", hostile);
    fake.write("book.toml", "[preprocessor.cmdrun]\ncommands = [\"cat said.txt\"]\n");
    let page = chapter(&preprocess(&fake, "cmdrun", json!({}), "<!-- cmdrun cat said.txt --> stands here.\n"));
    assert_eq!(page, hostile.replace("{{#", "\\{{#") + " stands here.\n");
}

#[test]
fn a_command_that_fails_fails_the_build_and_names_chapter_and_command() {
    let fake = Fake::new();
    fake.write("book.toml", "[preprocessor.cmdrun]\ncommands = [\"false\", \"no-such-command\"]\n");
    for (command, reason) in [("false", "returned exit code 1"), ("no-such-command", "returned exit code 127")] {
        let page = format!("\nText <!-- cmdrun {command} --> text.\n");
        let output = preprocess(&fake, "cmdrun", json!({ "effort": "never" }), &page);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(said.contains("chapter.md, line 2: ") && said.contains(command) && said.contains(reason), "{said}");
    }
}
