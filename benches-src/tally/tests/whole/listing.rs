//! Listings of programs, through the real executable: what a page shows of them, and what is
//! refused.

use crate::support::{Fake, fail};
use serde_json::Value;

const SLOW: &str = r#"//! One operation: a slow step, as by `nobody`.

impl Repeat for Slow {
    fn set_up() -> Result<Self> {
        let others = Threads::start(|link| pass_on(link))?;
        Ok(Self { others })
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            println!("{{#include <!-- cmdrun tally list --> -->");

            self.step()?;
        }
        Ok(())
    }
}

fn pass_on(_: Link) {}
"#;

fn fake() -> Fake {
    let fake = Fake::new();
    fake.write("benches-src/chapter/src/bin/slow.rs", SLOW);
    fake.write("benches-src/chapter/src/bin/fast.rs", &SLOW.replace("slow", "fast"));
    fake
}

#[test]
fn a_page_shows_what_is_inside_the_clock_and_leads_to_the_whole_file() {
    let page = fake().print(&["listing", "slow", "fast", "--form", "page"]);
    assert!(
        page.starts_with(
            "<details class=\"programs\">\n<summary>The programs: slow · fast</summary>\n<div class=\"listings\">"
        ),
        "{page}"
    );
    assert!(page.contains("a slow step, as by <code>nobody</code>."), "{page}");
    assert!(page.contains("<a href=\"chapter/programs.md#slow\">the whole program, 19 lines</a>"), "{page}");
    assert!(page.contains("<pre><code class=\"language-rust\">for () in laps &#123;\n"), "{page}");
    assert!(page.contains("What the others do meanwhile:</p>\n<pre><code class=\"language-rust\">fn pass&#95;on("));
    assert!(!page.contains("set&#95;up"), "{page}");
    for mark in ["\n\n", "{{", "<!--", "-->"] {
        assert!(!page.contains(mark), "{mark:?} would be read by Markdown or by mdBook: {page}");
    }
}

#[test]
fn the_page_of_a_chapter_has_every_program_whole_and_what_they_share() {
    let fake = fake();
    let page = fake.print(&["listing", "--all", "chapter", "--form", "page"]);
    for part in ["\n## fast\n", "\n## slow\n", "<summary>The whole program, 19 lines</summary>", "## What they share"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("cargo program slow &#45;&#45; &#45;&#45;size 3 &#45;&#45;placement free"), "{page}");
    assert!(page.contains("<p class=\"small\">benches-src/chapter/src/lib.rs</p>"), "{page}");
    fake.write("book.toml", "[output.html]\ngit-repository-url = \"https://example.org/book/\"\n");
    let page = fake.print(&["listing", "--all", "chapter", "--form", "page"]);
    assert!(page.contains("/blob/main/benches-src/chapter/src/bin/slow.rs\">benches-src/"), "{page}");
}

#[test]
fn scripts_and_terminals_get_the_same_code() {
    let fake = fake();
    let json: Value = serde_json::from_str(&fake.print(&["listing", "slow", "--json"])).unwrap();
    let timed = json[0]["timed"].as_str().unwrap();
    assert!(timed.starts_with("for () in laps {\n    println!") && timed.ends_with("?;\n}\n"), "{timed}");
    assert_eq!(json[0]["others"], "fn pass_on(_: Link) {}\n");
    assert_eq!(json[0]["path"], "benches-src/chapter/src/bin/slow.rs");
    let text = fake.print(&["listing", "slow"]);
    assert!(text.contains(timed) && text.contains("chapter/slow\n"), "{text}");
    assert!(text.contains("\ncargo program slow -- --size 3 --placement free\n"), "{text}");
    assert_eq!(json[0]["command"], "cargo program slow -- --size 3 --placement free");
    fake.write("benches-src/chapter/src/lib.rs", "pub struct Size;\n");
    assert!(fake.print(&["listing", "--file", "chapter/src/lib.rs"]).contains("pub struct Size"));
}

#[test]
fn what_cannot_be_shown_is_an_error_that_says_which() {
    let fake = fake();
    fake.write("benches-src/chapter/src/bin/fast.rs", "//! One operation: none.\n\nfn main() {}\n");
    let said = fail(fake.tally(&["listing", "slow", "fast"]));
    assert!(said.contains("benches-src/chapter/src/bin/fast.rs") && said.contains("nothing of this file is timed"));
    assert!(fail(fake.tally(&["listing", "none"])).contains("unknown program \"none\""));
    assert!(fail(fake.tally(&["listing", "--all", "none"])).contains("unknown chapter \"none\"; there are: chapter"));
    for path in ["../../etc/passwd.rs", "/etc/passwd.rs", "chapter/programs.toml"] {
        assert!(fail(fake.tally(&["listing", "--file", path])).contains("is no Rust file of benches-src"), "{path}");
    }
}
