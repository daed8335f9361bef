//! Languages whose syntax is known, by grammars of tree-sitter. All of them sit behind this module.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};
use tree_sitter_language::LanguageFn;

/// Larger files are not read as a language: their tree would take too much memory.
const LARGEST: usize = 16 << 20;

/// A language with a grammar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Language {
    C,
    Cpp,
    Html,
    Java,
    JavaScript,
    Json,
    Kotlin,
    Python,
    Rust,
    Sql,
    Xml,
    Yaml,
}

/// Name, endings of files, the grammar, and what it says of its nodes.
type GrammarRow = (
    Language,
    &'static str,
    &'static [&'static str],
    LanguageFn,
    &'static str,
);

const ALL: [GrammarRow; 12] = [
    (
        Language::C,
        "c",
        &["c", "h", "i"],
        tree_sitter_c::LANGUAGE,
        tree_sitter_c::NODE_TYPES,
    ),
    (
        Language::Cpp,
        "cpp",
        &["cc", "cpp", "cxx", "hh", "hpp", "hxx", "ii"],
        tree_sitter_cpp::LANGUAGE,
        tree_sitter_cpp::NODE_TYPES,
    ),
    (
        Language::Html,
        "html",
        &["html", "htm", "xhtml"],
        tree_sitter_html::LANGUAGE,
        tree_sitter_html::NODE_TYPES,
    ),
    (
        Language::Java,
        "java",
        &["java"],
        tree_sitter_java::LANGUAGE,
        tree_sitter_java::NODE_TYPES,
    ),
    (
        Language::JavaScript,
        "javascript",
        &["js", "mjs", "cjs", "jsx"],
        tree_sitter_javascript::LANGUAGE,
        tree_sitter_javascript::NODE_TYPES,
    ),
    (
        Language::Json,
        "json",
        &["json", "geojson", "ipynb"],
        tree_sitter_json::LANGUAGE,
        tree_sitter_json::NODE_TYPES,
    ),
    (
        Language::Kotlin,
        "kotlin",
        &["kt", "kts"],
        tree_sitter_kotlin_ng::LANGUAGE,
        tree_sitter_kotlin_ng::NODE_TYPES,
    ),
    (
        Language::Python,
        "python",
        &["py", "pyi"],
        tree_sitter_python::LANGUAGE,
        tree_sitter_python::NODE_TYPES,
    ),
    (
        Language::Rust,
        "rust",
        &["rs"],
        tree_sitter_rust::LANGUAGE,
        tree_sitter_rust::NODE_TYPES,
    ),
    (
        Language::Sql,
        "sql",
        &["sql"],
        tree_sitter_sequel::LANGUAGE,
        tree_sitter_sequel::NODE_TYPES,
    ),
    (
        Language::Xml,
        "xml",
        &["xml", "svg", "xsd", "xsl", "xslt", "pom", "rss", "fxml"],
        tree_sitter_xml::LANGUAGE_XML,
        tree_sitter_xml::XML_NODE_TYPES,
    ),
    (
        Language::Yaml,
        "yaml",
        &["yaml", "yml"],
        tree_sitter_yaml::LANGUAGE,
        tree_sitter_yaml::NODE_TYPES,
    ),
];

impl Language {
    /// All languages, by their names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|row| row.1)
    }

    /// The language of a name.
    pub fn named(name: &str) -> Option<Language> {
        ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The language of a file: by the ending of its name, or by how it begins.
    pub fn of(path: &Path, bytes: &[u8]) -> Option<Language> {
        if bytes.len() > LARGEST {
            return None;
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        let ending = ending.map(str::to_ascii_lowercase);
        if let Some(ending) = ending {
            let row = ALL.iter().find(|row| row.2.contains(&ending.as_str()));
            if let Some(row) = row {
                return Some(row.0);
            }
        }
        let start: Vec<u8> = bytes.trim_ascii_start().iter().take(16).copied().collect();
        let start = start.to_ascii_lowercase();
        match start.first() {
            Some(b'{' | b'[') => Language::Json.reads(bytes).then_some(Language::Json),
            _ if start.starts_with(b"<?xml") => Some(Language::Xml),
            _ if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") => {
                Some(Language::Html)
            }
            _ => None,
        }
    }

    fn row(self) -> &'static GrammarRow {
        let row = ALL.iter().find(|row| row.0 == self);
        row.expect("each language has a row")
    }

    /// The tree of a text.
    pub(crate) fn parse(self, bytes: &[u8]) -> Option<Tree> {
        let mut parser = Parser::new();
        parser.set_language(&self.row().3.into()).ok()?;
        parser.parse(bytes, None)
    }

    /// Whether a text is of the language, without errors.
    pub(crate) fn reads(self, bytes: &[u8]) -> bool {
        self.error_line(bytes).is_none()
    }

    /// The line where the first error in a text is seen, from 1.
    pub(crate) fn error_line(self, bytes: &[u8]) -> Option<usize> {
        let mut parser = Parser::new();
        if parser.set_language(&self.row().3.into()).is_err() {
            return Some(1);
        }
        let mut seen = None;
        // To make something of a text with errors takes long, and nobody wants it here.
        let mut heed = |state: &ParseState| match state.has_error() {
            true => {
                seen = Some(state.current_byte_offset().min(bytes.len()));
                ControlFlow::Break(())
            }
            false => ControlFlow::Continue(()),
        };
        let options = ParseOptions::new().progress_callback(&mut heed);
        let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        let line = |at: usize| bytes[..at].iter().filter(|it| **it == b'\n').count() + 1;
        match (seen, tree) {
            (Some(at), _) => Some(line(at)),
            (None, None) => Some(1),
            (None, Some(tree)) => error_in(&tree).or_else(|| match self {
                Language::Python => empty_block(&tree),
                _ => None,
            }),
        }
    }

    /// What may be left out.
    pub(crate) fn optional(self) -> &'static Optional {
        static KNOWN: OnceLock<HashMap<Language, Optional>> = OnceLock::new();
        let known = KNOWN.get_or_init(|| {
            let rows = ALL.iter();
            rows.map(|row| (row.0, Optional::read(row.4))).collect()
        });
        &known[&self]
    }
}

