//! The names of a text: which of them it uses and declares where, and with how many arguments it calls them.
//!
//! Grammars call their nodes and fields alike, so one table of words does for all languages. A name that is wrongly
//! taken for declared only makes the check weaker: the same table reads the input and its candidates.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tree_sitter::Node;

use crate::Language;

/// Fields of a node that declare the names below them.
const DECLARING: [&str; 7] = [
    "alias",
    "declarator",
    "left",
    "parameter",
    "parameters",
    "pattern",
    "local",
];

/// Fields of a declaration whose names are declared elsewhere.
const USING: [&str; 12] = [
    "arguments",
    "body",
    "condition",
    "default_value",
    "function",
    "path",
    "return_type",
    "right",
    "size",
    "superclasses",
    "type",
    "value",
];

/// Parts of the kinds of nodes whose field `name` is a declaration.
const DECLARATIONS: [&str; 14] = [
    "alias",
    "class",
    "create",
    "declar",
    "definition",
    "enumerator",
    "function",
    "import",
    "item",
    "method",
    "named",
    "parameter",
    "preproc",
    "specifier",
];

/// Parts of the kinds of nodes that only use a name, though they contain one of the above.
const USES: [&str; 4] = ["call", "invocation", "reference", "scoped"];

/// Parts of the kinds of nodes that bring names from elsewhere.
const IMPORTS: [&str; 5] = ["import", "include", "use_decl", "using_decl", "package"];

/// Fields with the arguments of a call, or the parameters of what is called.
const LISTS: [&str; 2] = ["arguments", "parameters"];

/// Fields with the name of a node, the likeliest first.
const NAMES: [&str; 5] = ["name", "function", "declarator", "constructor", "type"];

/// The names of a text, and where they stand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Vocabulary {
    /// The number of times that each name occurs.
    count: BTreeMap<Vec<u8>, usize>,
    /// Names by where they are used and declared.
    used: HashSet<Place>,
    declared: HashSet<Place>,
    /// Declared names, wherever that is.
    anywhere: HashSet<Vec<u8>>,
    /// Names that are called or can be, with the number of arguments.
    calls: HashSet<(Vec<u8>, usize)>,
    /// The number of nodes of one kind that are below those of another.
    shape: BTreeMap<(u16, u16), usize>,
    /// The texts of imports and the like.
    imports: HashSet<Vec<u8>>,
}

/// A name within functions, classes and the like, the outermost first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    scope: Arc<[Vec<u8>]>,
    name: Vec<u8>,
}

/// The meaning of a name by where it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Use,
    Declaration,
    /// The key of a mapping, a name whatever its kind.
    Key,
}

/// True if nodes of a kind bring names from elsewhere: an import, an include or the like.
pub(crate) fn is_import(kind: &str) -> bool {
    IMPORTS.iter().any(|part| kind.contains(part))
}

impl Vocabulary {
    /// The names that a text between two may have. An empty one has no say.
    pub(crate) fn between(old: &[u8], new: &[u8], language: Language) -> Vocabulary {
        let mut both = Vocabulary::read(new, language);
        if old.is_empty() {
            return both;
        }
        let other = Vocabulary::read(old, language);
        take_more(&mut both.count, other.count);
        take_more(&mut both.shape, other.shape);
        both.declared.extend(other.declared);
        both.anywhere.extend(other.anywhere);
        both.calls.extend(other.calls);
        both.imports.retain(|import| other.imports.contains(import));
        both
    }

    /// True if a text has only these names, each of them whole and as often at most, with as many arguments; declares
    /// those that it uses, unless nothing here declares them; has these imports; and nothing in it has become a node
    /// of another kind.
    pub(crate) fn allows(&self, text: &[u8], language: Language) -> bool {
        let own = Vocabulary::read(text, language);
        let is_declared = |used: &Place| match self.depth(used) {
            Some(depth) => own.depth(used) >= Some(depth),
            None => own.anywhere.contains(&used.name) || !self.anywhere.contains(&used.name),
        };
        is_within(&own.count, &self.count)
            && is_within(&own.shape, &self.shape)
            && own.used.iter().all(is_declared)
            && own.calls.is_subset(&self.calls)
            && own.imports.is_superset(&self.imports)
    }

    /// The depth of the innermost scope around a use that declares its name.
    fn depth(&self, used: &Place) -> Option<usize> {
        (0..=used.scope.len()).rev().find(|depth| {
            let scope = used.scope[..*depth].into();
            let name = used.name.clone();
            self.declared.contains(&Place { scope, name })
        })
    }

