//! Snapshots of everything that is printed, in each form, from a record that is always the same.

use std::fs;

use crate::support::{self, CALCULATOR, Fake, PLAN, succeed};

/// A project with a record that does not change from day to day.
fn recorded() -> Fake {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    let mut record = String::new();
    for line in fake.record().lines() {
        let mut line = of_line(line);
        if let Some(header) = line.get_mut("header") {
            header["revision"] = "0123456789ab".into();
            header["built"] = serde_json::json!({ "fast": "0123456789abcdef", "slow": "fedcba9876543210" });
            header["before"]["time"] = "2026-11-20T10:00:00Z".into();
            header["before"]["load"] = 0.0.into();
            header["before"]["steal_ticks"] = 0.into();
            header["machine"] = serde_json::json!({
                "known": { "CPU": "A CPU", "CPUs allowed": "0-1", "kernel": "6.1", "virtual machine": "KVM" },
                "unavailable": { "microcode": "/proc/cpuinfo does not say" },
            });
        }
        // A few percent up and down, so that there is an interval to print.
        if let Some(run) = line.get_mut("run") {
            run["core_to_core_ns"] = 45.into();
            let wobble = run["round"].as_u64().unwrap() * 5 + run["cell"].as_u64().unwrap() * 3;
            for elapsed in run.pointer_mut("/observation/samples/elapsed_ns").unwrap().as_array_mut().unwrap() {
                *elapsed = (elapsed.as_u64().unwrap() * (97 + wobble % 6) / 100).into();
            }
        }
        if let Some(end) = line.get_mut("end") {
            end["after"]["time"] = "2026-11-20T10:05:00Z".into();
            end["after"]["steal_ticks"] = 3.into();
            end["after"]["throttled"] = serde_json::Value::Null;
            end["headline_half_width"] = 0.031.into();
        }
        record += &(line.to_string() + "\n");
    }
    fake.change_record(&record);
    fake.contribute("a-machine", &record);
    fake
}

/// A line of a record, without its sum.
fn of_line(line: &str) -> serde_json::Value {
    let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
    line.as_object_mut().unwrap().remove("sum");
    line
}

#[test]
fn what_a_machine_has_not_measured_names_those_that_have() {
    let fake = recorded();
    let ask = |machine: &str| fake.print(&["table", "pair", "--machine", machine]);
    fake.write("data/machines/another/.keep", "");
    assert!(ask("another").contains("another has no record of pair; a-machine has one"), "{}", ask("another"));
    std::fs::remove_dir_all(fake.path("data/machines/a-machine")).unwrap();
    assert!(ask("another").contains("to measure it on yours: cargo tally measure pair"), "{}", ask("another"));
}

#[test]
fn printed_forms() {
    let fake = recorded();
    for verb in [
        &["value", "slow[free] / fast[free]"][..],
        &["value", "slow[one-cpu]"],
        &["table", "pair"],
        &["claim", "T1"],
        &["claim"],
        &["list"],
        &["list", "--machines"],
        &["list", "--shown"],
    ] {
        for form in ["text", "page", "json"] {
            let printed = fake.print(&[verb, &["--machine", "a-machine", "--form", form]].concat());
            let name = format!("{} {form}", verb.join(" ")).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            insta::assert_snapshot!(name, printed);
        }
    }
    insta::assert_snapshot!("chart-rows", fake.print(&["chart", "pair", "dots", "--machine", "a-machine"]));
    insta::assert_snapshot!("csv", fake.read("book/src/generated/a-machine/chapter/pair.csv"));
}

#[test]
fn a_number_of_another_listing_says_so_wherever_it_stands() {
    let fake = recorded();
    let print = |verb: &[&str], form: &str| fake.print(&[verb, &["--machine", "a-machine", "--form", form]].concat());
    let verbs = [&["value", "slow[free]"][..], &["claim", "T1"], &["claim"]];
    for verb in verbs {
        assert!(!print(verb, "text").contains("stale") && !print(verb, "page").contains("stale"), "{verb:?}");
    }
    let listing = "benches-src/chapter/src/bin/slow.rs";
    fake.write(listing, &(fake.read(listing) + "fn other() {}\n"));
    for verb in verbs {
        assert!(print(verb, "text").contains("(stale)"), "{verb:?}");
        let page = print(verb, "page");
        let marked = page.split("href=\"chapter.md#pair\" title=\"the numbers were measured before").nth(1);
        assert!(marked.is_some_and(|rest| rest.split("</a>").next().unwrap().ends_with(">stale")), "{page}");
    }
    assert!(print(&["claim", "T1"], "page").contains("<p class=\"missing\"><strong>stale</strong>: "));
    assert!(print(&["claim"], "page").contains("<strong>holds (stale)</strong>"));
}