/// The line of a block without statements, which the grammar of Python allows and Python does not, from 1.
fn empty_block(tree: &Tree) -> Option<usize> {
    let mut cursor = tree.walk();
    let mut nodes = vec![tree.root_node()];
    while let Some(node) = nodes.pop() {
        let first = nodes.len();
        nodes.extend(node.named_children(&mut cursor));
        let is_empty = nodes[first..].iter().all(|it| it.kind() == "comment");
        if node.kind() == "block" && is_empty {
            return Some(node.start_position().row + 1);
        }
    }
    None
}

/// The line of the first error in a tree, from 1.
fn error_in(tree: &Tree) -> Option<usize> {
    let mut node = tree.root_node();
    if !node.has_error() {
        return None;
    }
    // Errors are inside of what has them.
    while !node.is_error() && !node.is_missing() {
        let mut walk = node.walk();
        let Some(inner) = node.children(&mut walk).find(Node::has_error) else {
            break;
        };
        node = inner;
    }
    Some(node.start_position().row + 1)
}

/// Which children a node must have: fields by kind of the parent, and whether other children are
/// needed.
#[derive(Default)]
pub(crate) struct Optional {
    /// Kind of the parent and name of the field; the empty name for children of no field.
    needed: HashSet<(String, String)>,
}

impl Optional {
    fn read(types: &str) -> Optional {
        let mut optional = Optional::default();
        let types: serde_json::Value = serde_json::from_str(types).unwrap_or_default();
        for node in types.as_array().into_iter().flatten() {
            let kind = node["type"].as_str().unwrap_or_default();
            let is_needed = |slot: &serde_json::Value| {
                slot["required"] == serde_json::Value::Bool(true)
                    && slot["multiple"] == serde_json::Value::Bool(false)
            };
            for (field, slot) in node["fields"].as_object().into_iter().flatten() {
                if is_needed(slot) {
                    optional.needed.insert((kind.to_owned(), field.clone()));
                }
            }
            if node["children"].is_object() && is_needed(&node["children"]) {
                optional.needed.insert((kind.to_owned(), String::new()));
            }
        }
        optional
    }

    /// Whether a child in this field of this kind of node may be missing.
    pub(crate) fn may_miss(&self, parent: &str, field: Option<&str>) -> bool {
        let key = (parent.to_owned(), field.unwrap_or_default().to_owned());
        !self.needed.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_grammar_reads_its_language() {
        for (name, text) in [
            ("c", "int main(void) { return 0; }\n"),
            ("cpp", "template <class T> T f(T t) { return t; }\n"),
            ("html", "<html><body><p>x</p></body></html>\n"),
            ("java", "class A { int f() { return 1; } }\n"),
            ("javascript", "const f = (x) => x + 1;\n"),
            ("json", "{\"a\": [1, null]}\n"),
            ("kotlin", "fun main() { println(1) }\n"),
            ("python", "def f(x):\n    return x\n"),
            ("rust", "fn main() {}\n"),
            ("sql", "SELECT a FROM b WHERE c = 1;\n"),
            ("xml", "<?xml version=\"1.0\"?>\n<a b=\"c\"><d/></a>\n"),
            ("yaml", "a:\n  - b\n  - c: 1\n"),
        ] {
            let language = Language::named(name).unwrap();
            assert!(language.reads(text.as_bytes()), "{name}");
            assert!(!language.optional().needed.is_empty(), "{name}");
            assert_eq!(language.name(), name);
        }
        assert!(!Language::Java.reads(b"class A { int f( }"));
        assert!(!Language::Python.reads(b"for x in y:\n    # nothing\nz()\n"));
        assert!(!Language::Python.reads(b"def f(x):\n"));
        let line = |text: &str| Language::Java.error_line(text.as_bytes());
        assert_eq!(line("class A {\n}\n"), None);
        assert_eq!(line("class A {\n  int x = 1\n}\n"), Some(2));
    }

    #[test]
    fn an_error_that_is_seen_early_is_one_of_the_tree() {
        let text = "class A {\n  int f(int x) {\n    return x > 0 ? g(x) : -1;\n  }\n}\n";
        let text = text.repeat(8);
        let language = Language::Java;
        let mut wrong = 0;
        for start in (0..text.len()).step_by(3) {
            for length in [1, 3, 8, 40] {
                let end = (start + length).min(text.len());
                let cut = [&text[..start], &text[end..]].concat();
                let tree = language.parse(cut.as_bytes()).unwrap();
                let has_error = tree.root_node().has_error();
                wrong += usize::from(has_error);
                assert_eq!(language.reads(cut.as_bytes()), !has_error, "{start}..{end}");
            }
        }
        assert!(wrong > 100, "{wrong}");
    }

    #[test]
    fn a_file_has_a_language_by_its_name_or_its_start() {
        let of = |name: &str, text: &str| Language::of(Path::new(name), text.as_bytes());
        assert_eq!(of("A.java", ""), Some(Language::Java));
        assert_eq!(of("x.JSON", "nonsense"), Some(Language::Json));
        assert_eq!(of("data", " [1, 2]"), Some(Language::Json));
        assert_eq!(of("data", "[section]\nx=1"), None);
        assert_eq!(of("data", "<!DOCTYPE HTML PUBLIC"), Some(Language::Html));
        assert_eq!(of("notes.txt", "words"), None);
    }
}
