//! Excerpts of the source of the methods that matter: the lines that ran, with a few around them. The names and line
//! numbers come from class files and the text from files that may be anything, so all of it is bounded.

use std::collections::{BTreeMap, BTreeSet};

use culprit_program::Sources;
use culprit_slice::{Origin, Replayed};

use crate::chain::{Link, complexity};
use crate::change::Change;
use crate::experiment::{Ended, Experiment};
use crate::rank::{Distances, Suspect};

/// The likeliest methods that are shown, and the most methods with those of the chain.
const LIKELIEST: usize = 3;
const MOST_METHODS: usize = 10;

/// The most lines of a method that are shown because they ran, and the most with those around them.
const MOST_RAN: usize = 40;
const MOST_LINES: usize = 60;

/// Lines that are shown on each side of one that ran.
const AROUND: u16 = 2;

/// Lines above the first one that ran in which the declaration of the method is looked for.
const ABOVE: u16 = 12;

/// The most characters of a line.
const LONGEST: usize = 200;

/// The lines of a method, some of which the failure depended on.
#[derive(Clone, PartialEq, Debug)]
pub struct Excerpt {
    /// The internal name of its class.
    pub class: String,
    pub method: String,
    pub descriptor: String,
    /// The name of the source file.
    pub source: Option<String>,
    /// In ascending order, not all next to each other.
    pub lines: Vec<ExcerptLine>,
}

/// A line of a source file.
#[derive(Clone, PartialEq, Debug)]
pub struct ExcerptLine {
    pub number: u16,
    /// Its text, of bounded length, if the file was found and has it.
    pub text: Option<String>,
    pub mark: LineMark,
}

/// The part that a line had in the run.
#[derive(Clone, PartialEq, Debug)]
pub enum LineMark {
    /// With this change of a value nothing fails.
    Confirmed(Change),
    /// The failure depended on it.
    Related,
    /// It ran.
    Ran,
    /// It did not run.
    Around,
}

/// The source files of classes, each of which is read once.
pub(crate) struct SourceFiles {
    sources: Sources,
    /// By class and file.
    texts: BTreeMap<(String, String), Option<Vec<String>>>,
}

impl SourceFiles {
    pub(crate) fn of(sources: Sources) -> SourceFiles {
        SourceFiles {
            sources,
            texts: BTreeMap::new(),
        }
    }

    /// The lines of the file that a class was compiled from.
    fn lines(&mut self, class: &str, file: Option<&str>) -> Option<&[String]> {
        let key = (class.to_owned(), file?.to_owned());
        let sources = &self.sources;
        let text = self.texts.entry(key).or_insert_with_key(|(class, file)| {
            let text = sources.text(class, file)?;
            // No class file has more line numbers.
            let lines = text.lines().take(usize::from(u16::MAX));
            Some(lines.map(bounded).collect())
        });
        text.as_deref()
    }

    /// A line of the file that a class was compiled from, without its indentation.
    pub(crate) fn line(&mut self, class: &str, file: Option<&str>, line: u16) -> Option<String> {
        let lines = self.lines(class, file)?;
        Some(numbered(lines, line)?.trim().to_owned())
    }
}

/// The excerpts of the likeliest methods and of those on a chain, in this order.
pub(crate) fn excerpts(
    run: &Replayed,
    distances: &Distances,
    experiments: &[Experiment],
    suspects: &[Suspect],
    chain: &[Link],
    files: &mut SourceFiles,
) -> Vec<Excerpt> {
    let ran = LinesRun::of(run, distances, experiments);
    let is_in_chain = |suspect: &&Suspect| {
        chain.iter().any(|link| {
            let place = &link.place;
            (&place.class, &place.method, &place.descriptor)
                == (&suspect.class, &suspect.method, &suspect.descriptor)
        })
    };
    let (likeliest, others) = suspects.split_at(suspects.len().min(LIKELIEST));
    let likeliest = likeliest.iter().filter(|it| !it.lines.is_empty());
    let chosen = likeliest.chain(others.iter().filter(is_in_chain));
    let excerpt = |suspect: &Suspect| {
        let lines = files.lines(&suspect.class, suspect.source.as_deref());
        let name = declared_name(&suspect.class, &suspect.method);
        Excerpt {
            class: suspect.class.clone(),
            method: suspect.method.clone(),
            descriptor: suspect.descriptor.clone(),
            source: suspect.source.clone(),
            lines: ran
                .of_method(suspect)
                .excerpt(lines.unwrap_or_default(), name),
        }
    };
    chosen.take(MOST_METHODS).map(excerpt).collect()
}

