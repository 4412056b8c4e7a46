//! Known answers.

use super::answers::State;
use super::numbers::Numbers;
use super::words::{Toward, end, rounded};
use super::*;

const DATA: &str = r#"
    [[setting]]
    name = "rate"
    label = "requests a second"
    least = 1
    most = 1000
    [[setting]]
    name = "wait"
    label = "ms of waiting"
    size = 1e-3
    least = 0.1
    most = 100
    [[derived]]
    name = "hops"
    label = "hops"
    formula = "1 + 1"
    [[input]]
    name = "hop"
    label = "one hop"
    [[input.option]]
    name = "only"
    label = "as it is"
    note = "A hop."
    experiment = "pair"
    thread = "slow[free]"
    task = "fast[free]"
    [[bound]]
    name = "way"
    label = "a tenth of what comes in a second"
    limits = ["rate / 10", "1"]
    at = "most"
    lever = "wait"
    kept = "{high} under way"
    broken = "{low} under way of {rate}, and {limit} would be fine"
    between = "{low} to {high} under way"
    [[output]]
    name = "under_way"
    label = "under way"
    unit = "cores"
    formula = "rate * (wait + hops * hop)"
    bound = "way"
    [sentences]
    yes = { say = "Yes: {parts}.", between = ", ", last = ", and " }
    no = { say = "No: {parts}.", between = "; ", last = "; " }
    probably = { say = "Probably: {parts}.", between = "; ", last = "; " }
    open = { say = "Open: {parts}.", between = "; ", last = "; " }
    hardly = { say = "Hardly: {parts}.", between = "; ", last = "; " }
    senseless = { say = "Cannot be: {parts}.", between = "; ", last = "; " }
    pool = { say = "A pool: {parts}.", between = ", ", last = " and " }
    raise = { say = "Raise first: {parts}.", between = "; ", last = "; " }
    beyond = { say = "Not measured: {parts}.", between = "; ", last = "; " }
    unknown = { say = "Cannot say: {parts}.", between = "; ", last = "; " }
    still = { say = "Still up to {parts}.", between = ", ", last = " or " }
    would = { say = "Up to {parts}.", between = ", ", last = " and " }
    [[case]]
    name = "A service"
    rate = 100
    wait = 20
"#;

/// What stands before the sentences where a pool is asked about as well.
const POOL: &str = r#"[[bound]]
    name = "pool"
    label = "a pool"
    kind = "pool"
    limits = ["1"]
    at = "most"
    lever = "wait"
    kept = "{high} in it"
    broken = "{low} in it"
    between = "{low} to {high} in it"
    [[output]]
    name = "pool"
    label = "in a pool"
    unit = "cores"
    formula = "rate * hops * hop"
    bound = "pool"
    [sentences]"#;

fn data() -> Calculator {
    toml::from_str(DATA).unwrap()
}

fn estimate(median: f64, low: f64, high: f64) -> Estimate {
    Estimate { median, interval: Some((low, high)), rounds: 20 }
}

/// The answer where a thread's hop is this.
fn answer(case: &Case, hop: Value) -> (State, String) {
    let data = data();
    let answer = Numbers::of(&data, BTreeMap::from([(("hop", "only", Who::Thread), hop)])).answer(case).unwrap();
    (answer.state, answer.text)
}

#[test]
fn littles_law_and_the_interval_goes_through_the_formula() {
    let data = data();
    let apply = |estimate| data.apply(&data.cases[0], &data.outputs[0], "hop", &estimate).unwrap();
    let under_way = apply(estimate(5e-3, 4e-3, 7e-3));
    // A hundred a second, each there for 20 ms and two hops of 5 ms.
    assert!((under_way.median - 3.0).abs() < 1e-12);
    let (low, high) = under_way.interval.unwrap();
    assert!((low - 2.8).abs() < 1e-12 && (high - 3.4).abs() < 1e-12, "{low} {high}");
    let without = apply(Estimate { interval: None, ..estimate(5e-3, 0.0, 0.0) });
    assert_eq!(without.interval, None);
}

