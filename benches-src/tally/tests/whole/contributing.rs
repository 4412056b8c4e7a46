//! The recipes of CONTRIBUTING.md, followed to the letter in a copy of the plans and pages: each
//! leaves nothing that `tally check` misses, and what is said on the way to whoever stops half way
//! is what CONTRIBUTING.md shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use walkdir::WalkDir;

const CHAPTER: &str = "benches-src/switch-cost";

/// A copy of all that `tally check` looks at, but for the records.
struct Copy {
    folder: tempfile::TempDir,
    contributing: String,
}

impl Copy {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let copy = Self {
            folder: tempfile::tempdir().unwrap(),
            contributing: fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap(),
        };
        for part in
            ["benches-src", "book/src", "book/charts", "data/published", "book.toml", "rust-toolchain.toml", ".cargo"]
        {
            let is_source = |name: &str| !["target", "node_modules", "generated", "tally"].contains(&name);
            let entries = WalkDir::new(root.join(part)).into_iter();
            for entry in entries.filter_entry(|entry| entry.file_name().to_str().is_some_and(is_source)).flatten() {
                if entry.file_type().is_file() {
                    let to = copy.path(entry.path().strip_prefix(&root).unwrap().to_str().unwrap());
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    fs::copy(entry.path(), to).unwrap();
                }
            }
        }
        fs::create_dir_all(copy.path("data/machines")).unwrap();
        copy
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// What a reader is told to write in a section, in the order in which it stands there.
    fn blocks(&self, section: &str) -> Vec<String> {
        let from = self.contributing.split(&format!("\n## {section}\n")).nth(1).unwrap();
        let own = from.split("\n## Add").next().unwrap();
        let fenced = own.split("\n   ```").skip(1).step_by(2);
        fenced
            .map(|block| {
                block.lines().skip(1).map(|line| line.strip_prefix("   ").unwrap_or(line).to_owned() + "\n").collect()
            })
            .collect()
    }

    fn append(&self, path: &str, text: &str) {
        let before = fs::read_to_string(self.path(path)).unwrap();
        fs::write(self.path(path), format!("{before}\n{text}")).unwrap();
    }

    fn replace(&self, path: &str, from: &str, to: &str) {
        let before = fs::read_to_string(self.path(path)).unwrap();
        assert!(before.contains(from), "{path} has no {from}");
        fs::write(self.path(path), before.replacen(from, to, 1)).unwrap();
    }

    /// What `tally check` says.
    fn check(&self) -> String {
        let output =
            Command::new(env!("CARGO_BIN_EXE_tally")).arg("check").current_dir(self.folder.path()).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    fn all_is_well(&self) {
        assert_eq!(self.check(), "plans, listings, pages and records agree\n");
    }

    /// That `tally check` says all of these, and CONTRIBUTING.md that it does.
    fn is_told(&self, all: &[&str]) {
        let said = self.check();
        for what in all {
            assert!(said.contains(what), "{what}: {said}");
            assert!(self.contributing.contains(what), "CONTRIBUTING.md does not say: {what}");
        }
    }
}

#[test]
fn a_claim_is_added() {
    let copy = Copy::new();
    let blocks = copy.blocks("Add a claim");
    copy.append(&format!("{CHAPTER}/quantities.toml"), &blocks[0]);
    copy.is_told(&["quantity yield-ratio-of-two: nothing says its name"]);
    fs::write(copy.path(&format!("{CHAPTER}/claims/Q15.toml")), &blocks[1]).unwrap();
    copy.is_told(&[
        "benches-src/switch-cost/claims/Q15.toml: no page shows it; a page does by <!-- cmdrun tally claim Q15 -->",
    ]);
    copy.append("book/src/switch-cost/yields-and-pairs.md", &blocks[2]);
    copy.all_is_well();
    copy.replace(&format!("{CHAPTER}/claims/Q15.toml"), "yield-ratio-of-two", "yield-ratio-of-too");
    copy.is_told(&[
        "\"yield-ratio-of-too\" is no quantity with a name, which would say it; did you mean yield-ratio-of-two?",
    ]);
    copy.replace(&format!("{CHAPTER}/claims/Q15.toml"), "holds =", "holdz =");
    copy.is_told(&["benches-src/switch-cost/claims/Q15.toml, line 5: unknown field `holdz`, expected one of "]);
}

#[test]
fn a_benchmark_is_added() {
    let copy = Copy::new();
    let blocks = copy.blocks("Add a benchmark");
    let listing = format!("{CHAPTER}/src/bin/loop-yield.rs");
    fs::write(copy.path(&listing), &blocks[0]).unwrap();
    copy.is_told(&[
        "benches-src/switch-cost/src/bin/loop-yield.rs has no entry; below [program], write: loop-yield = {",
    ]);
    copy.replace(&format!("{CHAPTER}/programs.toml"), "[program]\n", &format!("[program]\n{}", blocks[1]));
    copy.is_told(&[
        "no experiment runs loop-yield; name it in the cells of a file in benches-src/switch-cost/experiments",
    ]);
    fs::write(copy.path(&format!("{CHAPTER}/experiments/lone-yields.toml")), &blocks[2]).unwrap();
    copy.is_told(&["lone-yields.toml: no page shows it; a page does by <!-- cmdrun tally table lone-yields -->"]);
    copy.append("book/src/switch-cost/yields-and-pairs.md", &blocks[3]);
    copy.all_is_well();
    fs::remove_file(copy.path(&listing)).unwrap();
    let said = copy.check();
    assert!(
        said.contains("unknown program \"loop-yield\": there is no benches-src/switch-cost/src/bin/loop-yield.rs"),
        "{said}"
    );
}

#[test]
fn a_chart_is_added() {
    let copy = Copy::new();
    let (blocks, page) = (copy.blocks("Add a chart"), "book/src/memory/how-much-memory-per-connection.md");
    let directive = &blocks[1];
    let bare = directive.split(" --caption").next().unwrap().to_owned() + " -->\n";
    copy.append(page, &bare);
    copy.is_told(&[
        "tally chart brigades dots: this figure says no caption; write: tally chart brigades dots --caption \"…\"",
    ]);
    copy.replace(page, &bare, directive);
    copy.is_told(&["no takeaway says what this figure shows; in takeaways.toml of its chapter, add one with the id \
                    brigades-dots or brigades"]);
    copy.append("benches-src/memory/takeaways.toml", &blocks[0]);
    copy.all_is_well();
}