#[test]
fn why_a_number_is_missing_is_said_where_nobody_can_point() {
    let fake = recorded();
    let print = |verb: &[&str]| fake.print(&[verb, &["--machine", "a-machine", "--form", "page"]].concat());
    let value = print(&["value", "slow[one-cpu]"]);
    assert!(value.contains("href=\"chapter.md#pair\""), "a link to who says it: {value}");
    assert!(value.contains("<span class=\"unseen reason\">: it is measured with effort = full</span>"), "{value}");
    let table = print(&["table", "pair"]);
    let notes = table.split("class=\"footnotes\"").nth(1).unwrap();
    assert_eq!(notes.matches("unavailable: because the programs do not count migrations.").count(), 1, "{notes}");
    assert!(!notes.contains("steal"), "what has no column has no reason: {notes}");
}

#[test]
fn a_published_figure_of_another_unit_is_refused() {
    let published = "data/published/elsewhere.toml";
    for (unit, is_refused) in [("ratio", false), ("count", false), ("ns", true), ("b", true)] {
        let fake = recorded();
        fake.write(published, &fake.read(published).replace("\"ratio\"", &format!("{unit:?}")));
        let printed = fake.tally(&["claim", "T1", "--machine", "a-machine"]).output().unwrap();
        assert_eq!(!printed.status.success(), is_refused, "{unit}");
        let said = String::from_utf8_lossy(&printed.stderr).contains("measured as Ratio");
        assert_eq!(said, is_refused, "{unit}");
    }
}

/// The same record, but that each sample of `slow` took so many times as long.
fn with_slow_times(record: &str, factor: f64) -> String {
    let mut changed = String::new();
    for line in record.lines() {
        let mut line = of_line(line);
        if line.pointer("/run/observation/program").is_some_and(|program| program == "chapter/slow") {
            for elapsed in line.pointer_mut("/run/observation/samples/elapsed_ns").unwrap().as_array_mut().unwrap() {
                *elapsed = ((elapsed.as_f64().unwrap() * factor) as u64).into();
            }
        }
        changed += &(line.to_string() + "\n");
    }
    changed
}

#[test]
fn claims_on_all_machines_say_who_disagrees_and_what_is_not_compared() {
    let fake = recorded();
    let record = fake.record();
    let claims = |form: &str| fake.print(&["claim", "--machines", "--machine", "a-machine", "--form", form]);
    assert!(claims("page").contains("<strong>holds</strong> on the only machine that measured it"));
    assert!(claims("page").contains("There is no verdict in which machines differ."));
    fake.contribute("same", &record);
    assert!(claims("page").contains("<strong>holds</strong> on every machine that measured it"));

    fake.contribute("contrary", &with_slow_times(&record, 0.5));
    let header: serde_json::Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    let hash = header.pointer("/header/sources/own/chapter~1src~1bin~1slow.rs").unwrap().as_str().unwrap();
    let of_another_listing = with_slow_times(&record, 5.0).replace(hash, "0000000000000000");
    fake.contribute("stale", &of_another_listing);
    for form in ["text", "page", "json"] {
        insta::assert_snapshot!(format!("claim---machines-{form}"), claims(form));
    }
    // The numbers of the machine that is shown stand first.
    let text = fake.print(&["claim", "--machines", "--machine", "contrary"]);
    let machines: Vec<&str> = text.lines().skip(2).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(machines, ["contrary", "a-machine", "same", "stale"]);

    // The score and the chips say what most machines do, also where another is shown; the stale one
    // counts nowhere.
    let ask = |verb: &[&str]| fake.print(&[verb, &["--machine", "contrary"]].concat());
    let said = ask(&["claim", "T1"]);
    assert!(said.starts_with("T1   does not hold"), "{said}");
    assert!(said.contains("    holds on 2, does not hold on 1 of 3 machines that measured it\n"), "{said}");
    let line = ask(&["claim", "T1", "--line", "--form", "page"]);
    assert!(line.contains("does not hold</strong> here, and holds on 2 of 3 machines that measured it: "), "{line}");
    assert!(ask(&["claim", "--score"]).ends_with(": 1 holds\n"), "{}", ask(&["claim", "--score"]));
    assert_eq!(ask(&["claim", "--chips", "T1"]), "T1   holds on 2 of 3\n");
}