#[test]
fn the_end_of_an_interval_decides_and_where_both_are_needed_both_are_said() {
    let case = &data().cases[0];
    let of = |low, high| answer(case, Ok(estimate(low, low, high)));
    let about = |median| answer(case, Ok(estimate(median, 30e-3, 50e-3)));
    // Ten may be under way, which 40 ms a hop add up to.
    let (state, text) = of(-1e-3, 5e-3);
    assert_eq!((state, text.as_str()), (State::Yes, "Yes: 3 under way. Still up to 90 ms of waiting."));
    let (state, text) = about(39e-3);
    assert_eq!((state, text.as_str()), (State::Probably, "Probably: 8 to 12 under way."), "no wait makes up for it");
    let (state, text) = about(41e-3);
    assert_eq!((state, text.as_str()), (State::Hardly, "Hardly: 8 to 12 under way."));
    let (state, text) = answer(case, Ok(estimate(41e-3, -10e-3, 50e-3)));
    assert_eq!((state, text.as_str()), (State::Open, "Open: 0 to 12 under way."), "it may be nothing");
    let (state, _) = answer(case, Ok(estimate(39e-3, -10e-3, 50e-3)));
    assert_eq!(state, State::Probably, "the median keeps to the bound");
    let (state, text) = of(45e-3, 48e-3);
    assert_eq!(
        (state, text.as_str()),
        (State::No, "No: 11 under way of 100, and 10 would be fine. Up to 4 ms of waiting.")
    );
}

#[test]
fn what_is_missing_is_said_with_its_cure() {
    let case = &data().cases[0];
    let missing = Missing::new("not measured", "run: cargo tally measure pair");
    let (state, text) = answer(case, Err(missing));
    let wanted = "Cannot say: one hop has no number here (not measured: run: cargo tally measure pair).";
    assert_eq!((state, text.as_str()), (State::Unknown, wanted));
    let (state, text) = answer(case, Ok(Estimate { interval: None, rounds: 3, ..estimate(5e-3, 0.0, 0.0) }));
    assert_eq!(state, State::Unknown);
    assert!(text.contains("one hop was measured in 3 rounds"), "{text}");
}

/// The data with an input that was measured along the waiting, at 1 ms and at 100.
fn along() -> Calculator {
    let first = DATA
        .replace("label = \"one hop\"", "label = \"one hop\"\nalong = \"wait\"")
        .replace("name = \"only\"", "name = \"short\"\nat = 1");
    let other = "[[input.option]]\nname = \"long\"\nat = 100\nlabel = \"\"\nnote = \"\"\nexperiment = \"\"\nthread = \
                 \"\"\ntask = \"\"\n";
    toml::from_str(&first.replace("[[bound]]", &format!("{other}[[bound]]"))).unwrap()
}

