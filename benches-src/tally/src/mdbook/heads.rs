//! What a link to a page shows elsewhere: the page's question, its finding, and a picture of its
//! first figure with the machine's name on it.
//!
//! mdBook has one description for all pages. So a head of its own, which says it for each page by
//! the page's path, is put where mdBook looks for one when it renders.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result};
use regex::Regex;

use crate::print::charts;
use crate::print::downloads::BOOK;
use crate::print::escape::{html, identifier};
use crate::print::view::View;
use crate::record::private::literal;
use crate::say;

/// What a page is about, as HTML without marks.
pub struct Head {
    /// The page's path from the book's source on.
    path: String,
    title: String,
    /// Its finding, or how it begins.
    finding: String,
    machine: String,
    figure: Option<String>,
}

/// The longest description that previews show whole.
const LONGEST_DESCRIPTION: usize = 300;

impl Head {
    /// Of a page whose directives have printed.
    pub fn of(path: &Path, content: &str) -> Self {
        let title = content.lines().find_map(|line| line.strip_prefix("# ")).map_or(String::new(), html);
        let finding = paragraph(content, "lead").or_else(|| paragraph(content, "finding"));
        let shown = paragraph(content, "shown").unwrap_or_default();
        let machine = shown.replace("The numbers on this page are from ", "").replace("More about it", "");
        let figure =
            content.split_once("<div class=\"picture wide-only\">").and_then(|(_, rest)| rest.split_once("</div>"));
        Self {
            path: path.to_string_lossy().into_owned(),
            title,
            finding: shortened(&finding.unwrap_or_else(|| first_words(content)), LONGEST_DESCRIPTION),
            machine: machine.trim().to_owned(),
            figure: figure.map(|(svg, _)| svg.to_owned()),
        }
    }

    /// Its part of the head of all pages. A preview fetches a picture by its whole address, so that
    /// there is none where nobody knows it.
    fn tags(&self, view: &View, site: Option<&str>) -> String {
        let (title, finding) = (&self.title, &self.finding);
        let mut tags = format!(
            "<meta name=\"description\" content=\"{finding}\">\n<meta property=\"og:title\" content=\"{title}\">\n\
             <meta property=\"og:description\" content=\"{finding}\">\n<meta property=\"og:type\" \
             content=\"article\">\n\
             <meta property=\"og:site_name\" content=\"{BOOK}\">\n"
        );
        let Some(site) = site.map(html) else { return tags };
        let page = self.path.replace(".md", ".html");
        tags += &format!("<meta property=\"og:url\" content=\"{site}{page}\">\n");
        if let Some(picture) = self.picture(view) {
            tags += &format!(
                "<meta property=\"og:image\" content=\"{site}{picture}\">\n<meta property=\"og:image:width\" \
                 content=\"{WIDTH}\">\n\
                 <meta property=\"og:image:height\" content=\"{HEIGHT}\">\n<meta property=\"og:image:alt\" \
                 content=\"{finding}\">\n\
                 <meta name=\"twitter:card\" content=\"summary_large_image\">\n"
            );
        }
        tags
    }

    /// Draws its picture and puts it among the files for download; its path from the site's root. A
    /// page without a figure has none.
    fn picture(&self, view: &View) -> Option<String> {
        let card = self.card(view).transpose()?;
        let name = format!("{}/{}.png", pictures(view), identifier(self.path.trim_end_matches(".md")));
        let to = view.project.generated().join(&name);
        match card.and_then(|svg| view.output.pencil.card(&view.project, &svg, &to)) {
            Ok(()) => Some(format!("generated/{name}")),
            Err(error) => {
                say!("tally: warning: links to {} show no picture: {error:#}", self.path);
                None
            }
        }
    }

    /// The picture: the finding, the figure, and whose numbers they are.
    fn card(&self, view: &View) -> Result<Option<String>> {
        let Some(figure) = &self.figure else { return Ok(None) };
        let figure = charts::standalone(&view.project, figure)?;
        let lines = wrapped(if self.finding.is_empty() { &self.title } else { &self.finding }, LETTERS, LINES);
        let spoken = lines.iter().enumerate().map(|(nth, line)| {
            format!(
                "<text x=\"60\" y=\"{}\" font-size=\"34\" font-weight=\"bold\" fill=\"#222\">{line}</text>",
                80 + 44 * nth
            )
        });
        let top = 70 + 44 * lines.len();
        let room = HEIGHT as usize - top - 70;
        let place = format!(
            "<svg x=\"60\" y=\"{top}\" width=\"1080\" height=\"{room}\" preserveAspectRatio=\"xMinYMid meet\" "
        );
        Ok(Some(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\"><rect width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" fill=\"#fff\"/>{}{}\
             <text x=\"60\" y=\"600\" font-size=\"20\" fill=\"#555\">{BOOK} {}</text></svg>",
            spoken.collect::<String>(),
            without_size(&figure).replacen("<svg ", &place, 1),
            shortened(&self.machine, 80)
        )))
    }
}

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 630;