#[test]
fn what_is_open_says_what_would_decide_it_or_that_it_is_too_close() {
    let fake = recorded();
    fake.contribute("alike", &with_slow_times(&fake.record(), 0.5));
    let of = |most: &str, machine: &str| {
        let ends =
            "begins = \"It takes {slow[free] / fast[free]} times as long\"\nholds = \".\"\ndoes_not_hold = \".\"";
        let told = "too_close = \"On any machine {slow[free] / fast[free] range} times, on \
                    {slow[free] / fast[free] machines}.\"";
        let part =
            format!("[[parts]]\nname = \"a step\"\nquantity = \"slow[free] / fast[free]\"\nat_most = \"{most}\"");
        let text = format!("sentence = \"s\"\nsource = \"elsewhere\"\nexperiment = \"pair\"\n{ends}\n{told}\n{part}\n");
        fake.write("benches-src/chapter/claims/T1.toml", &text);
        fake.print(&["claim", "T1", "--machine", machine])
    };
    let undecided = of("2.04", "a-machine");
    let what = "An interval of ±1.96 % instead of ±3.03 % for “a step” would decide it.";
    assert!(undecided.starts_with("T1   undecided") && undecided.contains(what), "{undecided}");
    let close = of("1.01", "alike");
    let why = "times as long: too close to tell. On any machine 1.0–2.0 times, on two machines. For “a step” a \
               difference of 1.00 % is claimed, 0 % is found, \
               and 3.06 % is the smallest that we could see here.";
    assert!(close.contains(why), "{close}");
}

#[test]
fn check_finds_what_does_not_agree() {
    let fake = recorded();
    let page = |directive: &str| format!("# Chapter\n\n<!-- cmdrun {directive} -->\n");
    fake.write("book/src/chapter.md", &page("tally table pair"));
    assert!(support::fail(fake.tally(&["check"])).contains("chapter/claims/T1.toml: no page shows it"));
    fake.write("book/src/claims.md", "<!-- cmdrun tally claim T1 -->\n");
    assert_eq!(fake.print(&["check"]), "plans, listings, pages and records agree\n");
    for (directive, reason) in [
        ("tally table nothing", "unknown experiment"),
        ("tally value nobody", "unknown program"),
        ("tally measure", "a directive may only print"),
        ("rm -r .", "a directive calls tally"),
        ("tally claim T1 --><!-- cmdrun tally claim T1", "stands on book/src/chapter.md already"),
    ] {
        fake.write("book/src/chapter.md", &page(directive));
        let said = support::fail(fake.tally(&["check"]));
        assert!(said.contains("book/src/chapter.md, line 3") && said.contains(reason), "{said}");
    }
    for (text, reason) in
        [("It takes 4.9 µs.", Some("\"4.9 µs\" is typed by hand")), ("\"It takes 4.9 µs\", says the source.", None)]
    {
        fake.write("book/src/chapter.md", &(page("tally table pair") + text + "\n"));
        let checked = fake.tally(&["check"]).output().unwrap();
        assert_eq!(checked.status.success(), reason.is_none());
        assert!(String::from_utf8_lossy(&checked.stderr).contains(reason.unwrap_or_default()));
    }
    fake.write("book/src/chapter.md", &page("tally table pair"));
    let stale = "data/machines/a-machine/sessions/2026-11-20.bundle.zst, chapter/pair was measured before these \
                 changed: chapter/src/bin/slow.rs";
    let listing = "benches-src/chapter/src/bin/slow.rs";
    fake.write(listing, &(fake.read(listing) + "fn other() {}\n"));
    assert!(
        support::succeed(fake.tally(&["check"])).contains("a-machine: measured before their programs changed: pair"),
        "said, and no error: it is not the reference machine"
    );
    fake.refer_to("a-machine");
    assert!(support::fail(fake.tally(&["check"])).contains(stale));
    fake.write("benches-src/chapter/src/bin/slow.rs", "fn main() {}");
    fake.write("benches-src/chapter/src/bin/third.rs", "//! One operation: nothing.\n");
    let said = support::fail(fake.tally(&["check"]));
    for wrong in ["slow.rs does not begin with a //! line", "third.rs has no entry", stale] {
        assert!(said.contains(wrong), "{said}");
    }
}