    /// Reads a text, without recursion: texts may be nested deeply.
    fn read(text: &[u8], language: Language) -> Vocabulary {
        let mut own = Vocabulary::default();
        let Some(tree) = language.parse(text) else {
            return own;
        };
        let top = Branch {
            node: tree.root_node(),
            role: Role::Use,
            scope: Arc::new([]),
        };
        let mut stack = vec![top];
        let mut cursor = tree.walk();
        while let Some(Branch { node, role, scope }) = stack.pop() {
            if node.is_named() && is_import(node.kind()) {
                own.imports.insert(text[node.byte_range()].to_vec());
            }
            cursor.reset(node);
            if !cursor.goto_first_child() {
                own.add(text, node, role, scope);
                continue;
            }
            let has_inside = ["body", "parameters"]
                .iter()
                .any(|it| node.child_by_field_name(it).is_some());
            let inner = match name(node).filter(|_| has_inside) {
                Some(name) => {
                    let own = [text[name.byte_range()].to_vec()];
                    scope.iter().cloned().chain(own).collect()
                }
                None => Arc::clone(&scope),
            };
            loop {
                let (child, field) = (cursor.node(), cursor.field_name());
                if child.is_named() {
                    let edge = (node.kind_id(), child.kind_id());
                    *own.shape.entry(edge).or_default() += 1;
                }
                if field.is_some_and(|field| LISTS.contains(&field)) {
                    let called = name(node).map_or(&[][..], |name| &text[name.byte_range()]);
                    own.calls
                        .insert((called.to_vec(), child.named_child_count()));
                }
                if field == Some("key") && child.child_count() > 0 {
                    let key = text[child.byte_range()].to_vec();
                    *own.count.entry(key).or_default() += 1;
                }
                let is_name = field.is_some_and(|field| NAMES.contains(&field));
                stack.push(Branch {
                    node: child,
                    role: role.below(node.kind(), field),
                    // What a function is called is known outside of it.
                    scope: Arc::clone(if is_name { &scope } else { &inner }),
                });
                if !cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        own
    }

    fn add(&mut self, text: &[u8], leaf: Node<'_>, role: Role, scope: Arc<[Vec<u8>]>) {
        let kind = leaf.kind();
        let is_name = !kind.starts_with("keyword")
            && (kind.contains("identifier") || kind.to_ascii_lowercase().contains("name"));
        if !leaf.is_named() || !is_name && role != Role::Key {
            return;
        }
        let name = text[leaf.byte_range()].to_vec();
        *self.count.entry(name.clone()).or_default() += 1;
        if role == Role::Use {
            self.used.insert(Place { scope, name });
        } else {
            self.anywhere.insert(name.clone());
            self.declared.insert(Place { scope, name });
        }
    }
}

/// A node, by what is above it.
struct Branch<'t> {
    node: Node<'t>,
    role: Role,
    scope: Arc<[Vec<u8>]>,
}

/// Takes the larger one of two counts of each.
fn take_more<K: Ord>(own: &mut BTreeMap<K, usize>, other: BTreeMap<K, usize>) {
    for (key, count) in other {
        let known = own.entry(key).or_default();
        *known = (*known).max(count);
    }
}

/// True if something is there as often at most as in another.
fn is_within<K: Ord>(own: &BTreeMap<K, usize>, most: &BTreeMap<K, usize>) -> bool {
    own.iter()
        .all(|(key, count)| most.get(key).is_some_and(|most| count <= most))
}

/// The name of what a node calls or declares: `c` of `a.b.c(x)`.
fn name<'t>(node: Node<'t>) -> Option<Node<'t>> {
    let named = |node: Node<'t>| NAMES.iter().find_map(|it| node.child_by_field_name(it));
    let mut name = named(node)?;
    while let Some(inner) = named(name) {
        name = inner;
    }
    while let Some(last) = name.named_child(name.named_child_count().saturating_sub(1) as u32) {
        name = last;
    }
    Some(name)
}

