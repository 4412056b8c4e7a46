//! Figures that others published, from `data/published/*.toml`: facts with their source, to stand
//! beside ours.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::book::cell::Cell;
use crate::book::experiment::select;
use crate::book::expression::Expression;
use crate::book::plan_file;
use crate::book::unit;
use crate::name;
use crate::project::Project;

/// One publication, with the figures of it that stand beside ours.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// The file's name, which claims use.
    #[serde(skip)]
    pub name: String,
    /// Who published it and where, as a reader would cite it.
    pub title: String,
    /// Where to read it: an address that begins with https://.
    pub url: String,
    /// When, as precisely as is known.
    pub date: String,
    /// What its sentences and figures are: `published` by others, or `predicted` by this book,
    /// which needs no quotation marks.
    #[serde(default)]
    pub kind: Kind,
    /// The figures, each a table `[[figure]]`.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// Whose word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Somebody else's.
    #[default]
    Published,
    /// This book's own, before it measured.
    Predicted,
}

impl Publication {
    /// What stands above its figures.
    pub fn word(&self) -> &'static str {
        match self.kind {
            Kind::Published => "published",
            Kind::Predicted => "predicted",
        }
    }
}

/// One published figure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What claims and expressions call it: lower-case words with hyphens.
    pub id: String,
    /// The number as it was published.
    pub value: f64,
    /// `ns`, `s`, `b` (bytes), `count` or `ratio`.
    pub unit: Unit,
    /// A few words that tell it from others beside the same row of a figure.
    pub label: String,
    /// The machine, as far as it was named.
    pub machine: String,
    /// The words in which it was published, where they matter.
    #[serde(default)]
    pub words: Option<String>,
    /// The cell that it stands beside, with every parameter: `"thread-pipe[one-cpu, hops=500]"`.
    #[serde(default)]
    pub beside: Option<String>,
}

impl Figure {
    /// Whether it stands beside this cell. It says every parameter of it: else it would stand
    /// beside variants as well, of which nobody published anything.
    pub fn stands_beside(&self, cell: &Cell) -> Result<bool> {
        let of_its_program = |text: &&String| text.starts_with(&cell.program);
        let Some(text) = self.beside.as_ref().filter(of_its_program) else { return Ok(false) };
        let Expression::Leaf(selector) = Expression::parse(text)? else {
            bail!("published figure {} stands beside one cell, not {text:?}", self.id);
        };
        let same_condition = cell.condition.as_deref() == selector.condition();
        let all_said = cell.parameters.keys().all(|parameter| selector.names(parameter));
        Ok(same_condition && all_said && select(std::slice::from_ref(cell), &selector).is_ok())
    }
}

/// The unit of a published figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds per operation.
    Ns,
    /// Seconds for a whole run.
    S,
    /// Bytes.
    B,
    /// A count of something.
    Count,
    /// A plain number.
    Ratio,
}

impl Figure {
    /// In nanoseconds, bytes, or plain.
    pub fn quantity(&self) -> (f64, unit::Unit) {
        match self.unit {
            Unit::S => (self.value * 1e9, unit::Unit::Nanoseconds),
            Unit::Ns => (self.value, unit::Unit::Nanoseconds),
            Unit::B => (self.value, unit::Unit::Bytes),
            Unit::Count => (self.value, unit::Unit::Count),
            Unit::Ratio => (self.value, unit::Unit::Ratio),
        }
    }
}

/// All publications.
#[derive(Debug, Default)]
pub struct Published(pub Vec<Publication>);

impl Published {
    /// Reads every file.
    pub fn load(project: &Project) -> Result<Self> {
        let read = |name: String, path: &Path| -> Result<Publication> {
            let text = fs::read_to_string(path)?;
            let mut publication: Publication = toml::from_str(&text)?;
            publication.name = name;
            name::check(&publication.name, "a publication")?;
            let url = &publication.url;
            let is_page = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) || !url.contains(':');
            ensure!(is_page, "{url:?} is no address of a page; it begins with https://");
            Ok(publication)
        };
        let files = plan_file::listed(&project.published())?.into_iter();
        let publications =
            files.map(|(name, path)| read(name, &path).with_context(|| format!("in {}", path.display())));
        Ok(Self(publications.collect::<Result<_>>()?))
    }

    /// The publication of this name.
    pub fn publication(&self, name: &str) -> Result<&Publication> {
        self.0.iter().find(|publication| publication.name == name).with_context(|| {
            let known: Vec<&str> = self.0.iter().map(|publication| publication.name.as_str()).collect();
            format!("unknown publication {name:?}; there are: {}", known.join(", "))
        })
    }

    /// The figure of this id, with its publication.
    pub fn figure(&self, id: &str) -> Result<(&Publication, &Figure)> {
        self.figures().find(|(_, figure)| figure.id == id).with_context(|| format!("unknown published figure {id:?}"))
    }

    /// The figures that stand beside a cell, the smallest first.
    pub fn beside(&self, cell: &Cell) -> Result<Vec<(&Publication, &Figure)>> {
        let mut beside = Vec::new();
        for (publication, figure) in self.figures() {
            if figure.stands_beside(cell)? {
                beside.push((publication, figure));
            }
        }
        beside.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
        Ok(beside)
    }

    /// Every figure with its publication.
    pub fn figures(&self) -> impl Iterator<Item = (&Publication, &Figure)> {
        self.0.iter().flat_map(|publication| publication.figures.iter().map(move |figure| (publication, figure)))
    }
}
