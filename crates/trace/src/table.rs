//! Tables: definitions found by a small number, which is usually their place.

use culprit_model::Site;
use culprit_model::site::TypeDef;

use crate::metadata::{LoaderDef, ThreadDef};

/// Something that is defined once under a number.
pub trait Numbered {
    /// The number.
    fn number(&self) -> u32;
}

impl Numbered for TypeDef {
    fn number(&self) -> u32 {
        self.id.0
    }
}

impl Numbered for Site {
    fn number(&self) -> u32 {
        self.id.0
    }
}

impl Numbered for ThreadDef {
    fn number(&self) -> u32 {
        self.id.0
    }
}

impl Numbered for LoaderDef {
    fn number(&self) -> u32 {
        self.id
    }
}

/// Definitions in the order of their numbers. The last definition of a number counts.
#[derive(Clone, Debug)]
pub struct Table<T> {
    items: Vec<T>,
}

impl<T: Numbered> Table<T> {
    pub(crate) fn new(mut items: Vec<T>) -> Table<T> {
        // The sort is stable, so of equal numbers the last one is the latest.
        items.sort_by_key(Numbered::number);
        items.reverse();
        items.dedup_by_key(|item| item.number());
        items.reverse();
        Table { items }
    }

    /// Adds a definition, in the place of an earlier one of the same number.
    pub(crate) fn insert(&mut self, item: T) {
        let number = item.number();
        match self.items.binary_search_by_key(&number, Numbered::number) {
            Ok(place) => self.items[place] = item,
            Err(place) => self.items.insert(place, item),
        }
    }

    /// Where the definition of a number is in `iter`'s order.
    #[inline]
    pub fn place(&self, number: u32) -> Option<usize> {
        let first = self.items.first()?.number();
        let guess = number.wrapping_sub(first) as usize;
        match self.items.get(guess) {
            Some(item) if item.number() == number => Some(guess),
            _ => self
                .items
                .binary_search_by_key(&number, Numbered::number)
                .ok(),
        }
    }

    /// The definition of a number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        self.place(number).map(|place| &self.items[place])
    }

    /// All definitions, by number.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Number of definitions.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing is defined.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<'a, T> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loader(id: u32, class: &str) -> LoaderDef {
        LoaderDef {
            id,
            class: class.to_owned(),
            name: None,
        }
    }

    #[test]
    fn sparse_numbers_are_found_and_the_last_definition_counts() {
        let table = Table::new(vec![
            loader(900, "c"),
            loader(3, "a"),
            loader(4, "b"),
            loader(3, "d"),
        ]);
        assert_eq!(table.len(), 3);
        assert_eq!(table.get(3).unwrap().class, "d");
        assert_eq!(table.get(4).unwrap().class, "b");
        assert_eq!(table.get(900).unwrap().class, "c");
        assert!(table.get(2).is_none());
        assert!(table.get(5).is_none());
    }
}
