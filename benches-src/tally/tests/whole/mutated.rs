//! Whatever stands in a file that somebody sends or edits, no verb panics, hangs or lets markup
//! through, and no figure of a record of which a line was changed is shown. `MUTATED=100000 cargo
//! test --release --test whole mutated::` tries so many of each kind; `SEED` chooses others.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use crate::support::{CALCULATOR, Fake, PLAN, succeed, summed};
use clap::Parser;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tally::command_line::CommandLine;
use tally::print::render::Form;
use tally::print::view::View;
use tally::project::{Machine, Project};
use tally::record::checksum::sha256;
use tally::record::compression::{pack, unpack};

/// What is tried of each kind where nobody asks for more: a few seconds' worth.
const USUAL: u64 = 150;

/// No verb takes as long, on a machine that does other things as well.
const LONG: Duration = Duration::from_secs(10);

const MARKUP: &str = "<script>alert(1)</script>";

/// What breaks readers: ends of numbers and of lines, brackets without an end, markup, directives.
const TOKENS: [&str; 24] = [
    "0",
    "-1",
    "1e308",
    "-1e308",
    "18446744073709551615",
    "18446744073709551616",
    "1e-320",
    "null",
    "true",
    "[]",
    "{}",
    "\"",
    "\\",
    ",",
    ":",
    "\n",
    "\u{0}",
    "\u{202e}",
    "é",
    MARKUP,
    "<!-- cmdrun tally list -->",
    "{{#include /etc/passwd}}",
    "[[",
    "slow[free] / 0",
];

fn tries() -> u64 {
    std::env::var("MUTATED").ok().and_then(|number| number.parse().ok()).unwrap_or(USUAL)
}

fn rng(kind: u64, number: u64) -> StdRng {
    let seed: u64 = std::env::var("SEED").ok().and_then(|number| number.parse().ok()).unwrap_or(0);
    StdRng::seed_from_u64(seed.wrapping_mul(1_000_003) ^ (kind << 48) ^ number)
}

/// A text in which one to four things were changed.
fn mutated(text: &str, rng: &mut StdRng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..=bytes.len());
        let to = (at + rng.random_range(0..40)).min(bytes.len());
        match rng.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let part = bytes[at..to].to_vec();
                let place = rng.random_range(0..=bytes.len());
                bytes.splice(place..place, part);
            }
            3 => drop(bytes.splice(at..to, TOKENS[rng.random_range(0..TOKENS.len())].bytes())),
            4 => drop(bytes.splice(at..at, TOKENS[rng.random_range(0..TOKENS.len())].bytes())),
            5 => number(&mut bytes, at, rng),
            _ => line(&mut bytes, at, rng.random_range(0..3)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Puts another number in the place of the next one.
fn number(bytes: &mut Vec<u8>, at: usize, rng: &mut StdRng) {
    let Some(begin) = (at..bytes.len()).find(|at| bytes[*at].is_ascii_digit()) else { return };
    let end = (begin..bytes.len()).find(|at| !bytes[*at].is_ascii_digit()).unwrap_or(bytes.len());
    let other = TOKENS[rng.random_range(0..8)];
    bytes.splice(begin..end, other.bytes());
}

/// Removes the line at a place, says it twice, or ends the text with it.
fn line(bytes: &mut Vec<u8>, at: usize, how: u32) {
    let begin = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end + 1);
    match how {
        0 => drop(bytes.drain(begin..end)),
        1 => {
            let own = bytes[begin..end].to_vec();
            bytes.splice(begin..begin, own);
        }
        _ => bytes.truncate(end),
    }
}

/// Verbs that read all there is.
const VERBS: [&str; 11] = [
    "list",
    "list --machines",
    "table pair",
    "value 'slow[free] / fast[free]'",
    "claim T1",
    "claim --machines",
    "claim --score",
    "claim --chips T1",
    "listing slow",
    "calculator",
    "check",
];

/// What the verbs print, or why they do not.
fn printed(fake: &Fake, machine: &Machine, form: Form) -> Vec<String> {
    let project = Project::at(fake.root()).unwrap();
    let view = View::new(project, machine.clone(), None);
    let say = |command: &str| {
        let words = tally::book::directive::words(&format!("tally {command}"))?;
        let verb = CommandLine::try_parse_from(words)?.verb;
        let view = view.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
        verb.printed(view, form).expect("a verb that prints")
    };
    VERBS.iter().map(|command| say(command).unwrap_or_else(|error| format!("error: {error:#}"))).collect()
}

/// The same of a file that was changed so; it must end, soon, and without markup of a stranger's.
fn tried(fake: &Fake, machine: &Machine, form: Form, what: &dyn Fn() -> String) -> Vec<String> {
    let began = Instant::now();
    let caught = panic::catch_unwind(AssertUnwindSafe(|| printed(fake, machine, form)));
    let said = caught.unwrap_or_else(|_| panic!("a verb panicked on {}", kept(&what())));
    assert!(began.elapsed() < LONG, "it took {:?} on {}", began.elapsed(), kept(&what()));
    if form == Form::Page {
        let through = said.iter().find(|text| !text.starts_with("error: ") && text.contains(MARKUP));
        assert!(through.is_none(), "markup came through from {}: {through:?}", kept(&what()));
    }
    said
}

