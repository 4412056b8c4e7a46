//! A figure: what it found, the picture, and under it every number, one unfolding away.

use anyhow::Result;
use serde_json::Value;

use crate::compute::quantity::Missing;
use crate::print::charts::{self, Drawn, Packages, Request};
use crate::print::downloads;
use crate::print::escape::html;
use crate::print::render;
use crate::print::view::View;
use crate::say;

/// What a figure is made of. Texts that are HTML have been escaped.
pub struct Figure<'a> {
    /// Its anchor, and what a live chart of it is called.
    pub name: &'a str,
    /// The name of its files for download.
    pub file: String,
    /// The specification in `book/charts`.
    pub shape: &'a str,
    /// What it compares, in a few words.
    pub title: &'a str,
    /// What it shows, to be read aloud.
    pub spoken: String,
    /// What is drawn, each a mark.
    pub marks: Vec<Value>,
    /// The titles of its axes, each with the word that stands for it in the specification.
    pub titles: Vec<(&'a str, String)>,
    /// What it found, as HTML, if that can be said.
    pub finding: String,
    /// What its marks mean, as HTML.
    pub key: String,
    /// What stands under it, as HTML.
    pub caption: String,
    /// A box with what other programs took than those that are shown, as HTML.
    pub stale: String,
    /// Every number, as HTML.
    pub table: String,
    pub csv: String,
    /// How to cite it, as HTML.
    pub cite: String,
}

impl Figure<'_> {
    /// The figure for a page: where it cannot be drawn, the table is open instead.
    pub fn page(&self, view: &View) -> Result<String> {
        let request = self.request(view)?;
        let pictures = match self.marks.is_empty() {
            true => render::boxed(&Missing::new("no chart", "none of its rows is measured; the table says why")),
            false => pictures_or_why(view, &request, Packages::AsTheyAre),
        };
        let open = if self.marks.is_empty() || view.output.undrawn.get() { " open" } else { "" };
        let path = format!("{}/{}", view.machine.slug(), self.file);
        // Where nothing was measured there is nothing to look into.
        let live = match self.marks.is_empty() {
            true => String::new(),
            false => format!(" data-live=\"{}\"", write_live(view, &path, self.name, &request)?),
        };
        let specification = write_specification(view, &path, &request)?;
        let csv = downloads::write(view, &format!("{path}.csv"), &self.csv)?;
        let Self { name, finding, key, stale, caption, table, .. } = self;
        let finding = if finding.is_empty() { String::new() } else { format!("<p class=\"finding\">{finding}</p>\n") };
        Ok(format!(
            "<figure class=\"figure\" id=\"{name}\" data-chart=\"{name}\"{live}>\n{finding}<p class=\"marks\">{key}\
             </p>\n{stale}{pictures}<figcaption>{caption}</figcaption>\n\
             <details class=\"numbers\"{open}>\n<summary>All numbers, and where each comes from</summary>\n{table}{}\
             </details>\n</figure>\n",
            self.small(&csv, &specification)
        ))
    }

    /// Its picture by itself, with colours of its own on white.
    pub fn standalone(&self, view: &View) -> Result<String> {
        let mut request = self.request(view)?;
        // What leads to a page leads nowhere from here.
        charts::take_links(&mut request.wide);
        let drawn = view.output.pencil.draw(&view.project, &request, Packages::Fetch)?;
        charts::standalone(&view.project, &drawn.wide)
    }

    fn request(&self, view: &View) -> Result<Request> {
        let description = format!("{} The table below it has every number.", self.spoken);
        let aloud = format!("{}. {description}", self.title);
        let titles: Vec<(&str, &str)> = self.titles.iter().map(|(word, title)| (*word, title.as_str())).collect();
        let [wide, narrow] = charts::specifications(&view.project, self.shape, &self.marks, &titles, &aloud)?;
        Ok(Request { prefix: self.name.to_owned(), title: self.title.to_owned(), description, wide, narrow })
    }

    fn small(&self, csv: &str, specification: &str) -> String {
        let links = [("data (CSV)", csv), ("specification", specification)];
        let links = links.map(|(name, file)| format!("<a href=\"{file}\" download>{name}</a>"));
        let command = format!("<code class=\"command\">cargo tally figure {}</code>", html(self.name));
        downloads::small_letters(&[&links[..], &[command]].concat(), &self.cite)
    }
}

/// Both drawings, of which a page shows the one that it has room for.
fn pictures(drawn: &Drawn) -> String {
    format!(
        "<div class=\"picture wide-only\">{}</div>\n<div class=\"picture narrow-only\">{}</div>\n",
        drawn.wide, drawn.narrow
    )
}

/// Both drawings, or a box that says why there are none.
pub fn pictures_or_why(view: &View, request: &Request, packages: Packages) -> String {
    match view.output.pencil.draw(&view.project, request, packages) {
        Ok(drawn) => pictures(&drawn),
        Err(error) => {
            say!("tally: warning: {error:#}");
            view.output.undrawn.set(true);
            render::boxed(&Missing::new("no chart", format!("{error}")))
        }
    }
}

/// Writes the specification of the wide drawing, with its rows; its path from a page.
pub fn write_specification(view: &View, path: &str, request: &Request) -> Result<String> {
    let mut specification = request.wide.clone();
    charts::take_links(&mut specification);
    downloads::write(view, &format!("{path}.vl.json"), &(serde_json::to_string_pretty(&specification)? + "\n"))
}

/// Writes what a chart's live view needs; its path from a page. It is a script and not JSON,
/// because a page that was opened from a folder may load only scripts.
pub fn write_live(view: &View, path: &str, name: &str, request: &Request) -> Result<String> {
    let both = serde_json::json!({ "wide": charts::live(&request.wide), "narrow": charts::live(&request.narrow) });
    downloads::write(view, &format!("{path}.live.js"), &format!("(window.charts ??= {{}})[{name:?}] = {both};\n"))
}
