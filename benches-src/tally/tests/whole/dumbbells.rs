//! Figures in which two are compared, through the real executable: what they show of what is
//! measured, and which mistakes are found.

use std::fs;

use crate::support::{DUMBBELL, Fake, fail, succeed};

fn fake() -> Fake {
    let fake = Fake::new();
    fake.compare();
    let charts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/charts");
    for file in ["draw.mjs", "config.json", "package-lock.json", "dumbbell.vl.json", "dumbbell-narrow.patch.json"] {
        fake.write(&format!("book/charts/{file}"), &fs::read_to_string(format!("{charts}/{file}")).unwrap());
    }
    fake
}

#[test]
fn a_page_shows_what_is_measured_and_says_of_the_rest_why_it_is_missing() {
    let fake = fake();
    succeed(fake.measure(&[]));
    let page = fake.print(&["figure", "steps", "--form", "page"]);
    for part in [
        "<figure class=\"figure\" id=\"steps\" data-chart=\"steps\" \
         data-live=\"generated/local/steps-dumbbell.live.js\">",
        "<p class=\"finding\">A slow step takes <a class=\"value\"",
        "<span class=\"key baseline\">fast</span> and <span class=\"key thread\">slow</span>; thick: 95 % interval; \
         logarithmic scale",
        "One &#60;step&#62;. ×: slow &#247; fast. Measured on this machine.",
        "take a &#60;step&#62;</a>",
        "full only",
        "<code class=\"command\">cargo tally figure steps</code>",
        "<summary>cite</summary><p>A slow step takes 2.00×. Threads or tasks? steps. Machine this machine: ",
        // Nothing draws here.
        "<strong>no chart</strong>",
        "<details class=\"numbers\" open>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("\n\n"), "{page}");
    let csv = fake.read("book/src/generated/local/steps-dumbbell.csv");
    assert!(csv.starts_with("what,detail,machine,ratio,ratio_low,ratio_high,fast,fast_low,fast_high,slow,"), "{csv}");
    assert!(csv.contains("take a <step>,free,local,2,2,2,1000,1000,1000,2000,2000,2000,ns\n"), "{csv}");
}

#[test]
fn its_marks_are_both_of_each_row_that_has_every_number_and_ticks() {
    let fake = fake();
    assert_eq!(fake.print(&["figure", "steps", "--json"]), "", "nothing is measured yet");
    succeed(fake.measure(&[]));
    let marks = fake.print(&["figure", "steps", "--json"]);
    let count = |who: &str| marks.matches(&format!("\"who\":\"{who}\"")).count();
    assert_eq!((count("pair"), count("here"), count("other")), (1, 2, 0), "{marks}");
    assert!(
        count("tick") > 0 && marks.contains("\"said\":\"1 µs\"") && marks.contains("\"factor\":\"× 2.00\""),
        "{marks}"
    );
    let text = fake.print(&["figure", "steps"]);
    assert!(text.contains("A slow step takes 2.00×.\nOne <step>:\n"), "{text}");
    assert!(text.contains("fast 1.00 µs [1.00–1.00], slow 2.00 µs [2.00–2.00]: × 2.00 [2.00–2.00]"), "{text}");
    assert!(text.contains("slow (full only"), "{text}");
}

#[test]
fn a_row_that_was_not_measured_here_is_the_reference_machines_and_pale() {
    let fake = fake();
    succeed(fake.measure(&["--effort", "full"]));
    fake.contribute("a-machine", &fake.record());
    fake.refer_to("a-machine");
    fs::remove_dir_all(fake.path("data/local")).unwrap();
    succeed(fake.measure(&["--effort", "quick"]));
    let marks = fake.print(&["figure", "steps", "--json"]);
    let count = |what: &str| marks.lines().filter(|mark| mark.contains(what)).count();
    assert_eq!(count("\"who\":\"pair\""), 2, "{marks}");
    let pale: Vec<&str> = marks.lines().filter(|mark| mark.contains("\"pale\":true")).collect();
    assert!(pale.iter().all(|mark| mark.contains("a quick run, reference machine\"")), "{marks}");
    assert!(pale.iter().all(|mark| !mark.contains("\"machine\":\"this machine\"")), "{marks}");
    assert!(count("\"pale\":false") > 0, "{marks}");
    let page = fake.print(&["figure", "steps", "--form", "page"]);
    assert!(page.contains("; pale rows: not measured here; logarithmic scale"), "{page}");
}

#[test]
fn mistakes_are_found() {
    for (from, to, reason) in [
        ("id = \"steps\"", "id = \"step\"", "unknown takeaway \"steps\"; did you mean step?"),
        ("slow-step-pinned", "slow-over-fast", "its numbers have different units: ns, ratio"),
        ("ratio = \"slow-over-fast\"", "ratio = \"fast-step\"", "fast-step is no ratio: its unit is ns"),
        ("slow-step-here", "slow-step-her", "did you mean slow-step-here?"),
        ("slow-step-here", "slow[free]", "\"slow[free]\" is no quantity with a name"),
        ("series = \"thread\"", "series = \"threads\"", "unknown variant `threads`"),
        ("name = \"steps\"", "name = \"Steps\"", "is no name for a dumbbell"),
    ] {
        let fake = fake();
        let changed = DUMBBELL.replacen(from, to, 1);
        assert_ne!(changed, DUMBBELL, "{from}");
        fake.write("benches-src/chapter/takeaways.toml", &changed);
        let said = fail(fake.tally(&["check"]));
        assert!(said.contains(reason), "{reason}: {said}");
    }
    let fake = fake();
    fake.write("benches-src/chapter/takeaways.toml", &DUMBBELL.replace("\"steps\"", "\"pair\""));
    let said = fail(fake.tally(&["check"]));
    assert!(said.contains("the figure pair has an experiment's name"), "{said}");
    let fake = self::fake();
    fake.write("book/src/chapter.md", "# Chapter\n\n<!-- cmdrun tally figure step -->\n");
    let said = fail(fake.tally(&["check"]));
    assert!(said.contains("chapter.md, line 3") && said.contains("unknown figure \"step\"; did you mean steps?"));
    assert!(said.contains("takeaways.toml: no page shows the figure steps"), "{said}");
}

#[test]
fn a_name_stands_in_one_file_only() {
    let fake = fake();
    fake.write("benches-src/takeaways.toml", DUMBBELL);
    let said = fail(fake.tally(&["takeaway"]));
    let both = "the takeaway steps stands in benches-src/takeaways.toml and in benches-src/chapter/takeaways.toml";
    assert!(said.contains(both), "{said}");
}
