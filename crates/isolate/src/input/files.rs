//! Folders: which files are there at all.

use std::collections::BTreeSet;
use std::path::PathBuf;

use culprit_reduce::DeltaSet;

use super::material::{Item, Material};

/// What two folders have in common, and where they differ.
pub(crate) struct Files {
    common: Vec<Item>,
    /// What either has, `None` where it has nothing.
    differing: Vec<(Option<Item>, Option<Item>)>,
}

impl Files {
    pub(crate) fn of(old: &Material, new: &Material) -> Files {
        let paths = old.items.iter().chain(&new.items).map(|item| &item.path);
        let paths: BTreeSet<&PathBuf> = paths.collect();
        let mut files = Files {
            common: Vec::new(),
            differing: Vec::new(),
        };
        for path in paths {
            let of = |side: &Material| side.find(path).map(|index| side.items[index].clone());
            match (of(old), of(new)) {
                (Some(a), Some(b)) if a == b => files.common.push(a),
                pair => files.differing.push(pair),
            }
        }
        files
    }

    /// How many files differ.
    pub(crate) fn len(&self) -> u64 {
        self.differing.len() as u64
    }

    /// The folder with the new side of these, and the old side of all others.
    pub(crate) fn render(&self, kept: &DeltaSet) -> Material {
        let chosen = (0u64..).zip(&self.differing).filter_map(|(delta, pair)| {
            let (old, new) = pair;
            if kept.contains(delta) { new } else { old }.clone()
        });
        let mut items: Vec<Item> = self.common.iter().cloned().chain(chosen).collect();
        items.sort_by(|a, b| a.path.cmp(&b.path));
        Material {
            is_folder: true,
            items,
        }
    }
}
