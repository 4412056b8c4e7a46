//! The files of a plan through the real executable: whatever is forgotten or mistyped in one is
//! said with its path, its line and what to do.

use crate::support::{self, CAPTION, Fake, PLAN, fail, succeed};

/// A project whose book shows all that its plan has.
fn shown() -> Fake {
    let fake = Fake::new();
    fake.write(
        "benches-src/takeaways.toml",
        "[[takeaway]]\nid = \"pair\"\ncase = [{ say = \"Slow is {slow[free] / fast[free]}× as slow.\" }]\n",
    );
    fake.write("book/src/chapter.md", &page(CAPTION));
    fake.write("book/src/claims.md", "<!-- cmdrun tally claim T1 -->\n");
    assert_eq!(fake.print(&["check"]), "plans, listings, pages and records agree\n");
    fake
}

fn page(caption: &str) -> String {
    format!(
        "# Chapter\n\n<!-- cmdrun tally table pair -->\n<!-- cmdrun tally chart pair dots --caption \"{caption}\" -->\n"
    )
}

/// What is said where the plan is changed so.
fn said_of(verb: &str, from: &str, to: &str) -> String {
    assert!(PLAN.contains(from), "{from}");
    let fake = shown();
    fake.plan(&PLAN.replacen(from, to, 1));
    fail(fake.tally(&[verb]))
}

#[test]
fn a_mistyped_key_is_said_with_its_file_its_line_and_the_nearest_key() {
    for (from, to, place, near) in [
        (
            "limit_seconds",
            "limit_second",
            "experiments/pair.toml, line 6: unknown field `limit_second`",
            "limit_seconds",
        ),
        ("does_not_hold", "does_not_holds", "claims/T1.toml, line 6: unknown field `does_not_holds`", "does_not_hold"),
        ("no_effect", "no_effects", "claims/T1.toml, line 13: unknown field `no_effects`", "no_effect"),
        ("series = \"thread\"", "series = \"threads\"", "programs.toml, line 3: unknown variant `threads`", "thread"),
        ("label = \"slow\"", "lable = \"slow\"", "programs.toml, line 3: unknown field `lable`", "label"),
    ] {
        let said = said_of("list", from, to);
        assert!(said.contains(&format!("benches-src/chapter/{place}")), "{said}");
        assert!(said.contains(&format!("did you mean `{near}`?")), "{said}");
    }
}

#[test]
fn what_is_no_plan_is_refused_with_its_file() {
    for (from, to, said) in [
        ("question = \"Which is faster?\"\n", "", "experiments/pair.toml: missing field `question`"),
        ("label = \"slow\", ", "", "programs.toml, line 3: missing field `label`"),
        ("limit_seconds = 2", "limit_seconds = \"2\"", "experiments/pair.toml, line 6: invalid type: string"),
        ("question = \"", "question = ", "experiments/pair.toml, line 1: "),
        ("defaults = { size = 3 }", "defaults = { size = [3] }", "programs.toml: fast: size = [3] is no default"),
        ("defaults = { size = 3 }", "defaults = { placement = \"free\" }", "placement = \"free\" is no default"),
        ("[program]", "tools = [\"slow\"]\n[program]", "programs.toml: slow is one of the tools, and so has no entry"),
        (
            "programs = [\"slow\"]",
            "programs = [\"slwo\"]",
            "unknown program \"slwo\": it has no entry in programs.toml; did",
        ),
        ("claims/T1", "claims/T-1", "claims/T-1.toml: \"T-1\" is no id for a claim"),
        ("experiment = \"pair\"\n", "", "claims/T1.toml: it says no experiment, and \"slow[free] / fast[free]\" is no"),
        (
            "published = \"twice\"\nno_effect = \"1\"",
            "",
            "claims/T1.toml: part \"slow over fast\": a part of a claim that",
        ),
    ] {
        let fake = Fake::with_plan(&PLAN.replacen(from, to, 1));
        let refused = fail(fake.tally(&["list"]));
        assert!(refused.contains(said), "{said}: {refused}");
        assert!(!refused.contains(&fake.root().display().to_string()), "{refused}");
    }
}

#[test]
fn check_finds_what_was_forgotten() {
    let fake = shown();
    fake.write("benches-src/chapter/src/bin/third.rs", "//! One operation: a third step.\n\nfn main() {}\n");
    let said = fail(fake.tally(&["check"]));
    let entry = "programs.toml: benches-src/chapter/src/bin/third.rs has no entry; below [program], write: third = {";
    assert!(said.contains(entry), "{said}");
    let third = "third = { label = \"third\", series = \"task\" }\nfast = ";
    let said = said_of("check", "fast = ", third);
    assert!(said.contains("programs.toml: third stands there, and there is no benches-src/chapter/src/bin/third.rs"));
    let said = said_of("check", "[program]", "tools = [\"load\"]\n[program]");
    assert!(said.contains("programs.toml: load stands there, and there is no benches-src/chapter/src/bin/load.rs"));

    fake.plan(&PLAN.replacen("fast = ", third, 1));
    let said = fail(fake.tally(&["check"]));
    assert!(said.contains("programs.toml: no experiment runs third; name it in the cells of a file in benches-src/"));

    let fake = shown();
    fake.plan(&support::plan_with_another("other").replace("claims/T1", "claims/T2"));
    let said = fail(fake.tally(&["check"]));
    assert!(
        said.contains("experiments/other.toml: no page shows it; a page does by <!-- cmdrun tally table other -->")
    );
    assert!(said.contains("claims/T2.toml: no page shows it; a page does by <!-- cmdrun tally claim T2 -->"), "{said}");
}

