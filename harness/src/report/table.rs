//! Columns that stand under each other.

use unicode_width::UnicodeWidthStr as _;

/// Puts rows into columns, two spaces apart; the columns of `right` stand at the right of theirs. Lines have no trailing
/// space.
pub(crate) fn table(rows: &[Vec<String>], right: impl Fn(usize) -> bool) -> Vec<String> {
    spaced(rows, 2, right)
}

/// As [`table`], with so many spaces between the columns.
pub(crate) fn spaced(
    rows: &[Vec<String>],
    gap: usize,
    right: impl Fn(usize) -> bool,
) -> Vec<String> {
    let gap = " ".repeat(gap);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        })
        .collect();
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column > 0 {
                    line.push_str(&gap);
                }
                let space = " ".repeat(width.saturating_sub(cell.width()));
                if right(column) {
                    line.push_str(&space);
                    line.push_str(cell);
                } else {
                    line.push_str(cell);
                    line.push_str(&space);
                }
            }
            line.truncate(line.trim_end().len());
            line
        })
        .collect()
}

/// Breaks a text at spaces into lines of at most `width` columns; a word that is longer stands alone.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // One space at a time, so that several in a quoted text stay.
    for word in text.trim().split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let lines = table(&[row(["a", "10", "x"]), row(["über", "1", ""])], |column| {
            column == 1
        });
        assert_eq!(lines, ["a     10  x", "über   1"]);
    }

    #[test]
    fn a_long_word_stands_alone() {
        assert_eq!(wrapped("a bb ccccccc d", 4), ["a bb", "ccccccc", "d"]);
    }
}