#[test]
fn a_published_figure_stands_beside_the_very_cell_and_no_variant() {
    let fake = recorded();
    let figures = fake.read("data/published/elsewhere.toml");
    let table = |fake: &Fake| fake.print(&["table", "pair", "--machine", "a-machine", "--form", "page"]);
    assert!(table(&fake).contains("1.90"), "{}", table(&fake));
    fake.write("data/published/elsewhere.toml", &figures.replace("slow[free, size=3]", "slow[free]"));
    assert!(!table(&fake).contains("1.90"), "of whatever size is not of this one");
    let said = support::fail(fake.tally(&["check"]));
    assert!(
        said.contains("figure slow-step: every cell like slow[free] has parameters that it does not say"),
        "{said}"
    );
}

#[test]
fn check_looks_into_what_is_said_only_where_the_numbers_are_others() {
    let fake = Fake::new();
    assert!(PLAN.contains("by {slow[free]"));
    fake.plan(&PLAN.replace("by {slow[free]", "by {slow[everywhere]"));
    let said = support::fail(fake.tally(&["check"]));
    let reason = "benches-src/chapter/claims/T1.toml: \"It takes longer, by {slow[everywhere] / fast[free]}.\"";
    assert!(said.contains(reason), "{said}");
}

#[test]
fn check_keeps_names_apart_that_are_anchors_of_one_page() {
    let fake = Fake::with_plan(
        &PLAN.replace("experiments/pair.toml", "experiments/slow.toml").replace("\"pair\"", "\"slow\""),
    );
    let said = support::fail(fake.tally(&["check"]));
    assert!(said.contains("the name \"slow\" belongs to a program"), "{said}");
}

/// A project with a calculator.
fn with_calculator() -> Fake {
    let fake = recorded();
    fake.write("benches-src/chapter/calculator.toml", CALCULATOR);
    fake
}

#[test]
fn the_calculator_in_each_form() {
    let fake = with_calculator();
    for form in ["text", "page", "json"] {
        let printed = fake.print(&["calculator", "--machine", "a-machine", "--form", form]);
        insta::assert_snapshot!(format!("calculator-{form}"), printed);
    }
    insta::assert_snapshot!("calculator-csv", fake.read("book/src/generated/a-machine/calculator.csv"));
}

