//! Where in the book things stand: each experiment, figure and claim is at home on one page, to
//! which links from all others lead. The pages' own directives say which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use walkdir::WalkDir;

use crate::book::directive::{self, Directive};
use crate::project::Project;

/// Every Markdown page, and what is at home on it.
#[derive(Debug, Default)]
pub struct Places {
    /// Each page's path from the book's source on, and its text, by path.
    pages: Vec<(String, String)>,
    /// A page's path by anchor.
    homes: BTreeMap<String, String>,
    /// The experiments whose tables stand on pages.
    tables: BTreeSet<String>,
    /// What stands under a figure, by the figure's anchor: the caption on the page where it is at
    /// home.
    captions: BTreeMap<String, String>,
}

impl Places {
    /// Reads all pages of the book.
    pub fn load(project: &Project) -> Result<Self> {
        let (folder, generated) = (project.pages(), project.generated());
        let mut pages = Vec::new();
        let entries = WalkDir::new(&folder).sort_by_file_name().into_iter();
        for entry in entries.filter_entry(|entry| entry.path() != generated).flatten() {
            let path = entry.into_path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                pages.push((name, text));
            }
        }
        Ok(Self::of(pages))
    }

    /// What stands on these pages.
    fn of(pages: Vec<(String, String)>) -> Self {
        let mut homes: BTreeMap<String, String> = BTreeMap::new();
        let (mut charts, mut tables, mut captions) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for (page, text) in &pages {
            for Directive { command, .. } in directive::all(text).into_iter().flatten() {
                let words = directive::words(&command).unwrap_or_default();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                match words[..] {
                    ["tally", "table", experiment] => {
                        tables.entry(experiment.to_owned()).or_insert(page);
                        homes.entry(experiment.to_owned()).or_insert(page.clone());
                    }
                    ["tally", "calculator"] => drop(homes.entry("calculator".to_owned()).or_insert(page.clone())),
                    ["tally", "limits"] => drop(homes.entry(LIMITS.to_owned()).or_insert(page.clone())),
                    ["tally", "claim" | "figure", id] if !id.starts_with("--") => {
                        homes.entry(id.to_owned()).or_insert(page.clone());
                    }
                    ["tally", "chart", experiment, shape, ref options @ ..] => {
                        charts.push((experiment.to_owned(), shape.to_owned(), page));
                        if let Some(caption) = caption(options) {
                            captions.insert((format!("{experiment}-{shape}"), page), caption.to_owned());
                        }
                    }
                    _ => {}
                }
            }
        }
        // A figure that stands on several pages is at home beside its experiment's table.
        for (experiment, shape, page) in &charts {
            let is_beside = tables.get(experiment) == Some(page);
            let home = homes.entry(format!("{experiment}-{shape}")).or_insert((*page).clone());
            if is_beside {
                home.clone_from(page);
            }
            // Where no page has the table, numbers lead to the figure.
            homes.entry(experiment.clone()).or_insert((*page).clone());
        }
        let is_at_home = |(figure, page): &(String, &String)| homes.get(figure) == Some(*page);
        let captions = captions.into_iter().filter(|(place, _)| is_at_home(place));
        let captions = captions.map(|((figure, _), caption)| (figure, caption)).collect();
        let tables = tables.into_keys().collect();
        Self { pages, homes, tables, captions }
    }

    /// Every page: its path from the book's source on, and its text.
    pub fn pages(&self) -> &[(String, String)] {
        &self.pages
    }

    /// The text of the page at this path.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.pages.iter().find(|(page, _)| page == path).map(|(_, text)| text.as_str())
    }

    /// The path of the page on which an anchor stands.
    pub fn home(&self, anchor: &str) -> Option<&str> {
        self.homes.get(anchor).map(String::as_str)
    }

    /// Whether some page has the table of this experiment.
    pub fn has_table(&self, experiment: &str) -> bool {
        self.tables.contains(experiment)
    }

    /// What stands under the figure of this anchor, with quantities in braces, wherever no other
    /// caption is given.
    pub fn caption(&self, figure: &str) -> Option<&str> {
        self.captions.get(figure).map(String::as_str)
    }

    /// Every figure's anchor with its caption.
    pub fn captions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.captions.iter().map(|(figure, caption)| (figure.as_str(), caption.as_str()))
    }

    /// Every anchor with its page.
    pub fn homes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.homes.iter().map(|(anchor, page)| (anchor.as_str(), page.as_str()))
    }
}

/// The caption among the options of a figure's directive.
fn caption<'a>(options: &[&'a str]) -> Option<&'a str> {
    let of_pair = |pair: &[&'a str]| (pair[0] == "--caption").then_some(pair[1]);
    let joined = options.iter().find_map(|option| option.strip_prefix("--caption="));
    options.windows(2).find_map(of_pair).or(joined)
}

/// What the table of a machine's limits goes by on its page.
pub const LIMITS: &str = "the-limits";

#[cfg(test)]
mod tests {
    use super::*;

    fn places(pages: &[(&str, &str)]) -> Places {
        Places::of(pages.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    #[test]
    fn what_a_page_shows_is_at_home_there() {
        let places = places(&[
            (
                "a.md",
                "<!-- cmdrun tally chart socket dots -->\n<!-- cmdrun tally claim C1 --line -->\n<!-- cmdrun tally \
                 claim --score -->\n",
            ),
            (
                "a/b.md",
                "<!-- cmdrun tally table socket -->\n<!-- cmdrun tally chart socket dots -->\n<!-- cmdrun tally claim \
                 C1 -->\n",
            ),
        ]);
        assert_eq!(places.home("socket"), Some("a/b.md"));
        assert_eq!(places.home("socket-dots"), Some("a/b.md"), "beside its table, though another page has it too");
        assert_eq!(places.home("C1"), Some("a/b.md"), "a line about a claim is not its home");
        assert_eq!((places.home("pipe"), places.home("--score")), (None, None));
    }

    #[test]
    fn a_figure_has_the_caption_of_its_home_on_every_page() {
        let chart = "cmdrun tally chart socket dots";
        let home = "<!-- cmdrun tally table socket -->\n";
        let both = places(&[
            ("a.md", &format!("<!-- {chart} --caption \"Elsewhere, > {{x}}.\" -->\n")),
            ("b.md", &format!("{home}<!-- {chart} --caption \"At home, {{x[one-cpu]}}.\" -->\n")),
        ]);
        assert_eq!(both.caption("socket-dots"), Some("At home, {x[one-cpu]}."));
        let joined = places(&[("a.md", &format!("<!-- {chart} --caption=\"Joined.\" -->\n"))]);
        assert_eq!(joined.caption("socket-dots"), Some("Joined."));
        let only_elsewhere = places(&[
            ("a.md", &format!("<!-- {chart} --caption \"Elsewhere.\" -->\n")),
            ("b.md", &format!("{home}<!-- {chart} -->\n")),
        ]);
        assert_eq!(only_elsewhere.caption("socket-dots"), None);
        assert_eq!(both.captions().count(), 1);
    }

    #[test]
    fn an_experiment_without_a_table_is_at_home_where_its_figure_is() {
        let places = places(&[("a.md", "<!-- cmdrun tally chart socket dots -->\n")]);
        assert_eq!(places.home("socket"), Some("a.md"));
    }
}