/// Where the text lies that did it, so that it can be looked at.
fn kept(text: &str) -> String {
    let path = std::env::temp_dir().join("tally-mutated");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn form(number: u64) -> Form {
    [Form::Page, Form::Text, Form::Json][number as usize % 3]
}

fn measured() -> Fake {
    let fake = Fake::new();
    fake.write("benches-src/chapter/calculator.toml", CALCULATOR);
    succeed(fake.measure(&[]));
    fake
}

#[test]
fn a_record_with_wrong_sums_shows_no_figure_but_its_own() {
    let fake = measured();
    let (record, path) = (fake.record(), fake.path("data/local/chapter/pair.jsonl"));
    let own = printed(&fake, &Machine::Local, Form::Page);
    for number in 0..tries() {
        let text = mutated(&record, &mut rng(1, number));
        fs::write(&path, &text).unwrap();
        let said = tried(&fake, &Machine::Local, Form::Page, &|| text.clone());
        let shown = |said: &str| said.contains("2.00") && !said.contains("unreadable");
        // A line that is gone leaves a round that nobody uses, as an interruption does.
        if text.lines().all(|line| record.lines().any(|own| own == line)) {
            continue;
        }
        for (verb, (said, own)) in VERBS.iter().zip(said.iter().zip(&own)) {
            assert!(
                said == own || !shown(own) || !shown(said) || said.contains("interrupted"),
                "{verb} on {}: {said}",
                kept(&text)
            );
        }
    }
}

#[test]
fn a_record_that_was_made_up_makes_no_verb_panic() {
    let fake = measured();
    let (record, path) = (fake.record(), fake.path("data/local/chapter/pair.jsonl"));
    for number in 0..tries() {
        let text = summed(&mutated(&record, &mut rng(2, number)));
        fs::write(&path, &text).unwrap();
        tried(&fake, &Machine::Local, form(number), &|| text.clone());
    }
}

#[test]
fn a_bundle_or_a_kept_digest_that_was_made_up_makes_no_verb_panic() {
    let fake = measured();
    fake.contribute("somewhere", &fake.record());
    let only = |folder: &str| fs::read_dir(fake.path(folder)).unwrap().next().unwrap().unwrap().path();
    let machine = Machine::Exported("somewhere".to_owned());
    let (bundle, kept) = (only("data/machines/somewhere/sessions"), only("target/digests"));
    let whole = [fs::read(&bundle).unwrap(), fs::read(&kept).unwrap()];
    for number in 0..tries() {
        let mut rng = rng(3, number);
        let is_kept = number % 3 == 2;
        let bytes = &whole[usize::from(is_kept)];
        // What is kept begins with a line that has its sum.
        let packed = if is_kept { &bytes[65..] } else { &bytes[..] };
        let bytes = if number % 2 == 0 {
            let mut bytes = bytes.clone();
            let at = rng.random_range(0..bytes.len());
            bytes[at] ^= 1 << rng.random_range(0..8);
            bytes
        } else {
            let frames = tally::record::compression::frames(packed).unwrap();
            let which = rng.random_range(0..frames.len());
            let other = |(at, frame): (usize, &&[u8])| {
                let text = unpack(frame, 1 << 24).unwrap();
                let text = if at == which { summed(&mutated(&text, &mut rng)) } else { text };
                pack(text.as_bytes()).unwrap()
            };
            let packed = frames.iter().enumerate().map(other).collect::<Vec<_>>().concat();
            let sum = if is_kept { sha256(&packed) + "\n" } else { String::new() };
            [sum.into_bytes(), packed].concat()
        };
        fs::write(&bundle, if is_kept { &whole[0] } else { &bytes }).unwrap();
        fs::write(&kept, if is_kept { &bytes } else { &whole[1] }).unwrap();
        tried(&fake, &machine, form(number), &|| format!("{bytes:?}"));
    }
}

#[test]
fn plans_and_published_figures_make_no_verb_panic() {
    let fake = measured();
    let mut files: Vec<String> =
        vec!["benches-src/chapter/calculator.toml".into(), "data/published/elsewhere.toml".into()];
    let plans = PLAN.lines().filter_map(|line| line.strip_prefix("=== "));
    files.extend(plans.map(|file| format!("benches-src/chapter/{file}")));
    let texts: Vec<String> = files.iter().map(|file| fake.read(file)).collect();
    for number in 0..tries() {
        let which = number as usize % files.len();
        let text = mutated(&texts[which], &mut rng(4, number));
        fake.write(&files[which], &text);
        tried(&fake, &Machine::Local, form(number / files.len() as u64), &|| format!("{}\n{text}", files[which]));
        fake.write(&files[which], &texts[which]);
    }
}

#[test]
fn a_directive_makes_no_verb_panic() {
    let fake = measured();
    let view = View::new(Project::at(fake.root()).unwrap(), Machine::Local, None).unwrap();
    for number in 0..20 * tries() {
        let mut rng = rng(5, number);
        let command = format!("tally {}", VERBS[rng.random_range(0..VERBS.len())]);
        let text =
            mutated(&format!("<!-- cmdrun {command} --caption \"{{slow[free]}} of {{fast[free]}}\" -->"), &mut rng);
        let print = || {
            for directive in tally::book::directive::all(&text).into_iter().flatten() {
                if let Ok(verb) = CommandLine::of_directive(&directive.command) {
                    let _ = verb.printed(&view, Form::Page);
                }
            }
        };
        let caught = panic::catch_unwind(AssertUnwindSafe(print));
        assert!(caught.is_ok(), "a verb panicked on {}", kept(&text));
    }
}