/// The lines that ran, and the simplest change of each after which nothing failed, by the first instruction of the
/// method.
struct LinesRun {
    ran: BTreeMap<u32, BTreeSet<u16>>,
    confirmed: BTreeMap<u32, BTreeMap<u16, Change>>,
}

impl LinesRun {
    fn of(run: &Replayed, distances: &Distances, experiments: &[Experiment]) -> LinesRun {
        let own = run.graph.nodes().filter(|it| distances.is_own(run, *it));
        let numbers = own.filter_map(|node| match run.graph.origin(node) {
            Origin::Instruction(number) => Some(number),
            Origin::Statement(_) => None,
        });
        let numbers: BTreeSet<u32> = numbers.collect();
        let line = |number: u32| {
            let line = run.program.place(number)?.line?;
            Some((run.program.method_start(number)?, line))
        };
        let mut ran: BTreeMap<u32, BTreeSet<u16>> = BTreeMap::new();
        for (start, line) in numbers.into_iter().filter_map(line) {
            ran.entry(start).or_default().insert(line);
        }
        let mut simplest: BTreeMap<u32, BTreeMap<u16, &Experiment>> = BTreeMap::new();
        for it in experiments.iter().filter(|it| it.ended == Ended::Passed) {
            if let Some((start, line)) = line(it.spot.instruction) {
                let known = simplest.entry(start).or_default();
                let known = known.entry(line).or_insert(it);
                if complexity(it) < complexity(known) {
                    *known = it;
                }
            }
        }
        let change = |(line, it): (u16, &Experiment)| (line, it.change.clone());
        let changes = |lines: BTreeMap<u16, &Experiment>| lines.into_iter().map(change).collect();
        let confirmed = simplest.into_iter();
        let confirmed = confirmed.map(|(start, lines)| (start, changes(lines)));
        let confirmed = confirmed.collect();
        LinesRun { ran, confirmed }
    }

    fn of_method(&self, suspect: &Suspect) -> MethodLines {
        MethodLines {
            ran: self.ran.get(&suspect.start).cloned().unwrap_or_default(),
            slice: suspect.lines.clone(),
            confirmed: self
                .confirmed
                .get(&suspect.start)
                .cloned()
                .unwrap_or_default(),
        }
    }
}

/// The lines of a method that ran.
struct MethodLines {
    ran: BTreeSet<u16>,
    /// Those that the failure depended on, the nearest first.
    slice: Vec<u16>,
    confirmed: BTreeMap<u16, Change>,
}

impl MethodLines {
    /// The lines to show of a source file, which is empty if it was not found. `name` is what the declaration has.
    fn excerpt(&self, file: &[String], name: &str) -> Vec<ExcerptLine> {
        let wanted = self.confirmed.keys().chain(&self.slice).chain(&self.ran);
        let mut shown: BTreeSet<u16> = BTreeSet::new();
        for line in wanted {
            if shown.len() < MOST_RAN {
                shown.insert(*line);
            }
        }
        let first = shown.first().copied();
        let declaration = first.and_then(|first| declaration(file, first, name));
        shown.extend(declaration);
        // Lines above the declaration are of other methods.
        let top = declaration.unwrap_or(1);
        let bottom = shown.last().map_or(0, |last| end(file, *last));
        let ran = shown.clone();
        for distance in 1..=AROUND {
            for line in &ran {
                let sides = [line.saturating_sub(distance), line.saturating_add(distance)];
                for side in sides {
                    let is_text = |text: &str| !text.trim().is_empty();
                    if (top..=bottom).contains(&side)
                        && shown.len() < MOST_LINES
                        && numbered(file, side).is_some_and(is_text)
                    {
                        shown.insert(side);
                    }
                }
            }
        }
        // An ellipsis would take as much room as one line.
        for line in shown.clone() {
            let next = line.saturating_add(1);
            if shown.contains(&next.saturating_add(1)) && numbered(file, next).is_some() {
                shown.insert(next);
            }
        }
        let line = |number| ExcerptLine {
            number,
            text: numbered(file, number).map(str::to_owned),
            mark: self.mark(number),
        };
        shown.into_iter().map(line).collect()
    }

