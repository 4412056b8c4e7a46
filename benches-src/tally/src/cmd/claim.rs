//! `tally claim`: what the data say about a sentence, or about all of them, on one machine or on
//! each.

mod chips;
mod counts;
mod ledger;
mod machines;
mod many;
pub mod part;
mod score;

use anyhow::Result;
use clap::Args;

use crate::book::claim::{Claim as PlannedClaim, Joined, Part};
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::published::{Kind, Publication};
use crate::book::verdict::Verdict;
use crate::cmd::claim::counts::Counts;
use crate::cmd::claim::ledger::ledger;
use crate::cmd::claim::part::{JudgedPart, in_words};
use crate::compute::between::ENOUGH_SESSIONS;
use crate::compute::judging::{Judgement, all_of, any_of};
use crate::compute::quantity::Missing;
use crate::print::downloads::{self, BOOK};
use crate::print::escape::html;
use crate::print::render::{self, Form};
use crate::print::sentences;
use crate::print::table::Table;
use crate::print::view::View;

/// A claim and its verdict
#[derive(Args, Default)]
pub struct Claim {
    /// The claim's id; the whole ledger if there is none
    pub id: Option<String>,
    /// In one line: the sentence and its verdict
    #[arg(long, requires = "id")]
    pub line: bool,
    /// All claims on every machine that has records
    #[arg(long, conflicts_with = "id")]
    pub machines: bool,
    /// These claims, each with its verdict and on how many machines it has it
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with_all = ["id", "machines", "score"])]
    pub chips: Vec<String>,
    /// How many claims hold on at least half of the machines that measured them
    #[arg(long, conflicts_with_all = ["id", "machines"])]
    pub score: bool,
    /// With --score: this book's own predictions instead of what others published
    #[arg(long, requires = "score")]
    pub predictions: bool,
}

impl Claim {
    /// The ids that it names.
    pub fn ids(&self) -> impl Iterator<Item = &String> {
        self.id.iter().chain(&self.chips)
    }

    /// Prints one claim, or all.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        if self.machines {
            return machines::print(view, form);
        }
        if !self.chips.is_empty() {
            return chips::print(view, &self.chips, form);
        }
        if self.score {
            return score::print(view, self.predictions, form);
        }
        if let Some(id) = &self.id {
            let (plan, claim) = view.plans.claim(id)?;
            let judged = Judged::new(view, plan, claim)?;
            return match form {
                Form::Page if self.line => judged.in_a_line(view),
                Form::Text if self.line => judged.line(view),
                Form::Page => judged.card(view),
                Form::Text => judged.text(view),
                Form::Json => Ok(judged.json(view)?.to_string() + "\n"),
            };
        }
        let judged =
            view.plans.claims().map(|(plan, claim)| Judged::new(view, plan, claim)).collect::<Result<Vec<_>>>()?;
        match form {
            Form::Page => ledger(view, judged),
            Form::Text => judged.iter().map(|judged| judged.line(view)).collect(),
            Form::Json => {
                let judged: Vec<_> = judged.iter().map(|judged| judged.json(view)).collect::<Result<_>>()?;
                Ok(serde_json::Value::from(judged).to_string() + "\n")
            }
        }
    }
}

/// A claim with what the data say.
struct Judged<'a> {
    /// The chapter that makes it.
    chapter: &'a Plan,
    /// What decides, which another chapter may have measured.
    experiment: &'a Experiment,
    claim: &'a PlannedClaim,
    parts: Vec<JudgedPart<'a>>,
}

impl<'a> Judged<'a> {
    fn new(view: &'a View, chapter: &'a Plan, claim: &'a PlannedClaim) -> Result<Self> {
        let (_, experiment) = view.plans.experiment(&claim.experiment)?;
        let kind = view.published.publication(&claim.source)?.kind;
        let judge = |part: &'a Part| JudgedPart::new(view, claim, part, kind);
        let parts = claim.parts.iter().map(judge).collect::<Result<_>>()?;
        Ok(Self { chapter, experiment, claim, parts })
    }

    /// What is said of all parts together.
    fn judgement(&self) -> Judgement {
        together(self.claim, self.parts.iter().map(|part| part.judgement))
    }

    fn verdict(&self) -> Verdict {
        self.judgement().verdict
    }