#[test]
fn between_two_points_an_input_lies_on_their_line_and_beyond_them_it_is_the_nearest() {
    let data = along();
    let (case, input) = (&data.cases[0], &data.inputs[0]);
    let taken = |values: &[(&'static str, Value)], wait: f64| {
        let values = values.iter().map(|(name, value)| (("hop", *name, Who::Thread), value.clone()));
        let numbers = Numbers::of(&data, values.collect());
        numbers.taken(&case.with("wait", wait), input, Who::Thread).unwrap()
    };
    let missing: Value = Err(Missing::new("not measured", String::new()));
    let both = [("short", Ok(estimate(2.0, 1.0, 4.0))), ("long", Ok(estimate(4.0, 3.0, 5.0)))];
    let middle = taken(&both, 10.0).unwrap();
    assert!((middle.median - 3.0).abs() < 1e-12);
    assert_eq!((taken(&both, 0.1).unwrap().median, taken(&both, 1000.0).unwrap().median), (2.0, 4.0));
    let one = [("short", missing.clone()), ("long", Ok(estimate(4.0, 3.0, 5.0)))];
    assert_eq!(taken(&one, 1.0).unwrap().median, 4.0);
    assert!(taken(&[("short", missing.clone()), ("long", missing)], 1.0).is_err());
    assert!(data.input_is_sound(input).is_ok());
    for (was, is) in
        [("at = 1\n", ""), ("at = 1\n", "at = 0\n"), ("least = 0.1", "least = 0"), ("along = \"wait\"", "")]
    {
        let text = DATA.replace("label = \"one hop\"", "label = \"one hop\"\nalong = \"wait\"");
        let text = text.replace("name = \"only\"", "name = \"short\"\nat = 1").replace(was, is);
        let data: Calculator = toml::from_str(&text).unwrap();
        assert!(data.input_is_sound(&data.inputs[0]).is_err(), "{was} {is}");
    }
}

#[test]
fn an_option_is_taken_by_its_name_and_beyond_what_was_measured_the_answer_says_so() {
    let data = along();
    let hop = |name| (("hop", name, Who::Thread), Ok(estimate(1e-3, 1e-3, 1e-3)));
    let numbers = Numbers::of(&data, BTreeMap::from([hop("short"), hop("long")]));
    let case = data.cases[0].with("wait", 100.0);
    assert!(!numbers.answer(&case).unwrap().text.contains("Not measured"));
    let data = Calculator {
        settings: vec![Setting { most: 1e6, ..along().settings.remove(1) }, along().settings.remove(0)],
        ..along()
    };
    let numbers = Numbers::of(&data, BTreeMap::from([hop("short"), hop("long")]));
    let text = numbers.answer(&data.cases[0].with("wait", 101.0)).unwrap().text;
    assert!(text.ends_with("Not measured: one hop with more than 100 ms of waiting."), "{text}");
    let asked = Case { asked: BTreeMap::from([("hop".to_owned(), "long".to_owned())]), ..data.cases[0].clone() };
    assert_eq!(data.chosen(&asked, &data.inputs[0]).unwrap().name, "long");
    assert_eq!(data.chosen(&data.cases[0], &data.inputs[0]).unwrap().name, "short");
}

#[test]
fn a_limit_that_can_be_raised_decides_nothing_and_a_case_that_cannot_be_has_no_answer() {
    let answer = |kind: &str, hop: f64| {
        let text = DATA.replace("name = \"way\"", &format!("name = \"way\"\nkind = \"{kind}\""));
        let data: Calculator = toml::from_str(&text).unwrap();
        let hop = BTreeMap::from([(("hop", "only", Who::Thread), Ok(estimate(hop, hop, hop)))]);
        let answer = Numbers::of(&data, hop).answer(&data.cases[0]).unwrap();
        (answer.state, answer.text)
    };
    let (state, text) = answer("raised", 1.0);
    assert_eq!((state, text.as_str()), (State::Yes, "Yes: . Raise first: 200 under way of 100, and 10 would be fine."));
    assert_eq!(answer("raised", 1e-3).1, "Yes: .");
    let (state, text) = answer("sense", 1.0);
    assert_eq!((state, text.as_str()), (State::Senseless, "Cannot be: 200 under way of 100, and 10 would be fine."));
    assert_eq!(answer("sense", 1e-3).0, State::Yes);
}

#[test]
fn what_a_pool_takes_is_said_where_threads_may_not_do_and_decides_nothing() {
    let pool = DATA.replace("[sentences]", POOL);
    assert_ne!(pool, DATA);
    let data: Calculator = toml::from_str(&pool).unwrap();
    let text = |hop: f64| {
        let hop = BTreeMap::from([(("hop", "only", Who::Thread), Ok(estimate(hop, hop, hop)))]);
        Numbers::of(&data, hop).answer(&data.cases[0]).unwrap().text
    };
    assert!(text(1.0).contains(" A pool: 200 in it."), "{}", text(1.0));
    assert!(!text(1e-3).contains("A pool"), "threads do: {}", text(1e-3));
    let unknown = BTreeMap::from([(("hop", "only", Who::Thread), Err(Missing::new("full only", "why".to_owned())))]);
    assert!(!Numbers::of(&data, unknown).answer(&data.cases[0]).unwrap().text.contains("A pool"));
}

#[test]
fn a_bound_is_never_more_than_its_cap() {
    let data: Calculator = toml::from_str(&DATA.replace("limits =", "cap = \"3\"\n    limits =")).unwrap();
    let hop = BTreeMap::from([(("hop", "only", Who::Thread), Ok(estimate(5e-3, 5e-3, 6e-3)))]);
    assert_eq!(Numbers::of(&data, hop).answer(&data.cases[0]).unwrap().state, State::Probably, "3 to 3.2 of 3");
}

#[test]
fn numbers_are_rounded_to_the_side_on_which_a_sentence_stays_true() {
    for (value, below, above) in [
        (0.01441, 0.014, 0.015),
        (0.000_01, 0.0, 0.001),
        (16_367.0, 16_000.0, 17_000.0),
        (20_000.0 * (1.0 - 1e-12), 20_000.0, 20_000.0),
        (99.7, 99.0, 100.0),
        (-0.0123, -0.013, -0.012),
        (0.0, 0.0, 0.0),
    ] {
        assert_eq!((rounded(value, Toward::Below), rounded(value, Toward::Above)), (below, above), "{value}");
    }
    assert_eq!(end(Unit::Gibibytes, 1.5 * 1_073_741_824.0, Toward::Above), "1.5");
    assert_eq!(end(Unit::Number, 16_366.5, Toward::Below), "16,366");
    assert_eq!(end(Unit::Cores, -0.000_01, Toward::Above), "0");
    assert_eq!(end(Unit::Cores, -0.0123, Toward::Below), "−0.013");
}

#[test]
fn formulas_are_read_aloud_with_their_brackets_and_handed_on_as_trees() {
    let formula = |text: &str| Formula::try_from(text.to_owned()).unwrap();
    let spoken = |text: &str| data().spoken(&formula(text));
    assert_eq!(spoken("rate * (wait + 2 * hop)"), "requests a second × (ms of waiting + 2 × one hop)");
    assert_eq!(spoken("rate / (hop * 2) - (wait - 1)"), "requests a second / (one hop × 2) − (ms of waiting − 1)");
    let tree = serde_json::to_string(&formula("rate * (wait + 2 * hop)")).unwrap();
    assert_eq!(tree, r#"["*","rate",["+","wait",["*",2.0,"hop"]]]"#);
}

#[test]
fn a_formula_has_one_input_once_and_grows_with_it() {
    let mut data = data();
    assert!(data.output_is_sound(&data.outputs[0]).is_ok());
    for (formula, wanted) in [
        ("rate * hop * hop", "has 2 inputs"),
        ("rate * wait", "has 0 inputs"),
        ("rate * skip", "unknown name skip"),
        ("rate * hop[free]", "unknown name hop[free]"),
        ("rate / hop", "does not grow with hop"),
        ("rate * (1 - hop)", "does not grow with hop"),
    ] {
        data.outputs[0].formula = Formula::try_from(formula.to_owned()).unwrap();
        let error = format!("{:#}", data.output_is_sound(&data.outputs[0]).unwrap_err());
        assert!(error.contains(wanted), "{formula}: {error}");
    }
}

#[test]
fn a_case_keeps_to_the_ranges_and_sets_what_there_is() {
    let data = data();
    assert!(data.case_is_sound(&data.cases[0]).is_ok());
    for (name, value, wanted) in [
        ("rate", -1.0, "rate must be from 1 to 1000, and is -1"),
        ("rate", f64::NAN, "rate must be from 1 to 1000, and is NaN"),
        ("color", 1.0, "unknown setting \"color\""),
    ] {
        let error = format!("{:#}", data.case_is_sound(&data.cases[0].with(name, value)).unwrap_err());
        assert!(error.contains(wanted), "{error}");
    }
}
