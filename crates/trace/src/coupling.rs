//! The coupling of a program's classes: what a JVM under `--suggest` leaves behind in place of a
//! recording, as a small text of lines.
//!
//! ```text
//! culprit coupling 1
//! time 2034
//! class program 12 340 com.acme.Order com.acme.Entity
//! edge 0 1 10 2 0 0
//! end
//! ```
//!
//! `time` is in milliseconds. A `class` has its origin, the number of its methods, how many calls
//! of live library code its own code made, its name, and the classes it extends or implements.
//! Classes are numbered from 1 in the order of their lines; 0 is code that is not counted. An
//! `edge` has two such numbers, from and to, then calls of methods, calls of constructors, arrays
//! given to either, and accesses to fields. A text without `end` is not whole.

use std::fmt;

use culprit_model::observe::ClassOrigin;

/// The extension of these files.
pub const COUPLING_EXTENSION: &str = "coupling";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;
const MAGIC: &str = "culprit coupling";

/// Which classes of one JVM called which, how often.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coupling {
    /// The time that the counters ran, in milliseconds.
    pub time_ms: u64,
    /// The classes; an edge names them by their position here plus one.
    pub classes: Vec<CoupledClass>,
    /// Counts, one entry for each pair.
    pub edges: Vec<Edge>,
}

/// A class that calls or is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoupledClass {
    /// Its dotted name.
    pub name: String,
    /// Its origin.
    pub origin: ClassOrigin,
    /// The number of its methods.
    pub methods: u32,
    /// Calls that its code made to live library code.
    pub live_calls: u64,
    /// Dotted names of the class it extends and the interfaces it implements.
    pub supertypes: Vec<String>,
}

/// The calls and accesses from the code of one class to another class, or to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Edge {
    /// Whose code; 0 is code that is not counted.
    pub from: usize,
    /// The class that is called or accessed.
    pub to: usize,
    /// Calls of methods.
    pub calls: u64,
    /// Calls of constructors.
    pub constructions: u64,
    /// Arrays given in either.
    pub arrays: u64,
    /// Accesses to fields.
    pub accesses: u64,
}

/// A text that is not the coupling of a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CouplingError {
    /// Another kind of file.
    #[error("not a file of coupled classes")]
    Foreign,
    /// Of a version that this program does not know.
    #[error("format version {0}, but this is culprit for version {VERSION}")]
    Version(String),
    /// A line that cannot be understood, by its number.
    #[error("line {0} is malformed")]
    Line(usize),
    /// The end is missing.
    #[error("the end is missing")]
    Truncated,
}

impl fmt::Display for Coupling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{MAGIC} {VERSION}")?;
        writeln!(f, "time {}", self.time_ms)?;
        for class in &self.classes {
            let origin = match class.origin {
                ClassOrigin::Jdk => "jdk",
                ClassOrigin::Program => "program",
                ClassOrigin::Library => "library",
            };
            write!(
                f,
                "class {origin} {} {} {}",
                class.methods,
                class.live_calls,
                escape(&class.name)
            )?;
            for supertype in &class.supertypes {
                write!(f, " {}", escape(supertype))?;
            }
            writeln!(f)?;
        }
        for edge in &self.edges {
            writeln!(
                f,
                "edge {} {} {} {} {} {}",
                edge.from, edge.to, edge.calls, edge.constructions, edge.arrays, edge.accesses
            )?;
        }
        writeln!(f, "end")
    }
}

impl std::str::FromStr for Coupling {
    type Err = CouplingError;