    /// What must be said of the records beneath it that are of other listings or plans than those
    /// shown, each once.
    fn stale(&self, view: &View) -> Result<Vec<Missing>> {
        let mut notes = Vec::new();
        for part in &self.parts {
            let note = render::stale(view, &part.asked)?;
            notes.extend(note.filter(|note| !notes.contains(note)));
        }
        Ok(notes)
    }

    /// Whether the verdict is that of other listings than those shown.
    fn is_aged(&self, view: &View) -> Result<bool> {
        Ok(self.verdict() != Verdict::NotMeasured && !self.stale(view)?.is_empty())
    }

    /// The verdict as pages and terminals say it: that of other listings than those shown says so.
    fn words(&self, view: &View) -> Result<String> {
        Ok(in_words(self.judgement()) + if self.is_aged(view)? { " (stale)" } else { "" })
    }

    /// The concluding sentence. What could not be measured has no conclusion but says why.
    fn conclusion(&self, view: &View, form: Form) -> Result<String> {
        let Some(sentence) = self.claim.conclusion(self.verdict()) else {
            let reason = self.parts.iter().find_map(JudgedPart::missing);
            let reason = reason.map_or("there are too few rounds for an interval", |missing| &missing.reason);
            let reason = reason.trim_end_matches('.');
            let sentence = format!("Not measured here: {}.", reason.strip_prefix("because ").unwrap_or(reason));
            return Ok(if form == Form::Page { html(&sentence) } else { sentence });
        };
        let further = self.claim.compared.iter().map(|why| format!(" Not judged: {why}."));
        let further = further.chain(self.claim.unchecked.iter().map(|what| format!(" Not checked: {what}.")));
        let further = self.why_undecided() + &further.collect::<String>() + &self.why_open();
        Ok(sentences::fill(view, self.experiment, &sentence, form)? + &render::words(&further, form))
    }

    /// Which intervals reach over what, where the plan leaves that to be said.
    fn why_undecided(&self) -> String {
        if self.verdict() != Verdict::Undecided || !self.claim.leaves_undecided() {
            return String::new();
        }
        let open: Vec<&JudgedPart> =
            self.parts.iter().filter(|part| part.judgement.verdict == Verdict::Undecided).collect();
        let over = if open.iter().any(|part| part.part.no_effect.is_some()) { " or over no effect" } else { "" };
        match &open[..] {
            _ if self.parts.len() == 1 => format!(", since the interval reaches over a bound{over}."),
            [] => ".".to_owned(),
            [one] => format!(", since the interval of “{}” reaches over a bound{over}.", one.part.name),
            several => format!(", since {} intervals reach over a bound{over}.", several.len()),
        }
    }

    /// What would decide what is open, and what is too small to be decided.
    fn why_open(&self) -> String {
        match self.verdict() {
            Verdict::TooClose => self.parts.iter().filter_map(JudgedPart::too_close).collect(),
            Verdict::Undecided => {
                if let Some(part) = self.parts.iter().find(|part| part.is_at_bound()) {
                    return format!(
                        " The number of “{}” lies at a bound: more sessions will hardly decide it.",
                        part.part.name
                    );
                }
                let narrow: Vec<String> = self.parts.iter().filter_map(JudgedPart::would_decide).collect();
                let sessions = self.parts.iter().filter_map(|part| part.sessions()).min().unwrap_or(1);
                let it = if self.parts.len() == 1 { "it" } else { "that" };
                let so_far = if sessions == 1 { "is one".to_owned() } else { format!("are {sessions}") };
                format!(
                    " An interval of {} would decide {it}. {ENOUGH_SESSIONS} sessions may give one; so far there \
                     {so_far}.",
                    narrow.join(" and ")
                )
            }
            _ => String::new(),
        }
    }

    /// What is printed of the same claim on the reference machine, if the reader's own was not
    /// asked to measure what decides it.
    fn instead(
        &self,
        view: &View,
        print: impl Fn(&Judged, &View, &Missing) -> Result<String>,
    ) -> Result<Option<String>> {
        let missing = self.parts.iter().filter_map(JudgedPart::missing);
        let there = missing.filter_map(|missing| Some((missing, view.instead(missing)?))).next();
        let Some((missing, there)) = there.filter(|_| self.verdict() == Verdict::NotMeasured) else { return Ok(None) };
        let judged = Judged::new(&there, self.chapter, self.claim)?;
        (judged.verdict() != Verdict::NotMeasured).then(|| print(&judged, &there, missing)).transpose()
    }