#[test]
fn the_calculators_data_stay_data_in_a_page() {
    let fake = with_calculator();
    let hostile = "</script><!-- cmdrun tally list -->{{#include ../../book.toml}}";
    fake.write("benches-src/chapter/calculator.toml", &CALCULATOR.replace("steps per request", hostile));
    let page = fake.print(&["calculator", "--machine", "a-machine", "--form", "page"]);
    let script = page.split_once("calculator-data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(script).unwrap();
    assert_eq!(data["derived"][0]["label"], hostile);
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(!page.contains("<!--") && !page.contains("{{"), "{page}");
}

#[test]
fn a_case_that_does_not_set_everything_is_an_error_in_each_form() {
    let fake = with_calculator();
    fake.write("benches-src/chapter/calculator.toml", &CALCULATOR.replacen("requests = 100000\n", "", 1));
    for form in ["text", "page", "json"] {
        let said = support::fail(fake.tally(&["calculator", "--machine", "a-machine", "--form", form]));
        assert!(said.contains("requests is not set"), "{form}: {said}");
    }
}

#[test]
fn the_printed_interval_holds_between_sessions_and_tables_keep_that_of_the_session() {
    let fake = with_calculator();
    let value = |what: &str| {
        let printed = fake.print(&["value", what, "--machine", "a-machine", "--json"]);
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()
    };
    let ends = |value: &serde_json::Value| ["low_ns", "high_ns"].map(|end| value[end].as_f64().unwrap());
    let before = value("slow[free]");
    // What is known of such quantities.
    let kind = "pairs = 99\npairs_of_sessions = 9\nmissed = 0.4\n";
    let known = format!(
        "derived = \"x\"\nuntil = \"x\"\nsessions = 9\ncorrelation = 0.1\ntoo_narrow = 1.1\n\
         [[kind]]\nkind = \"time\"\nfactor = 1.25\n{kind}[[kind]]\nkind = \"ratio\"\n{kind}"
    );
    fake.write("data/between-sessions.toml", &known);
    let widened = value("slow[free]");
    let [(low, high), (own_low, own_high)] = [&widened, &before].map(ends).map(|[low, high]| (low, high));
    assert!((low * 1.25 / own_low - 1.0).abs() < 1e-9 && (high / 1.25 / own_high - 1.0).abs() < 1e-9, "{widened}");
    assert_eq!(widened["session_low_ns"], before["low_ns"]);
    assert_eq!(
        value("slow[free] / fast[free]")["low"],
        value("slow[free] / fast[free]")["session_low"],
        "too few pairs"
    );
    // A table has the session's own as well.
    let csv = |fake: &support::Fake| {
        fake.print(&["table", "pair", "--machine", "a-machine", "--form", "page"]);
        fake.read("book/src/generated/a-machine/chapter/pair.csv")
    };
    let own_median = before["median_ns"].as_f64().unwrap();
    assert!(csv(&fake).contains(&format!(",{low},{high},{own_median},{own_low},{own_high},")), "{}", csv(&fake));
    // Another session of the same, in which a step took ten times as long.
    let slower = fake.record().replace("T10:0", "T09:0");
    let slower = slower.lines().map(|line| {
        let mut line = of_line(line);
        if let Some(times) =
            line.pointer_mut("/run/observation/samples/elapsed_ns").and_then(|times| times.as_array_mut())
        {
            times.iter_mut().for_each(|time| *time = (10 * time.as_u64().unwrap()).into());
        }
        line.to_string() + "\n"
    });
    fake.add_session("a-machine", &slower.collect::<String>());
    let both = value("slow[free]");
    let [own_median, median] = [&before, &both].map(|value| value["median_ns"].as_f64().unwrap());
    assert_eq!((both["sessions"].as_u64(), median), (Some(2), 5.5 * own_median), "the middle of both");
    assert_eq!(both["session_median_ns"], before["median_ns"], "and the one that is shown, by itself");
    assert_eq!(ends(&both), [own_median, 10.0 * own_median], "{both}");
    let page = fake.print(&["value", "slow[free]", "--machine", "a-machine", "--form", "page"]);
    assert!(page.contains("median of 2 sessions, 6 rounds in the one shown"), "{page}");
    assert!(page.contains(", and another session, 2026-11-20"), "{page}");
}

#[test]
fn a_cell_that_stands_in_two_tables_names_the_other_where_they_contradict() {
    let fake = support::Fake::with_plan(&support::plan_with_another("other"));
    fake.write("book/src/claims.md", "<!-- cmdrun tally table pair -->\n<!-- cmdrun tally table other -->\n");
    for (program, ns) in [("fast", 1000), ("slow", 2000)] {
        fake.program(program, &support::observation(program, ns));
    }
    succeed(fake.measure(&[]));
    let table = |name: &str| fake.print(&["table", name, "--form", "page"]);
    assert!(!table("pair").contains("do not meet") && !table("other").contains("do not meet"), "{}", table("pair"));
    fake.program("slow", &support::observation("slow", 6000));
    succeed(fake.measure(&["other", "--again"]));
    fs::remove_file(fake.path("data/local/chapter/other.jsonl.session")).unwrap();
    let [pair, other] = ["pair", "other"].map(table);
    assert!(pair.contains("came to 2.00 µs ") && pair.contains(" here and to 6.00 µs "), "{pair}");
    assert!(pair.contains("in other,") && other.contains("in pair,") && other.contains("do not meet"), "{other}");
    assert_eq!(other.matches("do not meet").count(), 1, "fast came to the same in both: {other}");
}

#[test]
fn the_calculator_computes_a_case_of_ones_own() {
    let fake = with_calculator();
    let print = |flags: &[&str]| {
        let printed = fake.print(&[&["calculator", "--machine", "a-machine", "--json"], flags].concat());
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()
    };
    let inputs = print(&[])["inputs"].clone();
    let slow = inputs[0]["median_ns"].as_f64().unwrap();
    let own = print(&["--work-us", "100"]);
    let case = &own["cases"][0];
    assert_eq!((&case["case"], &case["set"]["requests"]), (&"Your service".into(), &100_000.0.into()));
    let switching = case["outputs"]["switching"]["thread"]["median"].as_f64().unwrap();
    assert!((switching / (100_000.0 * slow * 1e-9) - 1.0).abs() < 1e-9, "{switching} of {slow}");
    assert_eq!(case["would_threads_do"], "yes", "about a microsecond more for a hundred of work");
    let addresses = print(&["--address", "requests=10&work=2", "--address", "#work=2"]);
    let answers = addresses["cases"].as_array().unwrap().iter().map(|case| case["would_threads_do"].as_str().unwrap());
    assert_eq!(answers.collect::<Vec<_>>(), ["yes", "no"], "so little of a core matters to nobody");
    for (flags, wanted) in [
        (["--switch", "magic"], "one_switch cannot be \"magic\"; there are: io, channel"),
        (["--work-us", "0"], "work must be from 1 to 1000, and is 0"),
        (["--address", "work=many"], "work is no number: \"many\""),
        (["--address", "work=NaN"], "work must be from 1 to 1000, and is NaN"),
        (["--address", "lunch=1"], "unknown setting \"lunch\""),
        (["--calls", "1"], "unknown setting \"calls\""),
    ] {
        let said = support::fail(fake.tally(&[&["calculator", "--machine", "a-machine"], &flags[..]].concat()));
        assert!(said.contains(wanted), "{flags:?}: {said}");
    }
}

#[test]
fn the_calculator_never_takes_another_machines_numbers() {
    let fake = with_calculator();
    std::fs::remove_dir_all(fake.path("data/local")).unwrap();
    let printed = fake.print(&["calculator"]);
    assert!(printed.contains("(not measured: run: cargo tally measure pair)"), "{printed}");
    assert!(printed.contains("Cannot say: one step has no number here (not measured: run: cargo tally measure pair)."));
    let page = fake.print(&["calculator", "--form", "page"]);
    assert!(page.contains("<strong>not measured</strong>: pair: run: cargo tally measure pair"), "{page}");
    assert!(!printed.contains(" ns") && !printed.contains(" µs ["), "{printed}");
}

#[test]
fn check_looks_into_the_calculator() {
    let fake = with_calculator();
    for (from, to, reason) in [
        ("slow[free]", "slow[two-cpus]", "input one_switch, option io: there is no cell slow[two-cpus]"),
        ("steps * one_switch", "steps * one_swich", "output switching: unknown name one_swich"),
        ("limits = [\"0.1", "limits = [\"one_switch", "must be of settings alone, and one_switch is none"),
        ("1 + 0 * requests", "1 + steps", "steps: \"1 + steps\" must be of settings alone, and steps is none"),
        ("bound = \"cpu\"", "bound = \"gpu\"", "output extra: unknown bound \"gpu\""),
        ("requests = 100000", "requests = 0.5", "requests must be from 1 to 1000000, and is 0.5"),
    ] {
        fake.write("benches-src/chapter/calculator.toml", &CALCULATOR.replace(from, to));
        let said = support::fail(fake.tally(&["check"]));
        assert!(said.contains("benches-src/chapter/calculator.toml: ") && said.contains(reason), "{said}");
    }
}

#[test]
fn what_was_not_measured_here_is_said_by_the_reference_machine_and_marked() {
    let fake = recorded();
    fake.refer_to("a-machine");
    fake.write(
        "benches-src/takeaways.toml",
        "[[takeaway]]\nid = \"pair-dots\"\n[[takeaway.case]]\nsay = \"A slow step takes {slow[free]}.\"\n",
    );
    for file in ["draw.mjs", "config.json", "package-lock.json", "dots.vl.json", "dots-narrow.patch.json"] {
        fake.write(
            &format!("book/charts/{file}"),
            if file.contains("patch") { "[]" } else { "{\"data\": {\"name\": \"rows\"}}" },
        );
    }
    std::fs::remove_dir_all(fake.path("data/local")).unwrap();
    let page = |what: &[&str]| fake.print(&[what, &["--form", "page"]].concat());
    let value = page(&["value", "slow[free]", "--experiment", "pair"]);
    let takeaway = page(&["takeaway", "pair-dots"]);
    for said in [&value, &takeaway] {
        assert!(said.contains("<span class=\"elsewhere\">") && said.contains("(reference machine)"), "{said}");
        assert!(said.contains("title=\"here not measured; run: cargo tally measure pair\""), "{said}");
        assert!(!said.contains("class=\"missing\"") && said.contains(" µs</a>"), "{said}");
    }
    for block in [page(&["table", "pair"]), page(&["chart", "pair", "dots", "--caption", "Steps."])] {
        assert!(
            block.starts_with("<div class=\"elsewhere\">\n<p class=\"legend\">Here not measured (run: cargo"),
            "{block}"
        );
    }
    // What a machine could not measure is its own, and so is what a terminal or a script asks for.
    let unavailable = page(&["value", "slow[one-cpu]", "--experiment", "pair"]);
    assert!(!unavailable.contains("elsewhere"), "the reference has none either: {unavailable}");
    assert!(fake.print(&["value", "slow[free]", "--experiment", "pair"]).contains("(not measured: run: "));
}

#[test]
fn rows_and_verdicts_that_were_not_measured_here_are_the_reference_machines() {
    let fake = Fake::new();
    let plan = "benches-src/chapter/experiments/pair.toml";
    fake.write(plan, &fake.read(plan).replacen("limit_seconds", "rounds = 6\nlimit_seconds", 1));
    succeed(fake.measure(&["--effort", "full"]));
    fake.contribute("a-machine", &fake.record());
    fake.refer_to("a-machine");
    let forget = || std::fs::remove_dir_all(fake.path("data/local")).unwrap();
    let page = |what: &[&str]| fake.print(&[what, &["--form", "page"]].concat());
    forget();
    succeed(fake.measure(&["--effort", "quick"]));
    let table = page(&["table", "pair"]);
    let (_, row) = table.split_once("<tr id=\"pair-slow-size-3-one-cpu\" class=\"elsewhere\">").unwrap();
    let (row, _) = row.split_once("</tr>").unwrap();
    assert!(row.contains("title=\"here full only; ") && row.contains("(reference machine)"), "{row}");
    assert!(row.contains(" µs") && !row.contains("missing"), "{row}");
    assert!(!table.contains("effort = full only"), "no row is left that has no number: {table}");
    assert!(!page(&["claim", "T1"]).contains("class=\"elsewhere\""), "it was measured here");
    forget();
    let (card, ledger) = (page(&["claim", "T1"]), page(&["claim"]));
    assert!(card.starts_with("<div class=\"elsewhere\">\n<p class=\"legend\">Here not measured (run: "), "{card}");
    for said in [&card, &ledger] {
        assert!(!said.contains("<strong>not measured") && !said.contains("class=\"missing\""), "{said}");
    }
    assert_eq!(ledger.matches("(reference machine)").count(), 2, "a number and a verdict: {ledger}");
    assert!(fake.print(&["claim", "T1"]).contains("not measured"), "a terminal is told of this machine alone");
}

#[test]
fn what_two_parts_of_a_claim_lack_is_said_once_and_what_the_reference_has_of_each_is_shown() {
    let fake = Fake::new();
    let claim = "benches-src/chapter/claims/T1.toml";
    let second = "\n[[parts]]\nname = \"fast over slow\"\nquantity = \"fast[free] / slow[free]\"\nat_most = \"1\"\n";
    fake.write(claim, &(fake.read(claim) + second));
    let ledger = || fake.print(&["claim", "--form", "page"]);
    assert_eq!((ledger().matches("as above").count(), ledger().matches("class=\"missing\"").count()), (1, 1));
    succeed(fake.measure(&[]));
    fake.contribute("a-machine", &fake.record());
    fake.refer_to("a-machine");
    std::fs::remove_dir_all(fake.path("data/local")).unwrap();
    assert!(!ledger().contains("as above"), "{}", ledger());
    assert_eq!(ledger().matches("(reference machine)").count(), 3, "two numbers and a verdict: {}", ledger());
}

#[test]
fn several_machines_stand_below_each_other() {
    let fake = recorded();
    let one = fake.print(&["list", "--machines", "--machine", "a-machine", "--form", "page"]);
    assert!(!one.contains("at a glance"), "{one}");
    let record = fake.unpacked("a-machine");
    let known = r#""mitigations":"spectre_v2: Retpolines; RSB filling","CPU":"<b>AMD</b>""#;
    fake.contribute("another", &record.replacen(r#""CPU":"A CPU""#, known, 1));
    let both = fake.print(&["list", "--machines", "--machine", "a-machine", "--form", "page"]);
    let (glance, _) = both.split_once("<section").unwrap();
    assert!(glance.contains("href=\"#machine-another\"") && both.contains("id=\"machine-another\""), "{glance}");
    assert!(glance.contains("<td class=\"none\">retpolines, no PTI</td>"), "{glance}");
    assert!(glance.contains("&#60;b&#62;AMD"), "{glance}");
}
