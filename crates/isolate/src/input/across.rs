//! The difference of two sides as one row of deltas, over all files that differ.

use culprit_reduce::DeltaSet;

use super::edits::Edits;
use super::material::{Item, Material, Stuff};

/// All that differs, one after the other.
pub(crate) struct Across {
    is_folder: bool,
    common: Vec<Item>,
    entries: Vec<Entry>,
    count: u64,
}

struct Entry {
    first: u64,
    what: What,
}

enum What {
    /// A file that is as on one side or as on the other.
    Whole {
        old: Option<Item>,
        new: Option<Item>,
    },
    /// A file that both have.
    Inside { new: Item, edits: Edits },
}

impl Across {
    /// Nothing differs yet.
    pub(crate) fn new(is_folder: bool) -> Across {
        Across {
            is_folder,
            common: Vec::new(),
            entries: Vec::new(),
            count: 0,
        }
    }

    /// Adds what both have.
    pub(crate) fn same(&mut self, item: Item) {
        self.common.push(item);
    }

    /// Adds a file as one delta.
    pub(crate) fn whole(&mut self, old: Option<Item>, new: Option<Item>) {
        self.add(What::Whole { old, new }, 1);
    }

    /// Adds the deltas within a file.
    pub(crate) fn inside(&mut self, new: Item, edits: Edits) {
        let count = edits.len();
        self.add(What::Inside { new, edits }, count);
    }

    fn add(&mut self, what: What, count: u64) {
        self.entries.push(Entry {
            first: self.count,
            what,
        });
        self.count += count;
    }

    /// How many deltas there are.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// The material with these deltas.
    pub(crate) fn render(&self, kept: &DeltaSet) -> Material {
        let chosen = self.entries.iter().filter_map(|entry| match &entry.what {
            What::Whole { old, new } => match kept.contains(entry.first) {
                true => new.clone(),
                false => old.clone(),
            },
            What::Inside { new, edits } => {
                let Stuff::File { executable, .. } = &new.stuff else {
                    return Some(new.clone());
                };
                let own = kept.ranges().filter_map(|range| {
                    let start = range.start.max(entry.first);
                    let end = range.end.min(entry.first + edits.len());
                    (start < end).then(|| start - entry.first..end - entry.first)
                });
                let own: DeltaSet = own.collect();
                Some(Item {
                    path: new.path.clone(),
                    stuff: Stuff::File {
                        bytes: edits.render(&own).into(),
                        executable: *executable,
                    },
                })
            }
        });
        Material {
            is_folder: self.is_folder,
            ..Material::folder(self.common.iter().cloned().chain(chosen).collect())
        }
    }
}