    /// Its card, which as a whole may be the reference machine's.
    fn card(&self, view: &View) -> Result<String> {
        let there = |judged: &Judged, there: &View, missing: &Missing| {
            Ok(render::instead_of_block(&judged.page(there)?, missing))
        };
        self.instead(view, there)?.map_or_else(|| self.page(view), Ok)
    }

    /// Its verdict in the ledger.
    fn cell(&self, view: &View) -> Result<String> {
        let bold = |judged: &Judged, view: &View| Ok(format!("<strong>{}</strong>", judged.words(view)?));
        let there =
            |judged: &Judged, there: &View, missing: &Missing| Ok(render::instead(&bold(judged, there)?, missing));
        self.instead(view, there)?.map_or_else(|| bold(self, view), Ok)
    }

    fn page(&self, view: &View) -> Result<String> {
        let publication = view.published.publication(&self.claim.source)?;
        let verdict = self.words(view)?;
        let machines = self.machines(view)?;
        let mut out = format!("<section class=\"claim {}\" id=\"{}\">\n", self.verdict().class(), html(&self.claim.id));
        out += &format!(
            "<details>\n<summary><strong class=\"verdict\">{verdict}</strong> <strong>{}</strong> {}{}{machines}\
             </summary>\n",
            html(&self.claim.id),
            sentence(self.claim, publication),
            self.figures(view, publication)?
        );
        out += &format!(
            "<p class=\"source\"><cite><a href=\"{}\">{}</a>, {}</cite></p>\n",
            source_of(view, publication),
            html(&publication.title),
            html(&publication.date)
        );
        if let Some(note) = &self.claim.note {
            out += &format!("<p class=\"note\">{}</p>\n", html(note));
        }
        out += &self.stale(view)?.iter().map(render::boxed).collect::<String>();
        let heads = ["part", publication.word(), "agrees", "here", "smallest gap we could see", "verdict"];
        let mut parts = Table::new("The parts of this claim", heads);
        for part in &self.parts {
            parts.row(html(&part.part.name), part.cells(view)?);
        }
        out += &parts.page();
        out += &format!("<p class=\"conclusion\">{}</p>\n{}", self.conclusion(view, Form::Page)?, self.citation(view)?);
        Ok(out + "</details>\n</section>\n")
    }

    /// What was published and what is so here, of the part that decided: the card says all of them
    /// when it is opened.
    fn figures(&self, view: &View, publication: &Publication) -> Result<String> {
        let decided = |part: &&JudgedPart| part.judgement.verdict == self.verdict();
        let Some(part) = self.parts.iter().find(decided).or(self.parts.first()) else { return Ok(String::new()) };
        let name = if self.parts.len() > 1 { format!("{}: ", html(&part.part.name)) } else { String::new() };
        let published = match part.published_value() {
            Some(_) => format!("{} {} · ", publication.word(), html(&part.published())),
            None => String::new(),
        };
        let here = render::in_words(view, &part.asked, &part.measured)?;
        Ok(format!(" <span class=\"figures\">{name}{published}here {}</span>", html(&here)))
    }

    /// A line for elsewhere: what was claimed, and what is so here.
    fn citation(&self, view: &View) -> Result<String> {
        let (id, verdict) = (&self.claim.id, self.words(view)?);
        let conclusion = self.conclusion(view, Form::Text)?;
        let context = render::context(view, self.chapter, self.experiment)?;
        let text = format!("{id}, “{}”: {verdict}. {conclusion} {BOOK} {context}.", self.claim.sentence);
        Ok(downloads::citation(view, &self.chapter.chapter, id, &text))
    }

    /// What is claimed and what is so, within a sentence.
    fn in_a_line(&self, view: &View) -> Result<String> {
        let publication = view.published.publication(&self.claim.source)?;
        let (link, sentence) = (claim_link(view, self.chapter, self.claim), sentence(self.claim, publication));
        let stale = if self.is_aged(view)? { format!(", {}", render::CHANGED_SINCE) } else { String::new() };
        let counts = Counts::of(view, self.claim)?;
        let (all, hold) = (counts.all(), counts.with(Verdict::Holds) + counts.with(Verdict::PartlyChecked));
        let machines = match all {
            0 | 1 => String::new(),
            _ => format!(", and holds on {hold} of {all} machines that measured it"),
        };
        Ok(format!("<strong>{}</strong> here{stale}{machines}: {sentence} ({link})", self.verdict().said_of(1)))
    }

