//! Folders: which files are there at all.

use std::path::PathBuf;

use culprit_reduce::{DeltaSet, Needs};

use super::material::{Item, Material, Stuff};

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

    /// What is below a path that is no folder on the other side: either goes before the other comes.
    pub(crate) fn needs(&self) -> Needs {
        let is_at = |item: &Option<Item>| item.as_ref().is_some_and(|it| it.stuff != Stuff::Folder);
        let path = |pair: &(Option<Item>, Option<Item>)| {
            let item = pair.1.as_ref().or(pair.0.as_ref());
            item.map(|item| item.path.clone()).unwrap_or_default()
        };
        let paths: Vec<PathBuf> = self.differing.iter().map(path).collect();
        let mut found = Vec::new();
        for (above, (old, new)) in self.differing.iter().enumerate() {
            let below = paths[above + 1..].iter().enumerate();
            let below = below.take_while(|(_, path)| path.starts_with(&paths[above]));
            for (number, _) in below {
                let below = above + 1 + number;
                if is_at(old) && self.differing[below].1.is_some() {
                    found.push((below as u32, above as u32));
                }
                if is_at(new) && self.differing[below].0.is_some() {
                    found.push((above as u32, below as u32));
                }
            }
        }
        Needs::graph(self.differing.len() as u32, found)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(items: &[(&str, Stuff)]) -> Material {
        let items = items.iter().map(|(path, stuff)| Item {
            path: path.into(),
            stuff: stuff.clone(),
        });
        Material {
            is_folder: true,
            items: items.collect(),
        }
    }

    #[test]
    fn a_link_goes_before_things_come_where_it_is() {
        let (file, link) = (Stuff::Folder, Stuff::Link("/x".into()));
        let old = folder(&[("a", link.clone()), ("b/y", file.clone())]);
        let new = folder(&[("a/x", file.clone()), ("a/y", file), ("b", link)]);
        let files = Files::of(&old, &new);
        // a, a/x, a/y, b, b/y
        let expect = Needs::graph(5, [(1, 0), (2, 0), (3, 4)]);
        assert_eq!(format!("{:?}", files.needs()), format!("{expect:?}"));
        let both = files.render(&DeltaSet::all(2).minus(&DeltaSet::all(1)));
        assert_eq!(both.conflict(), Some("a".as_ref()));
        let all = files.render(&DeltaSet::all(5));
        assert_eq!((all.conflict(), &all), (None, &new));
    }
}