/// So many letters of the finding have room in a line, and so many lines.
const LETTERS: usize = 52;
const LINES: usize = 3;

/// A picture's own size would win over the room that it is given.
fn without_size(svg: &str) -> String {
    static SIZE: LazyLock<Regex> = LazyLock::new(|| literal("^<svg ([^>]*?) width=\"[0-9.]+\" height=\"[0-9.]+\""));
    SIZE.replace(svg, "<svg $1").into_owned()
}

/// The text of the first paragraph of this class, without marks.
fn paragraph(content: &str, class: &str) -> Option<String> {
    let (_, rest) = content.split_once(&format!("<p class=\"{class}\">"))?;
    let text = without_marks(rest.split_once("</p>")?.0);
    Some(text).filter(|text| !text.is_empty())
}

/// How a page begins that has no finding: its first paragraph of prose.
fn first_words(content: &str) -> String {
    let is_prose = |block: &&str| block.starts_with(|first: char| first.is_alphabetic() || first == '"');
    static LINKS: LazyLock<Regex> = LazyLock::new(|| literal(r"\[([^\]]*)\]\([^)]*\)"));
    let first = content.split("\n\n").map(str::trim).find(is_prose).unwrap_or_default();
    html(&LINKS.replace_all(&without_marks(first), "$1").replace(['*', '`', '_'], ""))
}

fn without_marks(text: &str) -> String {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| literal("<[^>]*>"));
    MARKS.replace_all(text, "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// No longer than so many letters, and cut between words.
fn shortened(text: &str, most: usize) -> String {
    wrapped(text, most, 1).pop().unwrap_or_default()
}

/// In lines of so many letters at most. What does not fit into so many lines is cut off, and says
/// so.
fn wrapped(text: &str, letters: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        lines.last_mut().expect("there is a line").push('…');
    }
    lines
}

/// Where the pictures lie, among the files for download.
fn pictures(view: &View) -> String {
    format!("{}/pictures", view.machine.slug())
}

/// Writes the head of all pages, and only if it differs, so that `mdbook serve` is not set off by
/// itself. `address` is where the site is published, or nothing.
pub fn write(view: &View, heads: &[Head], address: &str) -> Result<()> {
    let address = address.trim_end_matches('/');
    let site = (!address.is_empty()).then(|| format!("{address}/"));
    let pictures = view.project.generated().join(pictures(view));
    if site.is_none() && pictures.exists() {
        // Of a build that had an address; mdBook would publish them with the rest.
        fs::remove_dir_all(&pictures).with_context(|| format!("cannot remove {}", pictures.display()))?;
    }
    let of_page = |head: &Head| {
        // The first page is the index as well.
        let index = if head.path == FIRST { " (eq path \"index.md\")" } else { " false" };
        let tags = head.tags(view, site.as_deref());
        format!("{{{{#if (or (eq path \"{}\"){index})}}}}\n{tags}{{{{/if}}}}\n", head.path)
    };
    let text: String = heads.iter().map(of_page).collect();
    let path = view.project.head();
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let put = || {
        fs::create_dir_all(path.parent().expect("a file lies in a folder"))?;
        fs::write(&path, text)
    };
    put().with_context(|| format!("cannot write {}; is it writable, and is the disk full?", path.display()))
}

/// The page that mdBook shows as the index too.
const FIRST: &str = "introduction.md";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_described_by_its_finding_or_by_how_it_begins() {
        let page =
            "# What does <it> cost?\n\n<p class=\"lead\">A task is <a href=\"x\">34×</a> cheaper.</p>\n\nProse.\n";
        let head = Head::of(Path::new("a/b.md"), page);
        assert_eq!(
            (head.title.as_str(), head.finding.as_str()),
            ("What does &#60;it&#62; cost?", "A task is 34× cheaper.")
        );
        let head = Head::of(Path::new("a.md"), "# Cite\n\nHow to [quote](x.md) a *number*.\n");
        assert_eq!((head.finding.as_str(), head.figure), ("How to quote a number.", None));
    }

    #[test]
    fn lines_are_cut_between_words_and_say_that_they_are() {
        assert_eq!(wrapped("one two three", 7, 2), ["one two", "three"]);
        assert_eq!(wrapped("one two three four", 7, 1), ["one two…"]);
        assert_eq!(shortened("", 10), "");
    }

    #[test]
    fn a_picture_takes_the_room_that_it_is_given() {
        assert_eq!(
            without_size("<svg role=\"img\" width=\"10\" height=\"2.5\" viewBox=\"0 0 10 2\">"),
            "<svg role=\"img\" viewBox=\"0 0 10 2\">"
        );
    }
}