    fn from_str(text: &str) -> Result<Coupling, CouplingError> {
        let mut lines = text.lines().zip(1..);
        let (head, _) = lines.next().ok_or(CouplingError::Foreign)?;
        let version = head.strip_prefix(MAGIC).ok_or(CouplingError::Foreign)?;
        if version.trim() != VERSION.to_string() {
            return Err(CouplingError::Version(version.trim().to_owned()));
        }
        let mut coupling = Coupling::default();
        for (line, number) in lines {
            let bad = || CouplingError::Line(number);
            let mut words = line.split(' ');
            match words.next() {
                Some("time") => {
                    coupling.time_ms = words.next().and_then(|w| w.parse().ok()).ok_or_else(bad)?;
                }
                Some("class") => coupling.classes.push(class(&mut words).ok_or_else(bad)?),
                Some("edge") => {
                    let edge = edge(&mut words).ok_or_else(bad)?;
                    let last = coupling.classes.len();
                    if edge.from > last || edge.to > last {
                        return Err(bad());
                    }
                    coupling.edges.push(edge);
                }
                Some("end") => return Ok(coupling),
                _ => return Err(bad()),
            }
        }
        Err(CouplingError::Truncated)
    }
}

fn class<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<CoupledClass> {
    Some(CoupledClass {
        origin: match words.next()? {
            "jdk" => ClassOrigin::Jdk,
            "program" => ClassOrigin::Program,
            "library" => ClassOrigin::Library,
            _ => return None,
        },
        methods: words.next()?.parse().ok()?,
        live_calls: words.next()?.parse().ok()?,
        name: unescape(words.next()?)?,
        supertypes: words.map(unescape).collect::<Option<_>>()?,
    })
}

fn edge<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Edge> {
    let mut index = || words.next()?.parse().ok();
    let (from, to) = (index()?, index()?);
    let mut count = || words.next()?.parse().ok();
    Some(Edge {
        from,
        to,
        calls: count()?,
        constructions: count()?,
        arrays: count()?,
        accesses: count()?,
    })
}

/// A class name may hold nearly any character; here none of them separates words or lines.
fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c == '%' || c.is_whitespace() || c.is_control() {
            out.push_str(&format!("%{:x};", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

fn unescape(word: &str) -> Option<String> {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (code, tail) = rest[at + 1..].split_once(';')?;
        out.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
        rest = tail;
    }
    out.push_str(rest);
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn origin() -> impl Strategy<Value = ClassOrigin> {
        prop_oneof![
            Just(ClassOrigin::Jdk),
            Just(ClassOrigin::Program),
            Just(ClassOrigin::Library)
        ]
    }

    prop_compose! {
        fn coupled()(
            name in "\\PC{1,12}|a b\\%",
            origin in origin(),
            methods: u32,
            live_calls: u64,
            supertypes in prop::collection::vec("[a-z.]{1,8}", 0..3),
        ) -> CoupledClass {
            CoupledClass { name, origin, methods, live_calls, supertypes }
        }
    }

    proptest! {
        #[test]
        fn any_coupling_survives_the_round_trip(
            time_ms: u64,
            classes in prop::collection::vec(coupled(), 1..6),
            counts in prop::collection::vec((0usize..2, 0usize..2, any::<[u64; 4]>()), 0..6),
        ) {
            let edges = counts
                .into_iter()
                .map(|(from, to, [calls, constructions, arrays, accesses])| Edge {
                    from, to, calls, constructions, arrays, accesses,
                })
                .collect();
            let coupling = Coupling { time_ms, classes, edges };
            prop_assert_eq!(coupling.to_string().parse::<Coupling>().unwrap(), coupling);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,80}") {
            let _ = text.parse::<Coupling>();
            let _ = format!("{MAGIC} 1\n{text}").parse::<Coupling>();
        }
    }

    #[test]
    fn what_is_wrong_with_a_text_is_said() {
        for (text, expect) in [
            ("", CouplingError::Foreign),
            ("hello\n", CouplingError::Foreign),
            ("culprit coupling 2\n", CouplingError::Version("2".into())),
            ("culprit coupling 1\ntime 5\n", CouplingError::Truncated),
            ("culprit coupling 1\ntime x\n", CouplingError::Line(2)),
            (
                "culprit coupling 1\nedge 0 1 1 1 1 1\n",
                CouplingError::Line(2),
            ),
        ] {
            assert_eq!(text.parse::<Coupling>(), Err(expect), "{text}");
        }
    }
}