    fn text(&self, view: &View) -> Result<String> {
        let figure = view.published.publication(&self.claim.source)?.word();
        let mut out = self.line(view)?;
        if let Some(counts) = Counts::of(view, self.claim)?.words() {
            out += &format!("    {counts}\n");
        }
        for part in &self.parts {
            out += &part.text(view, figure)?;
        }
        Ok(out + "    " + &self.conclusion(view, Form::Text)? + "\n")
    }

    /// What all machines say, as a line of its own.
    fn machines(&self, view: &View) -> Result<String> {
        let words = Counts::of(view, self.claim)?.words();
        Ok(words.map_or(String::new(), |words| format!(" <span class=\"among\">{words}</span>")))
    }

    fn line(&self, view: &View) -> Result<String> {
        Ok(format!("{:4} {:13} {}\n", self.claim.id, self.words(view)?, self.claim.sentence))
    }

    fn json(&self, view: &View) -> Result<serde_json::Value> {
        Ok(serde_json::json!({
            "id": self.claim.id,
            "sentence": self.claim.sentence,
            "verdict": self.verdict().words(),
            "stale": !self.stale(view)?.is_empty(),
            "machines": Counts::of(view, self.claim)?.json(),
            "parts": self.parts_json(view)?,
        }))
    }

    fn parts_json(&self, view: &View) -> Result<serde_json::Value> {
        Ok(self.parts.iter().map(|part| part.json(view)).collect::<Result<Vec<_>>>()?.into())
    }
}

/// Where a publication can be read; this book's own predictions are a page of it.
fn source_of(view: &View, publication: &Publication) -> String {
    let url = &publication.url;
    html(&if url.contains("://") { url.clone() } else { view.way_to(url) })
}

/// In quotation marks where it is somebody else's, word for word.
fn sentence(claim: &PlannedClaim, publication: &Publication) -> String {
    let sentence = html(&claim.sentence);
    match publication.kind {
        Kind::Published if !claim.paraphrased => format!("<q>{sentence}</q>"),
        Kind::Published | Kind::Predicted => sentence,
    }
}

/// The claim's id, leading to where it stands.
fn claim_link(view: &View, chapter: &Plan, claim: &PlannedClaim) -> String {
    format!("<a href=\"{}\">{}</a>", view.link(&chapter.chapter, &claim.id), html(&claim.id))
}

/// Whether somebody published it; the others are this book's own predictions.
fn is_published(view: &View, claim: &PlannedClaim) -> Result<bool> {
    Ok(view.published.publication(&claim.source)?.kind == Kind::Published)
}

/// What is said of a claim whose parts are judged so, as its sentence joins them. What is not all
/// checked holds as far as it can be, at best.
fn together(claim: &PlannedClaim, parts: impl Iterator<Item = Judgement>) -> Judgement {
    let judgement = match claim.joined {
        Joined::And => all_of(parts),
        Joined::Or => any_of(parts),
    };
    match judgement.verdict {
        Verdict::Holds if claim.unchecked.is_some() => Judgement { verdict: Verdict::PartlyChecked, shift: None },
        _ => judgement,
    }
}

/// What at least half of the machines say, which is counted. Where only older programs were
/// measured, what the machine that is shown said of those, and that it did.
fn verdict_of(view: &View, plan: &Plan, claim: &PlannedClaim) -> Result<(Verdict, Option<Counts>)> {
    let counts = Counts::of(view, claim)?;
    if counts.all() > 0 {
        return Ok((counts.verdict(), Some(counts)));
    }
    let judged = Judged::new(view, plan, claim)?;
    Ok((judged.verdict(), None))
}

/// An error where a claim cannot be judged here, or not concluded.
pub fn can_be_concluded(view: &View, plan: &Plan, claim: &PlannedClaim) -> Result<()> {
    Judged::new(view, plan, claim)?.conclusion(view, Form::Text).map(drop)
}