#[test]
fn a_measure_has_a_kind_and_a_kind_has_measures_that_are_reported() {
    let fake = shown();
    fake.write("benches-src/measures.toml", "");
    fake.plan(&PLAN.replacen("limit_seconds", "further_measures = [\"rate\", \"spinners\"]\nlimit_seconds", 1));
    let said = fail(fake.tally(&["check"]));
    let without = "measures.toml: \"spinners\", which programs of pair report, has no kind: add it";
    assert!(said.contains(without) && !said.contains("\"rate\""), "{said}");
    assert!(said.contains("measures.toml: no experiment has \"half_p99_ns\": remove it"), "{said}");
}

#[test]
fn a_line_that_is_too_long_is_found_and_may_be_broken() {
    let long = "word ".repeat(40);
    let said = said_of("check", "prediction = \"The", &format!("prediction = \"{long}"));
    assert!(
        said.contains("chapter/experiments/pair.toml, line 2: 225 characters, and a line of a plan has at most 160"),
        "{said}"
    );
    let fake = shown();
    let broken = format!("prediction = \"\"\"{} \\\n    fast", long.trim());
    let broken = broken.replacen("word word word word word word word word", "word \\\n", 4);
    fake.plan(&PLAN.replacen("prediction = \"The fast", &broken, 1).replacen("fast one.\"", "fast one.\"\"\"", 1));
    succeed(fake.tally(&["check"]));
    assert!(fake.print(&["list", "--prediction", "pair"]).ends_with("word fast one.\n"));
}

#[test]
fn an_order_names_what_there_is_and_the_rest_comes_last() {
    let fake = Fake::with_plan(&support::plan_with_another("another"));
    let listed = || {
        fake.print(&["list"])
            .lines()
            .step_by(3)
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(), ["chapter/another", "chapter/pair"]);
    fake.write("benches-src/chapter/order.toml", "experiments = [\"pair\"]\n");
    assert_eq!(listed(), ["chapter/pair", "chapter/another"]);
    for (order, reason) in [
        ("experiments = [\"pear\"]", "order.toml: there is no experiments/pear.toml; take \"pear\" out of experiments"),
        ("experiments = [\"pair\", \"pair\"]", "order.toml: it names \"pair\" twice"),
        ("experiment = [\"pair\"]", "order.toml, line 1: unknown field `experiment`"),
    ] {
        fake.write("benches-src/chapter/order.toml", order);
        let said = fail(fake.tally(&["list"]));
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn a_figure_has_a_caption_once_and_its_numbers_are_there() {
    let fake = shown();
    for (text, reason) in [
        (page("{slow}"), "line 4: tally chart pair dots --caption \"{slow}\": in its caption: slow could mean any of"),
        (page("{slow[free]"), "a brace that is not closed"),
        (page("It takes 4.9 µs."), "line 4: \"4.9 µs\" is typed by hand"),
        (page(""), "a value is required for '--caption <TEXT>'"),
        (page("y\" --caption \"x"), "cannot be used multiple times"),
        (
            page("x").replace(" --caption \"x\"", ""),
            "this figure says no caption; write: tally chart pair dots --caption",
        ),
        (
            page("x") + "<!-- cmdrun tally chart pair dots --caption \"y\" -->\n",
            "line 5: tally chart pair dots --caption \"y\": stands on",
        ),
        (page("x").replace("dots", "rain"), "invalid value 'rain' for '<SHAPE>'"),
    ] {
        fake.write("book/src/chapter.md", &text);
        let said = fail(fake.tally(&["check"]));
        assert!(said.contains("book/src/chapter.md, line") && said.contains(reason), "{reason}: {said}");
    }
    fake.write("book/src/chapter.md", &page(CAPTION));
    fake.write("book/src/more.md", "<!-- cmdrun tally chart pair dots -->\n");
    succeed(fake.tally(&["check"]));
}

#[test]
fn a_caption_is_escaped_and_stands_on_every_page_that_shows_the_figure() {
    let fake = shown();
    for file in ["draw.mjs", "config.json", "package-lock.json"] {
        fake.write(&format!("book/charts/{file}"), "{}");
    }
    fake.write("book/charts/dots.vl.json", "{\"data\": {\"name\": \"rows\"}}");
    fake.write("book/charts/dots-narrow.patch.json", "[]");
    succeed(fake.measure(&[]));
    fake.write("book/src/chapter.md", &page("It's <b>slow</b> & {slow[free]} > 0."));
    let figure = |arguments: &[&str]| -> String {
        let mut chart = fake.tally(&[&["chart", "pair", "dots", "--form", "page"], arguments].concat());
        // Without Node.js nothing is drawn, and the words are there nevertheless.
        chart.env("PATH", "/nowhere");
        succeed(chart)
    };
    let caption = |page: String| {
        page.split("<figcaption>").nth(1).unwrap().split(" <span class=\"legend\">").next().unwrap().to_owned()
    };
    let own = caption(figure(&[]));
    assert!(own.starts_with("It&#39;s &#60;b&#62;slow&#60;/b&#62; &#38; <a "), "{own}");
    let other = caption(figure(&["--caption", "Another."]));
    assert!(other.starts_with("Another."), "{other}");
}
