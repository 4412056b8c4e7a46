//! Known answers.

use super::pages::typed;

#[test]
fn figures_are_found_where_they_are_neither_quoted_nor_settings() {
    for (text, lines) in [
        ("# A\n\nIt takes 4.9 µs.", &[3][..]),
        ("It takes 2 s,\n17 % more, 3.5 times as long", &[1, 2]),
        ("\"It takes\n2 s\", `sleep 2 s`, its 95 % interval, within\n2 %, ±5 % and 64 bytes of the 1990s", &[]),
        ("```sh\nsleep 1 s\n\n```\n<!-- cmdrun tally value \"a[free]\" -->\nIt takes 1 s", &[6]),
        ("An inch is 1\".\n\n\"It takes 2 s\", and 3 s", &[1, 3]),
    ] {
        let found: Vec<usize> = typed(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(found, lines, "{text}");
    }
}
