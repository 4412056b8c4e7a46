//! What a record speaks of, through the real executable and with a program that a real compiler
//! made.

use std::process::Command;

use crate::support::{Fake, fail, line, succeed};

/// A program that works through a table, in a project of which it is one of two.
struct Project {
    fake: Fake,
}

const LISTING: &str = r##"//! One operation: a fast step.

mod table;

use std::hint::black_box;

fn run(steps: u64) -> u64 {
    (0..steps).map(|step| mix(black_box(step))).fold(0, u64::wrapping_add)
}

#[inline(never)]
fn mix(step: u64) -> u64 {
    table::TABLE[step as usize % table::TABLE.len()].wrapping_mul(step ^ 5)
}

fn main() {
    let flags: Vec<String> = std::env::args().collect();
    assert!(run(9) > 0, "it does its work");
    if !flags.iter().any(|flag| flag == "--once") {
        let placement = flags.iter().skip_while(|flag| *flag != "--placement").nth(1).expect("it is told where");
        println!("{}", r#"OBSERVATION"#.replace("PLACEMENT", placement));
    }
}
"##;

const TABLE: &str = "pub static TABLE: [u64; 8] = [3, 1, 4, 1, 5, 9, 2, 6];\n";

const FLAGS: [&str; 4] = ["-Copt-level=3", "-Ccodegen-units=1", "--edition=2024", "--emit=link,dep-info"];

impl Project {
    fn new() -> Self {
        let project = Self { fake: Fake::new() };
        project.fake.write("benches-src/chapter/src/bin/fast/table.rs", TABLE);
        project.write(&listing());
        project.compile(&FLAGS);
        succeed(project.fake.measure(&[]));
        project
    }

    fn write(&self, listing: &str) {
        let listing = listing.replace("mod table;", "#[path = \"fast/table.rs\"]\nmod table;");
        self.fake.write("benches-src/chapter/src/bin/fast.rs", &listing);
    }

    /// Has the compiler make the program, and say of what, as cargo has it.
    fn compile(&self, flags: &[&str]) {
        let _ = std::fs::remove_file(self.fake.path("programs/fast"));
        let mut rustc = Command::new("rustc");
        rustc.args(flags).arg("-o").arg(self.fake.path("programs/fast"));
        succeed_in(rustc.arg(self.fake.path("benches-src/chapter/src/bin/fast.rs")));
        let said = self.fake.read("programs/fast.d");
        self.fake.write("target/release/fast.d", said.lines().next().unwrap());
    }

    /// What is measured again once the program is compiled as it is now.
    fn measured_again(&self) -> bool {
        self.compile(&FLAGS);
        succeed(self.fake.measure(&["--json"])) == "{\"measured\":[\"pair\"]}\n"
    }

    fn page(&self) -> String {
        self.fake.print(&["table", "pair", "--form", "page"])
    }
}

fn listing() -> String {
    LISTING.replace("OBSERVATION", &line("fast", 1000))
}

fn succeed_in(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_comment_a_name_and_a_function_moved_leave_every_record_fresh() {
    let project = Project::new();
    let moved = TABLE.to_owned()
        + "#[inline(never)]\npub fn mix(step: u64) -> u64 \
           {\n    TABLE[step as usize % TABLE.len()].wrapping_mul(step ^ 5)\n}\n";
    let begin = listing().find("#[inline(never)]").unwrap();
    let end = listing().find("fn main").unwrap();
    let without = listing()[..begin].replace("mix(", "table::mix(") + &listing()[end..];
    for (what, listing, table) in [
        ("a comment", listing().replace("fn run", "// Why it runs.\n\n\nfn run"), TABLE),
        ("a private function's name", listing().replace("mix(", "blend("), TABLE),
        ("a function in another file", without, moved.as_str()),
    ] {
        project.write(&listing);
        project.fake.write("benches-src/chapter/src/bin/fast/table.rs", table);
        assert!(!project.measured_again(), "{what}");
        let page = project.page();
        assert!(!page.contains("<strong>stale</strong>") && !page.contains("<strong>older</strong>"), "{what}: {page}");
        let says_so = page.contains("The source text of fast has changed since this was measured");
        assert_eq!(says_so, what != "a comment", "{what}: {page}");
    }
}

#[test]
fn another_loop_another_table_and_another_flag_do_not() {
    let project = Project::new();
    project.write(&listing().replace("step ^ 5", "step ^ 6"));
    assert!(project.page().contains("<strong>stale</strong>"));
    assert!(project.measured_again(), "a loop's body");
    project.fake.write("benches-src/chapter/src/bin/fast/table.rs", &TABLE.replace("9, 2", "8, 2"));
    assert!(project.page().contains("<strong>stale</strong>"));
    assert!(project.measured_again(), "a constant table");
    project.fake.write(".cargo/config.toml", "[build]\nrustflags = [\"-Copt-level=2\"]\n");
    assert!(project.page().contains("<strong>older</strong>"));
    assert!(project.measured_again(), "a compiler's flag");
}

#[test]
fn what_the_clock_does_not_see_may_differ_where_somebody_says_so() {
    let (before, after) = (Project::new(), Project::new());
    std::fs::copy(before.fake.path("programs/fast"), before.fake.path("target/release/fast")).unwrap();
    let compare = |function: &str| {
        let mut compare = after.fake.tally(&["compare-builds", "--programs", "programs", "--count"]);
        compare.args(["--but-for", function, "--before"]).arg(before.fake.root());
        let output = compare.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let main_alone = listing().replace("run(9) > 0", "run(8) > 0");
    for listing in [main_alone.replace("step ^ 5", "step ^ 6"), main_alone] {
        let is_alone = listing.contains("step ^ 5");
        after.write(&listing);
        after.compile(&FLAGS);
        assert!(after.page().contains("<strong>stale</strong>"));
        let said = compare("fast::mix");
        assert!(said.contains("fast: fast::main differs"), "{said}");
        assert!(after.page().contains("<strong>stale</strong>"));
        let said = compare("fast::main");
        assert_eq!(said.contains("fast: the same machine code but for fast::main"), is_alone, "{said}");
        assert_eq!(said.contains("fast: fast::mix differs"), !is_alone, "{said}");
        assert_eq!(after.page().contains("<strong>stale</strong>"), !is_alone);
        assert!(!after.page().contains("<strong>older</strong>"), "what runs is the same");
    }
}

#[test]
fn what_led_to_sources_that_are_gone_leads_to_their_machine_code() {
    let (before, after) = (Project::new(), Project::new());
    std::fs::copy(before.fake.path("programs/fast"), before.fake.path("target/release/fast")).unwrap();
    let built = before.fake.read("target/programs.toml");
    let of_fast = built.split("[program.fast]").nth(1).expect("it was measured");
    let hash = |key: &str| of_fast.split(&format!("{key} = \"")).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let earlier = |after: &str| {
        format!("[[same_work]]\nprogram = \"fast\"\nbefore = \"0123456789abcdef\"\nafter = \"{after}\"\n")
    };
    after.fake.write("data/equivalences.toml", &earlier(&hash("source")));
    after.write(&listing().replace("mix(", "blend("));
    after.compile(&FLAGS);
    succeed(after.fake.tally(&[
        "compare-builds",
        "--programs",
        "programs",
        "--count",
        "--before",
        before.fake.root().to_str().unwrap(),
    ]));
    let written = after.fake.read("data/equivalences.toml");
    assert!(written.ends_with(&earlier(&hash("code"))), "{written}");
}

#[test]
fn a_file_that_a_macro_takes_in_is_one_of_the_programs() {
    let project = Project::new();
    let in_macro = "macro_rules! take { ($file:literal) => { #[path = $file] mod more; } }\ntake!(\"fast/more.rs\");\n";
    let with_macro =
        listing().replace("step ^ 5", "step ^ more::FIVE").replace("mod table;", &format!("mod table;\n{in_macro}"));
    project.write(&with_macro);
    project.fake.write("benches-src/chapter/src/bin/fast/more.rs", "pub const FIVE: u64 = 7;\n");
    assert!(project.measured_again());
    project.fake.write("benches-src/chapter/src/bin/fast/more.rs", "pub const FIVE: u64 = 8;\n");
    let page = project.page();
    assert!(page.contains("<strong>stale</strong>") && page.contains("fast/more.rs"), "{page}");
    assert!(project.measured_again());
}

#[test]
fn what_cannot_be_read_is_said_and_sources_alone_tell() {
    let project = Project::new();
    assert!(project.fake.record().contains("\"code\":{\"fast\":"), "{}", project.fake.record());
    let say = |wanted: &str| {
        let mut measure = project.fake.measure(&["--again"]);
        let said = String::from_utf8_lossy(&measure.output().unwrap().stderr).into_owned();
        assert!(said.contains("known by their sources only") && said.contains(wanted), "{wanted}: {said}");
    };
    project.compile(&[&FLAGS[..], &["-Cstrip=symbols"]].concat());
    say("was it stripped?");
    assert!(project.fake.record().contains("\"code\":{}"), "{}", project.fake.record());
    project.write(&listing().replace("mix(", "blend("));
    assert!(project.measured_again(), "nothing says that it is the same machine code");
    std::fs::remove_file(project.fake.path("programs/fast")).unwrap();
    assert!(fail(project.fake.measure(&["--again"])).contains("programs/fast"), "it is not there");
}

#[test]
fn check_says_what_was_built_and_is_not_written_down() {
    let project = Project::new();
    // Its rival is a real program too.
    project.fake.write("benches-src/chapter/src/bin/slow.rs", "//! One operation: a slow step.\n\nfn main() {}\n");
    for name in ["slow", "fast"] {
        let _ = std::fs::remove_file(project.fake.path(&format!("programs/{name}")));
        let mut rustc = Command::new("rustc");
        rustc.args(FLAGS).arg("-o").arg(project.fake.path(&format!("programs/{name}")));
        succeed_in(rustc.arg(project.fake.path(&format!("benches-src/chapter/src/bin/{name}.rs"))));
    }
    let said = || fail(project.fake.tally(&["check", "--programs", "programs"]));
    assert!(said().contains("-linux-gnu.toml is not there; run: cargo tally identify"), "{}", said());
    succeed(project.fake.tally(&["identify", "--programs", "programs"]));
    assert!(!said().contains("run: cargo tally identify"), "{}", said());
    project.write(&listing().replace("step ^ 5", "step ^ 6"));
    project.compile(&FLAGS);
    assert!(said().contains("the code of fast is another one; run: cargo tally identify"), "{}", said());
    let with_more = listing().replace("mod table;", "mod table;\n#[path = \"fast/more.rs\"]\nmod more;");
    project.write(&with_more);
    project.fake.write("benches-src/chapter/src/bin/fast/more.rs", "\n");
    project.compile(&FLAGS);
    assert!(said().contains("fast is made of chapter/src/bin/fast/more.rs too"), "{}", said());
    std::fs::remove_file(project.fake.path("programs/slow.d")).unwrap();
    assert!(fail(project.fake.tally(&["identify", "--programs", "programs"])).contains("slow.d is not there"));
}

#[test]
fn two_programs_of_one_name_are_refused() {
    let fake = Fake::new();
    fake.write("benches-src/other/programs.toml", "tools = [\"fast\"]\n");
    fake.write("benches-src/other/src/bin/fast.rs", "//! One operation: another fast step.\n");
    assert!(fail(fake.tally(&["list"])).contains("other/src/bin/fast.rs: another program has this name"));
}
