//! A table as data: its HTML for a page, and its lines of CSV for download.

use crate::print::escape::html;
use crate::print::render;
use crate::statistics::Estimate;

/// A page's table. Its texts are HTML, which have been escaped.
pub struct Table {
    /// What is said aloud of the box in which it scrolls.
    label: String,
    /// Its id or class, after a space.
    attributes: &'static str,
    caption: Option<String>,
    /// What stands above its columns, each a cell.
    heads: Vec<String>,
    /// Its bodies, each with its rows.
    bodies: Vec<String>,
    /// The id of the first of them.
    anchor: Option<String>,
}

/// A cell of a page's table, which is a number unless it says otherwise.
pub struct Cell(String);

impl Cell {
    /// What has been escaped.
    pub fn html(html: impl AsRef<str>) -> Self {
        Self::with("", html)
    }

    /// Text, which is escaped.
    pub fn text(text: &str) -> Self {
        Self::html(html(text))
    }

    /// Words, which break where they are long.
    pub fn words(html: impl AsRef<str>) -> Self {
        Self::with(" class=\"none\"", html)
    }

    /// With attributes, each after a space.
    pub fn with(attributes: &str, html: impl AsRef<str>) -> Self {
        Self(format!("<td{attributes}>{}</td>", html.as_ref()))
    }

    /// Where there is nothing to say.
    pub fn empty() -> Self {
        Self::html("")
    }
}

impl Table {
    /// A table without rows, which is called by its label. Label and heads are escaped here.
    pub fn new(label: &str, heads: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let head = |text| format!("<th scope=\"col\">{}</th>", html(AsRef::as_ref(&text)));
        let heads = heads.into_iter().map(head).collect();
        Self { label: html(label), attributes: "", caption: None, heads, bodies: vec![String::new()], anchor: None }
    }

    /// With an id or a class, after a space.
    pub fn with(self, attributes: &'static str) -> Self {
        Self { attributes, ..self }
    }

    /// With a caption, as HTML.
    pub fn captioned(self, caption: String) -> Self {
        Self { caption: Some(caption), ..self }
    }

    /// The same of which the column of rows' names has no head.
    pub fn without_corner(mut self) -> Self {
        self.heads.insert(0, "<td></td>".to_owned());
        self
    }

    /// With a row, whose name is HTML.
    pub fn row(&mut self, name: impl AsRef<str>, cells: impl IntoIterator<Item = Cell>) {
        self.row_with("", name, cells);
    }

    /// With a row that has attributes, each after a space.
    pub fn row_with(&mut self, attributes: &str, name: impl AsRef<str>, cells: impl IntoIterator<Item = Cell>) {
        let cells: String = cells.into_iter().map(|Cell(html)| html).collect();
        let row = format!("<tr{attributes}><th scope=\"row\">{}</th>{cells}</tr>\n", name.as_ref());
        *self.bodies.last_mut().expect("it has one from the beginning") += &row;
    }

    /// The rows that follow belong together, and have this name above them. A head is that of all
    /// rows of its own body.
    pub fn group(&mut self, name: &str) {
        let head = format!("<tr><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>\n", self.heads.len(), html(name));
        match self.bodies.last_mut() {
            Some(empty) if empty.is_empty() => *empty = head,
            _ => self.bodies.push(head),
        }
    }

    /// With an id of its body, which is one.
    pub fn anchored(self, id: String) -> Self {
        Self { anchor: Some(id), ..self }
    }

    /// All of it.
    pub fn page(&self) -> String {
        let Self { label, attributes, caption, heads, bodies, anchor } = self;
        let caption = caption.iter().map(|caption| format!("<caption><span>{caption}</span></caption>\n"));
        let caption: String = caption.collect();
        let heads = match heads.is_empty() {
            true => String::new(),
            false => format!("<thead><tr>{}</tr></thead>\n", heads.concat()),
        };
        let mut anchor = anchor.as_ref().map(|id| format!(" id=\"{id}\""));
        let body = |rows: &String| format!("<tbody{}>\n{rows}</tbody>\n", anchor.take().unwrap_or_default());
        let bodies: String = bodies.iter().map(body).collect();
        render::wide(label) + &format!("<table{attributes}>\n{caption}{heads}{bodies}</table>\n</div>\n")
    }
}

/// The heads of the columns of [`csv_numbers`].
pub fn csv_heads(name: &str) -> [String; 3] {
    ["", "_low", "_high"].map(|end| format!("{name}{end}"))
}

/// A median and its interval's ends, unrounded, as far as there are any.
pub fn csv_numbers(estimate: Option<Estimate>) -> [String; 3] {
    let (low, high) = estimate.and_then(|estimate| estimate.interval).unzip();
    let numbers = [estimate.map(|estimate| estimate.median), low, high];
    numbers.map(|number| number.map_or(String::new(), |number| number.to_string()))
}

/// Lines of CSV. What a spreadsheet would take for a formula gets a leading apostrophe.
pub fn csv<Line: IntoIterator<Item = String>>(lines: impl IntoIterator<Item = Line>) -> String {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for line in lines {
        let fields = line.into_iter().map(disarmed);
        writer.write_record(fields.collect::<Vec<_>>()).expect("there is room in memory");
    }
    String::from_utf8(writer.into_inner().expect("there is room in memory")).expect("its fields are text")
}

fn disarmed(text: String) -> String {
    let is_number = text.parse::<f64>().is_ok();
    if text.starts_with(['=', '+', '-', '@']) && !is_number { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_need_it_are_quoted_and_formulas_are_disarmed() {
        let line = ["a[b, c]", "say \"x\"\n", "=1+1", "-3.5"].map(str::to_owned);
        assert_eq!(csv([line]), "\"a[b, c]\",\"say \"\"x\"\"\n\",'=1+1,-3.5\n");
    }

    #[test]
    fn rows_stand_in_groups_each_a_body_of_its_own() {
        let mut table = Table::new("a & b", ["one"]).without_corner().captioned("why".to_owned());
        table.group("first");
        table.row("x", [Cell::text("<1>")]);
        table.group("second");
        table.row_with(" id=\"y\"", "y", [Cell::empty()]);
        let group = |name| format!("<tbody>\n<tr><th colspan=\"2\" scope=\"rowgroup\">{name}</th></tr>\n");
        let expected = [
            &render::wide("a &#38; b"),
            "<table>\n<caption><span>why</span></caption>\n",
            "<thead><tr><td></td><th scope=\"col\">one</th></tr></thead>\n",
            &group("first"),
            "<tr><th scope=\"row\">x</th><td>&#60;1&#62;</td></tr>\n</tbody>\n",
            &group("second"),
            "<tr id=\"y\"><th scope=\"row\">y</th><td></td></tr>\n</tbody>\n</table>\n</div>\n",
        ];
        assert_eq!(table.page(), expected.concat());
    }
}
