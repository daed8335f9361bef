//! Tables as Markdown that is readable as text too, and the place of results in a document.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

const BEGIN: &str = "<!-- results: begin -->";
const END: &str = "<!-- results: end -->";

/// Appends a table. The first row is its head; so many columns are names and stand to the left,
/// the others are numbers and stand to the right.
pub fn table(out: &mut String, rows: &[Vec<String>], names: usize) -> std::fmt::Result {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (n, row) in rows.iter().enumerate() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match column < names {
                true => write!(out, "| {cell:width$} ")?,
                false => write!(out, "| {cell:>width$} ")?,
            }
        }
        writeln!(out, "|")?;
        if n == 0 {
            for (column, width) in widths.iter().enumerate() {
                let end = if column < names { '-' } else { ':' };
                write!(out, "|-{}{end}", "-".repeat(*width))?;
            }
            writeln!(out, "|")?;
        }
    }
    Ok(())
}

/// A number with a comma after each thousand.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Puts the results into the document, between its marks.
pub fn write_into(document: &Path, results: &str) -> anyhow::Result<()> {
    let text = fs::read_to_string(document)
        .with_context(|| format!("cannot read {}", document.display()))?;
    fs::write(document, replaced(&text, results)?)
        .with_context(|| format!("cannot write {}", document.display()))
}

fn replaced(text: &str, results: &str) -> anyhow::Result<String> {
    let begin = text.find(BEGIN).map(|at| at + BEGIN.len());
    let end = text.find(END);
    let (Some(begin), Some(end)) = (begin, end) else {
        anyhow::bail!("the document lacks the marks {BEGIN} and {END}");
    };
    ensure!(
        begin <= end,
        "the marks of the document are in the wrong order"
    );
    Ok(format!(
        "{}\n\n{}\n\n{}",
        &text[..begin],
        results.trim(),
        &text[end..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_to_the_left_and_numbers_to_the_right() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let mut out = String::new();
        let rows = [row(["of", "count"]), row(["längst", "7"])];
        table(&mut out, &rows, 1).unwrap();
        assert_eq!(
            out,
            "| of     | count |\n|--------|------:|\n| längst |     7 |\n"
        );
    }

    #[test]
    fn results_stand_between_the_marks() {
        let text = format!("# Title\n\n{BEGIN}\nold\n{END}\nend\n");
        let expect = format!("# Title\n\n{BEGIN}\n\nnew\n\n{END}\nend\n");
        assert_eq!(replaced(&text, "new\n").unwrap(), expect);
        assert!(replaced("nothing", "new").is_err());
    }
}
