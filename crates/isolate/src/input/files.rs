//! Folders: which files are there at all.

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
        let mut files = Files {
            common: Vec::new(),
            differing: Vec::new(),
        };
        for (_, before, after) in old.beside(new) {
            match (before, after) {
                (Some(a), Some(b)) if a == b => files.common.push(a.clone()),
                _ => files.differing.push((before.cloned(), after.cloned())),
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
        Material::folder(self.common.iter().cloned().chain(chosen).collect())
    }
}