    fn mark(&self, line: u16) -> LineMark {
        match self.confirmed.get(&line) {
            Some(change) => LineMark::Confirmed(change.clone()),
            None if self.slice.contains(&line) => LineMark::Related,
            None if self.ran.contains(&line) => LineMark::Ran,
            None => LineMark::Around,
        }
    }
}

/// The name that a method has where it is declared.
fn declared_name<'n>(class: &'n str, method: &'n str) -> &'n str {
    match method {
        "<init>" => class.rsplit(['/', '$']).next().unwrap_or(class),
        method => method,
    }
}

/// The line above the first one of a method that declares it: the nearest with its name and a parenthesis.
fn declaration(file: &[String], first: u16, name: &str) -> Option<u16> {
    let pattern = format!("{name}(");
    let is_it = |line: &u16| numbered(file, *line).is_some_and(|text| text.contains(&pattern));
    (first.saturating_sub(ABOVE)..=first).rev().find(is_it)
}

/// The last line to show behind the last one of a method that ran: the one before an empty line, if there is one.
fn end(file: &[String], last: u16) -> u16 {
    let is_empty = |line: &u16| numbered(file, *line).is_some_and(|text| text.trim().is_empty());
    let below = last.saturating_add(1)..=last.saturating_add(AROUND);
    let mut empty = below.clone().filter(is_empty);
    empty.next().map_or(*below.end(), |line| line - 1)
}

/// A line by its number, which begins at 1.
fn numbered(file: &[String], line: u16) -> Option<&str> {
    let line = file.get(usize::from(line).checked_sub(1)?);
    line.map(String::as_str)
}

/// The beginning of a line.
fn bounded(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Vec<String> {
        text.lines().map(bounded).collect()
    }

    fn method(ran: &[u16], slice: &[u16], confirmed: &[u16]) -> MethodLines {
        MethodLines {
            ran: ran.iter().copied().collect(),
            slice: slice.to_vec(),
            confirmed: confirmed.iter().map(|line| (*line, Change::Flip)).collect(),
        }
    }

    #[test]
    fn an_excerpt_has_the_declaration_and_the_lines_around_those_that_ran() {
        let text = "\
class Belt {
    int count;

    /** Puts it. */
    void put(
            Object it) {
        // Rarely.
        if (count == 4) {
            grow();
            log();
            count();
            report();
            sort();
            wait();
        }

        count++;
    }
}";
        let excerpt = method(&[8, 17], &[8], &[8]).excerpt(&file(text), "put");
        let shown: Vec<(u16, LineMark)> = excerpt
            .iter()
            .map(|it| (it.number, it.mark.clone()))
            .collect();
        let around = |line| (line, LineMark::Around);
        let expect = [
            around(5),
            around(6),
            around(7),
            (8, LineMark::Confirmed(Change::Flip)),
            around(9),
            around(10),
            around(15),
            around(16),
            (17, LineMark::Ran),
            around(18),
            around(19),
        ];
        assert_eq!(shown, expect);
        assert_eq!(excerpt[0].text.as_deref(), Some("    void put("));
    }

    #[test]
    fn without_a_source_file_the_lines_have_no_text() {
        let excerpt = method(&[3, 9], &[9], &[]).excerpt(&[], "put");
        let numbers: Vec<u16> = excerpt.iter().map(|it| it.number).collect();
        assert_eq!(numbers, [3, 9]);
        assert!(excerpt.iter().all(|it| it.text.is_none()));
    }

    #[test]
    fn a_huge_method_and_a_huge_line_are_cut() {
        let long = "x".repeat(1_000_000);
        let file: Vec<String> = (0..60_000).map(|_| bounded(&long[..400])).collect();
        assert_eq!(bounded(&long).chars().count(), LONGEST + 1);
        assert_eq!(bounded("é").as_str(), "é");
        let all: Vec<u16> = (0..u16::MAX).collect();
        let excerpt = method(&all, &all, &[65_535, 59_000]).excerpt(&file, "put");
        assert!((MOST_RAN..2 * MOST_LINES).contains(&excerpt.len()));
        let confirmed = LineMark::Confirmed(Change::Flip);
        let marked = excerpt.iter().filter(|it| it.mark == confirmed);
        assert_eq!(marked.count(), 2);
    }

    #[test]
    fn constructors_are_declared_by_the_name_of_their_class() {
        assert_eq!(declared_name("shop/Cart$Line", "<init>"), "Line");
        assert_eq!(declared_name("shop/Cart", "add"), "add");
    }
}
