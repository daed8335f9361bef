//! Text in Markdown, whatever is in it: code is enclosed by more backquotes than it contains, and
//! prose has its markup escaped.

use std::iter;

use culprit_model::clean;

/// Characters of a text that could begin markup anywhere in a line: code, HTML, links, entities,
/// and escapes of these.
const MARKUP: [char; 5] = ['\\', '`', '<', '[', '&'];

/// A block of code.
pub fn block(language: &str, content: &str) -> String {
    let content = clean::block(content);
    let fence = "`".repeat(longest(&content).max(2) + 1);
    let end = if content.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{content}{end}{fence}\n")
}

/// Code in a line.
pub fn code(content: &str) -> String {
    let content = clean::line(content);
    let fence = "`".repeat(longest(&content) + 1);
    let is_close = content.starts_with('`') || content.ends_with('`');
    let gap = if is_close { " " } else { "" };
    format!("{fence}{gap}{content}{gap}{fence}")
}

/// A text on one line, in which nothing is markup. It does not stand at the beginning of a line.
pub fn plain(content: &str) -> String {
    let content = clean::line(content);
    let mut out = String::with_capacity(content.len());
    for c in content.chars() {
        if MARKUP.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Code or plain text as the content of a cell of a table.
pub fn cell(content: &str) -> String {
    content.replace('|', "\\|")
}

fn longest(content: &str) -> usize {
    quotes(content).map(|(_, length)| length).max().unwrap_or(0)
}

/// Where backquotes are, and how many next to each other.
pub fn quotes(text: &str) -> impl Iterator<Item = (usize, usize)> {
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_in_code_ends_it() {
        assert_eq!(block("sh", "ls"), "```sh\nls\n```\n");
        assert_eq!(block("", "````\n"), "`````\n````\n`````\n");
        assert_eq!(code("ls"), "`ls`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`ls`"), "`` `ls` ``");
        assert_eq!(code("a\n\n# b\u{1b}"), "`a\\n\\n# b\\u001b`");
        assert_eq!(cell("a|b"), "a\\|b");
    }

    #[test]
    fn nothing_in_plain_text_is_markup() {
        let text = "<img src=x> [a](b) `c` &#27; \\<b>\n# d\u{202e}";
        let expect = "\\<img src=x> \\[a](b) \\`c\\` \\&#27; \\\\\\<b>\\\\n# d\\\\u202e";
        assert_eq!(plain(text), expect);
        assert_eq!(plain("Cart.add (Cart.java:14)"), "Cart.add (Cart.java:14)");
    }

    proptest! {
        #[test]
        fn no_harmful_character_is_left(text in any::<String>()) {
            for shown in [code(&text), plain(&text)] {
                prop_assert!(!shown.contains(clean::is_harmful));
            }
            let is_bad = |c| c != '\n' && c != '\t' && clean::is_harmful(c);
            prop_assert!(!block("", &text).contains(is_bad));
        }
    }
}
