//! A chapter printed by the real mdbook-cmdrun, each directive as the shell command that it is.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use mdbook_preprocessor::book::{Book, BookItem, Chapter};
use regex::Regex;
use serde_json::json;
use tempfile::TempDir;
use walkdir::WalkDir;

const CHAPTER: &str = "limits.md";

/// A checkout of this book, with a `tally` on its path that prints as a build of the published site does.
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
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
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