impl Role {
    /// The role of a child in a field of a node of this kind that has this role itself.
    fn below(self, kind: &str, field: Option<&str>) -> Role {
        let is_in = |parts: &[&str]| parts.iter().any(|part| kind.contains(part));
        match field {
            Some("key") => Role::Key,
            Some(field) if DECLARING.contains(&field) => Role::Declaration,
            Some(field) if USING.contains(&field) => Role::Use,
            Some("name") if is_in(&DECLARATIONS) && !is_in(&USES) => Role::Declaration,
            None if is_import(kind) || is_in(&["parameter", "pattern", "create"]) => {
                Role::Declaration
            }
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: &str, input: &str, candidate: &str, expect: bool) {
        let language = Language::named(language).unwrap();
        assert!(language.reads(candidate.as_bytes()), "{candidate}");
        let vocabulary = Vocabulary::between(b"", input.as_bytes(), language);
        assert!(vocabulary.allows(input.as_bytes(), language), "{input}");
        let allows = vocabulary.allows(candidate.as_bytes(), language);
        assert_eq!(allows, expect, "{candidate}");
    }

    #[test]
    fn a_name_stays_whole() {
        check("python", "import datetime", "import datetim", false);
        check("python", "f('abc')", "f('ab')", true);
        check("json", "{\"orders\": \"x1\"}", "{\"rders\": \"x1\"}", false);
        check("json", "{\"orders\": \"x1\"}", "{\"orders\": \"x\"}", true);
        check("xml", "<a id=\"1\"/>", "<a d=\"1\"/>", false);
        check("yaml", "ab: cd", "b: cd", false);
        check("yaml", "ab: cd", "ab: c", true);
        check("json", "{\"orders\": 1}", "{\"\": 1}", false);
        // It would be another one.
        check("javascript", "f(wanted); g(a);", "f(a); g(a);", false);
        check(
            "rust",
            "use std::fmt;\nfn f() {}",
            "std::fmt;\nfn f() {}",
            false,
        );
    }

    #[test]
    fn a_call_keeps_the_number_of_its_arguments() {
        check("python", "read(text)", "read()", false);
        check("python", "read(text, [1, 2])", "read(text, [1])", true);
        check(
            "java",
            "class A { int f(A b, A c) { return 1; } }",
            "class A { int f(A b) { return 1; } }",
            false,
        );
        check(
            "c",
            "int f(void) { g(1, 2); g(1); }",
            "int f(void) { g(1); }",
            true,
        );
    }

    #[test]
    fn a_name_of_a_function_is_not_declared_by_another_function() {
        let input = "def f(a):\n    return a\na = f(1)\nprint(a)\n";
        check(
            "python",
            input,
            "def f(a):\n    return a\nprint(a)\n",
            false,
        );
        check("python", input, "def f(a):\n    return a\na = f(1)\n", true);
        let method = "class A { int n; int f() { return n; } int g(int n) { return n; } }";
        let without = "class A { int f() { return n; } int g(int n) { return n; } }";
        check("java", method, without, false);
        let c = "int f(int *n) { return *n; }\nint g(void) { int n = 1; return n; }\n";
        let without = "int f(int *n) { return *n; }\nint g(void) { return n; }\n";
        check("c", c, without, false);
    }

    #[test]
    fn what_is_left_stays_what_it_was() {
        check("python", "x = read(data)", "x = (data)", false);
        check(
            "c",
            "int f(void) { return g(1, 2); }",
            "int f(void) { return (1, 2); }",
            false,
        );
        check(
            "rust",
            "fn f() { match x { Some(v) => v, } }",
            "fn f() { match x { (v) => v, } }",
            false,
        );
        check(
            "java",
            "class A { int f() {} }",
            "class A { f() {} }",
            false,
        );
    }

    #[test]
    fn a_text_between_two_may_have_the_names_of_both() {
        let python = Language::Python;
        let between = Vocabulary::between(b"import a\na.f(1)\n", b"import a\na.g(1, 2)\n", python);
        for (text, expect) in [
            ("import a\na.f(1)", true),
            ("import a\na.g(1, 2)", true),
            ("import a\na.g(1)", false),
            ("import a\na.h(1)", false),
            ("a.f(1)", false),
        ] {
            assert_eq!(between.allows(text.as_bytes(), python), expect, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_used_stays_declared() {
        for (language, declaration, usage) in [
            ("python", "import a\n", "a.b()\n"),
            ("python", "def a(): pass\n", "a()\n"),
            ("python", "for a in 1, 2: pass\n", "print(a)\n"),
            ("javascript", "const a = 1;\n", "f(a);\n"),
            ("javascript", "function a() {}\n", "a();\n"),
            ("c", "int a;\n", "int f(void) { return a; }\n"),
            ("c", "#define a 1\n", "int f(void) { return a; }\n"),
            (
                "c",
                "static int a(int x) { return x; }\n",
                "int f(void) { return a(1); }\n",
            ),
            ("java", "class A {}\n", "class B { A x; }\n"),
            ("rust", "enum A { C }\n", "fn f() { A::C; }\n"),
            ("rust", "use x::a;\n", "fn f() { a(); }\n"),
            ("kotlin", "fun a() {}\n", "fun b() { a() }\n"),
            ("sql", "CREATE TABLE a (x INTEGER);\n", "SELECT x FROM a;\n"),
        ] {
            let both = format!("{declaration}{usage}");
            check(language, &both, declaration, true);
            check(language, &both, usage, false);
            // What nothing declares comes from elsewhere.
            check(language, usage, usage, true);
        }
        let method = "class A { int f() { return g(); } int g() { return 1; } }";
        check("java", method, "class A { int f() { return g(); } }", false);
        check("java", method, "class A { int g() { return 1; } }", true);
    }
}
