//! Text in HTML and XML.

use std::fmt::Write;

use culprit_model::clean;

use super::markdown::quotes;

/// Text as HTML or XML, between tags and in attributes. Line feeds and tabs are kept.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in clean::block(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A line of Markdown as HTML: code between backquotes, and escaped characters.
pub fn prose(text: &str) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['`', '\\']) {
        html.push_str(&escape(&rest[..start]));
        rest = &rest[start..];
        if let Some(behind) = rest.strip_prefix('\\') {
            let escaped = behind.chars().next().filter(char::is_ascii_punctuation);
            let shown = escaped.unwrap_or('\\');
            html.push_str(&escape(shown.encode_utf8(&mut [0; 4])));
            rest = &behind[escaped.map_or(0, char::len_utf8)..];
            continue;
        }
        let inside = rest.trim_start_matches('`');
        let length = rest.len() - inside.len();
        let closing = quotes(inside).find(|(_, other)| *other == length);
        let Some((end, _)) = closing else {
            // Those that nothing closes are characters.
            html.push_str(&rest[..length]);
            rest = inside;
            continue;
        };
        let code = &inside[..end];
        let bare = code.strip_prefix(' ').and_then(|it| it.strip_suffix(' '));
        let code = bare.filter(|_| length > 1).unwrap_or(code);
        // Writing to a text cannot fail.
        let _ = write!(html, "<code>{}</code>", escape(code));
        rest = &inside[end + length..];
    }
    html.push_str(&escape(rest));
    html
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::markup::markdown::{code, plain};

    #[test]
    fn code_is_told_from_prose() {
        assert_eq!(prose("`a < b` is so"), "<code>a &lt; b</code> is so");
        assert_eq!(prose("a ` b"), "a ` b");
        assert_eq!(prose("``a`b`` is"), "<code>a`b</code> is");
        assert_eq!(prose(&code("`ls`")), "<code>`ls`</code>");
        assert_eq!(prose("a\\`b\\\\ \\x"), "a`b\\ \\x");
    }

    proptest! {
        #[test]
        fn plain_text_is_the_same_in_markdown_and_html(text in any::<String>()) {
            let escaped = escape(&clean::line(&text));
            prop_assert_eq!(prose(&plain(&text)), escaped);
        }

        #[test]
        fn no_tag_and_no_harmful_character_is_left(text in any::<String>()) {
            let html = escape(&text);
            let is_bad = |c| c != '\n' && c != '\t' && clean::is_harmful(c);
            prop_assert!(!html.contains(['<', '>', '"', '\'']) && !html.contains(is_bad));
        }
    }
}
