//! Code and cells in Markdown, whatever is in them: what encloses code is longer than any backquotes there.

use std::iter;

/// A block of code.
pub(crate) fn block(language: &str, content: &str) -> String {
    let fence = "`".repeat(longest(content).max(2) + 1);
    let end = if content.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{content}{end}{fence}\n")
}

/// Code in a line.
pub(crate) fn code(content: &str) -> String {
    let fence = "`".repeat(longest(content) + 1);
    let is_close = content.starts_with('`') || content.ends_with('`');
    let gap = if is_close { " " } else { "" };
    format!("{fence}{gap}{content}{gap}{fence}")
}

/// What is in a cell of a table.
pub(crate) fn cell(content: &str) -> String {
    content.replace('|', "\\|")
}

fn longest(content: &str) -> usize {
    quotes(content).map(|(_, length)| length).max().unwrap_or(0)
}

/// Where backquotes are, and how many next to each other.
pub(crate) fn quotes(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    iter::from_fn(move || {
        let start = at + text[at..].find('`')?;
        let rest = &text[start..];
        let length = rest.len() - rest.trim_start_matches('`').len();
        at = start + length;
        Some((start, length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_code_ends_it() {
        assert_eq!(block("sh", "ls"), "```sh\nls\n```\n");
        assert_eq!(block("", "````\n"), "`````\n````\n`````\n");
        assert_eq!(code("ls"), "`ls`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`ls`"), "`` `ls` ``");
        assert_eq!(cell("a|b"), "a\\|b");
    }
}
