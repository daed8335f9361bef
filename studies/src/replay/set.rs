//! Sets of classes to observe: one, some, or all of a library.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::draw::Draw;
use super::program::{Extent, SetsOf};

/// The seed of all draws.
const SEED: u64 = 216;

/// The size of a random set, as in SCARPE's study.
const SMALLEST: usize = 2;
const LARGEST: usize = 5;

/// Draws until a set is given up that is not there yet.
const TRIES: usize = 50;

/// The kind of the set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// One class.
    One,
    /// A few classes, drawn at random.
    Some,
    /// The whole library.
    All,
}

impl Kind {
    pub const EACH: [Kind; 3] = [Kind::One, Kind::Some, Kind::All];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::One => "one class",
            Kind::Some => "2 to 5 classes",
            Kind::All => "all classes",
        })
    }
}

/// Classes that are observed together, by their names with dots; none means all.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Set(Vec<String>);

impl Set {
    pub(crate) const ALL: Set = Set(Vec::new());

    pub(crate) fn kind(&self) -> Kind {
        match self.0.len() {
            0 => Kind::All,
            1 => Kind::One,
            _ => Kind::Some,
        }
    }

    pub(crate) fn classes(&self) -> &[String] {
        &self.0
    }

    /// The patterns for `--observe`, where `all` means the library.
    pub(crate) fn patterns(&self, all: &str) -> Vec<String> {
        match self.kind() {
            Kind::All => vec![all.to_owned()],
            Kind::One | Kind::Some => self.0.clone(),
        }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::All => f.write_str("*"),
            Kind::One | Kind::Some => f.write_str(&self.0.join("+")),
        }
    }
}

impl FromStr for Set {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Set, Self::Err> {
        Ok(match text {
            "*" => Set::ALL,
            _ => Set(text.split('+').map(str::to_owned).collect()),
        })
    }
}

/// The sets of a test besides the one of all classes. `library` are the classes of the library
/// that have code, `loaded` those of them that the test loads. A set without a loaded class is
/// left out: there is nothing to record.
pub(crate) fn of_test(
    test: &str,
    extent: &Extent,
    library: &[String],
    loaded: &BTreeSet<String>,
) -> Vec<Set> {
    let sets = match extent.sets_of {
        SetsOf::Library => drawn(library, &mut Draw::new(SEED), extent),
        SetsOf::Test => {
            let known = library.iter().filter(|class| loaded.contains(*class));
            let known: Vec<String> = known.cloned().collect();
            drawn(&known, &mut Draw::named(SEED, test), extent)
        }
    };
    let is_loaded = |set: &Set| set.0.iter().any(|class| loaded.contains(class));
    sets.into_iter().filter(is_loaded).collect()
}

fn drawn(classes: &[String], draw: &mut Draw, extent: &Extent) -> Vec<Set> {
    let alone = draw.some(classes, extent.alone);
    let mut sets: Vec<Set> = alone.into_iter().map(|class| Set(vec![class])).collect();
    let (mut known, mut random, mut tries) = (BTreeSet::new(), 0, 0);
    while classes.len() >= SMALLEST && random < extent.random && tries < TRIES {
        let size = SMALLEST + draw.below(LARGEST - SMALLEST + 1);
        let set = Set(draw.some(classes, size));
        tries += 1;
        if known.insert(set.clone()) {
            sets.push(set);
            (random, tries) = (random + 1, 0);
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(names: &[&str]) -> Vec<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    fn extent(sets_of: SetsOf, alone: usize, random: usize) -> Extent {
        Extent {
            sets_of,
            alone,
            random,
            most_events: 0,
        }
    }

    #[test]
    fn a_set_prints_and_reads_back() {
        for text in ["*", "a.B", "a.B+a.C$D"] {
            assert_eq!(text.parse::<Set>().unwrap().to_string(), text);
        }
        assert_eq!(Set::ALL.patterns("a.**"), ["a.**"]);
    }

    #[test]
    fn sets_of_a_library_are_the_same_for_all_tests_but_for_what_is_not_loaded() {
        let library = classes(&["A", "B", "C", "D", "E", "F"]);
        let extent = extent(SetsOf::Library, usize::MAX, 20);
        let every: BTreeSet<String> = library.iter().cloned().collect();
        let all = of_test("t", &extent, &library, &every);
        assert_eq!(all.len(), 6 + 20);
        assert_eq!(all, of_test("u", &extent, &library, &every));
        let sizes: BTreeSet<usize> = all.iter().map(|set| set.0.len()).collect();
        assert_eq!(sizes, BTreeSet::from([1, 2, 3, 4, 5]));

        let few = of_test("t", &extent, &library, &BTreeSet::from(["A".to_owned()]));
        assert!(few.iter().all(|set| set.0.contains(&"A".to_owned())));
        assert!(few.len() < all.len());
    }

    #[test]
    fn sets_of_a_test_are_of_its_classes_and_no_more_than_there_are() {
        let library = classes(&["A", "B", "C", "D"]);
        let loaded = BTreeSet::from(["B".to_owned(), "D".to_owned()]);
        let sets = of_test("t", &extent(SetsOf::Test, 9, 9), &library, &loaded);
        let names: Vec<String> = sets.iter().map(Set::to_string).collect();
        assert_eq!(names, ["B", "D", "B+D"]);
    }
}
