//! Tables: definitions that are found by their number in constant time.

use std::collections::HashMap;
use std::ops::Deref;

use crate::Site;
use crate::site::TypeDef;

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

/// Definitions in the order of their numbers; the last definition of a number replaces earlier ones.
///
/// Numbers usually follow each other, and then the place of a definition is its number less the first
/// one. `places` lists the places of a table with gaps.
#[derive(Clone, Debug)]
pub struct Table<T> {
    items: Vec<T>,
    places: Option<HashMap<u32, u32>>,
}

impl<T: Numbered> Table<T> {
    /// Adds a definition, or replaces the one of the same number. The cost is constant at the end, and
    /// otherwise grows with the number of definitions behind it.
    pub fn insert(&mut self, item: T) {
        let number = item.number();
        if let Some(place) = self.place(number) {
            self.items[place] = item;
            return;
        }
        let place = self.items.partition_point(|known| known.number() < number);
        self.items.insert(place, item);
        match &mut self.places {
            Some(places) => {
                let moved = self.items.iter().enumerate().skip(place);
                places.extend(moved.map(|(place, item)| (item.number(), place as u32)));
            }
            None => self.index(),
        }
    }

    /// The place of a number's definition in the order of the table.
    #[inline]
    pub fn place(&self, number: u32) -> Option<usize> {
        if let Some(places) = &self.places {
            return places.get(&number).map(|place| *place as usize);
        }
        let guess = number.checked_sub(self.items.first()?.number())? as usize;
        (guess < self.items.len()).then_some(guess)
    }

    /// The definition of a number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        self.place(number).map(|place| &self.items[place])
    }

    /// Removes the definitions for which `keep` is false.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.items.retain(keep);
        self.places = None;
        self.index();
    }

    /// Lists the places if there are gaps. There were none before the last definition was added at an end.
    fn index(&mut self) {
        let (Some(first), Some(last)) = (self.items.first(), self.items.last()) else {
            return;
        };
        if (last.number() - first.number()) as usize != self.items.len() - 1 {
            let places = self.items.iter().enumerate();
            let places = places.map(|(place, item)| (item.number(), place as u32));
            self.places = Some(places.collect());
        }
    }
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            items: Vec::new(),
            places: None,
        }
    }
}

impl<T: PartialEq> PartialEq for Table<T> {
    fn eq(&self, other: &Table<T>) -> bool {
        self.items == other.items
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T: Numbered> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Table<T> {
        let mut items: Vec<T> = items.into_iter().collect();
        // The sort is stable, so that the last one of equal numbers is the latest.
        items.sort_by_key(Numbered::number);
        items.reverse();
        items.dedup_by_key(|item| item.number());
        items.reverse();
        let mut table = Table {
            items,
            places: None,
        };
        table.index();
        table
    }
}

impl<T> IntoIterator for Table<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
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
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, PartialEq, Debug)]
    struct Named(u32, usize);

    impl Numbered for Named {
        fn number(&self) -> u32 {
            self.0
        }
    }

    proptest! {
        #[test]
        fn a_table_finds_what_a_map_finds(
            first in proptest::collection::vec(prop_oneof![0..12_u32, any::<u32>()], 0..12),
            later in proptest::collection::vec(prop_oneof![0..12_u32, any::<u32>()], 0..12),
            odd in any::<bool>(),
        ) {
            let named = first.iter().chain(&later).enumerate();
            let named: Vec<Named> = named.map(|(at, number)| Named(*number, at)).collect();
            let (first, later) = named.split_at(first.len());
            let mut table: Table<Named> = first.iter().cloned().collect();
            later.iter().for_each(|item| table.insert(item.clone()));
            let mut map: BTreeMap<u32, Named> = BTreeMap::new();
            map.extend(named.iter().map(|item| (item.0, item.clone())));
            if odd {
                table.retain(|item| item.0 % 2 == 1);
                map.retain(|number, _| number % 2 == 1);
            }
            prop_assert!(table.iter().eq(map.values()));
            for number in named.iter().map(|item| item.0).chain([0, 5, 7, u32::MAX]) {
                prop_assert_eq!(table.get(number), map.get(&number));
                let place = table.place(number).map(|place| &table[place]);
                prop_assert_eq!(place, map.get(&number));
            }
        }
    }
}
