//! Source code of Java and Kotlin in HTML, with its keywords, literals and comments marked.

use super::html::escape;

/// Words that Java or Kotlin reserve, as far as tests contain them.
const KEYWORDS: [&str; 48] = [
    "abstract",
    "as",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "continue",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "fun",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "int",
    "interface",
    "is",
    "long",
    "new",
    "null",
    "object",
    "override",
    "package",
    "private",
    "public",
    "return",
    "short",
    "static",
    "super",
    "this",
    "throw",
    "throws",
    "true",
    "try",
    "var",
    "void",
];

/// A piece of source code: a class of the style sheet, or none, and the length of its text.
type Piece = (Option<&'static str>, usize);

/// Source code as HTML.
pub(crate) fn source(text: &str) -> String {
    let mut html = String::with_capacity(2 * text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (class, length) = piece(rest);
        let (shown, behind) = rest.split_at(length);
        html.push_str(&marked(class, shown));
        rest = behind;
    }
    html
}

/// Lines of source code as HTML, each on its own. They may begin and end within a comment.
pub(crate) fn source_lines(lines: &[&str]) -> Vec<String> {
    let text = lines.join("\n");
    // A comment that ends without a beginning began before.
    let end = text.find("*/").map(|end| end + "*/".len());
    let begun = end.filter(|end| !text[..*end].contains("/*") && !text[..*end].contains('"'));
    let begun = begun.unwrap_or(0);
    let mut html = vec![String::new()];
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (class, length) = match rest.len() == text.len() && begun > 0 {
            true => (Some("c"), begun),
            false => piece(rest),
        };
        let (shown, behind) = rest.split_at(length);
        for (number, part) in shown.split('\n').enumerate() {
            if number > 0 {
                html.push(String::new());
            }
            if let (Some(line), false) = (html.last_mut(), part.is_empty()) {
                line.push_str(&marked(class, part));
            }
        }
        rest = behind;
    }
    html
}

/// A piece as HTML.
fn marked(class: Option<&str>, text: &str) -> String {
    match class {
        Some(class) => format!("<span class=\"{class}\">{}</span>", escape(text)),
        None => escape(text),
    }
}

/// The piece that a text begins with.
fn piece(text: &str) -> Piece {
    let while_in = |is_part: fn(char) -> bool| text.find(|c| !is_part(c)).unwrap_or(text.len());
    let is_part_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let first = text.chars().next().unwrap_or(' ');
    match first {
        _ if text.starts_with("//") => (Some("c"), text.find('\n').unwrap_or(text.len())),
        _ if text.starts_with("/*") => (Some("c"), up_to(text, 2, "*/")),
        _ if text.starts_with("\"\"\"") => (Some("s"), up_to(text, 3, "\"\"\"")),
        '"' | '\'' => (Some("s"), literal(text, first)),
        '@' => {
            let name = text[1..].find(|c: char| !is_part_of_word(c) && c != '.');
            (Some("a"), name.map_or(text.len(), |end| end + 1))
        }
        '0'..='9' => (
            Some("n"),
            while_in(|c| c.is_alphanumeric() || c == '.' || c == '_'),
        ),
        _ if is_part_of_word(first) => {
            let end = while_in(|c| c.is_alphanumeric() || c == '_' || c == '$');
            let is_keyword = KEYWORDS.binary_search(&&text[..end]).is_ok();
            (is_keyword.then_some("k"), end)
        }
        other => (None, other.len_utf8()),
    }
}

/// The length of a text up to the end of a closing mark, which is looked for behind so many bytes.
fn up_to(text: &str, from: usize, closing: &str) -> usize {
    let end = text[from..].find(closing);
    end.map_or(text.len(), |end| from + end + closing.len())
}

/// The length of a literal on one line.
fn literal(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\n' => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_literals_and_comments_are_marked() {
        let html = source("@Test void a() { b(\"new \\\" <\", 'x', 0x1fL, null); } // new\n");
        assert_eq!(
            html,
            "<span class=\"a\">@Test</span> <span class=\"k\">void</span> a() { \
             b(<span class=\"s\">&quot;new \\&quot; &lt;&quot;</span>, <span class=\"s\">&#39;x&#39;</span>, \
             <span class=\"n\">0x1fL</span>, <span class=\"k\">null</span>); } <span class=\"c\">// new</span>\n"
        );
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn lines_have_their_own_marks_within_a_comment() {
        let lines = ["end of it */ int a;", "/* one", "", "two */ \"x\""];
        let expect = [
            "<span class=\"c\">end of it */</span> <span class=\"k\">int</span> a;",
            "<span class=\"c\">/* one</span>",
            "",
            "<span class=\"c\">two */</span> <span class=\"s\">&quot;x&quot;</span>",
        ];
        assert_eq!(source_lines(&lines), expect);
        assert_eq!(source_lines(&["a", ""]), ["a", ""]);
        assert_eq!(source_lines(&["/*/ a"]), ["<span class=\"c\">/*/ a</span>"]);
    }

    proptest! {
        #[test]
        fn there_are_as_many_lines_as_before(lines in prop::collection::vec("[a\"/* '\\\\]{0,9}", 1..6)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            prop_assert_eq!(source_lines(&lines).len(), lines.len());
        }

        #[test]
        fn the_text_stays_as_it_is(text in "[a-z\"'/*@\\\\\n 0-9<é-]{0,60}") {
            let mut plain = source(&text).replace("</span>", "");
            for class in ["a", "c", "k", "n", "s"] {
                plain = plain.replace(&format!("<span class=\"{class}\">"), "");
            }
            prop_assert_eq!(plain, escape(&text));
        }
    }
}
