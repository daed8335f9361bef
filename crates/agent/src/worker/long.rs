//! Long values of one side of a comparison: as many as the steps still to come may refer to.

use std::collections::{HashMap, VecDeque};

use culprit_model::BlobId;

/// Long values in generations. Steps refer to those of their own one; the one before is kept for
/// threads that are at an earlier step still, and so are those whose steps were read ahead.
#[derive(Default)]
pub(super) struct LongValues {
    newest: HashMap<u32, Vec<u8>>,
    /// Bytes in the newest.
    size: usize,
    /// Oldest first, each with the number of steps that were known when it ended.
    older: VecDeque<(u64, HashMap<u32, Vec<u8>>)>,
}

impl LongValues {
    pub(super) fn get(&self, id: BlobId) -> Option<&[u8]> {
        let older = self.older.iter().rev().map(|(_, generation)| generation);
        let mut generations = std::iter::once(&self.newest).chain(older);
        generations
            .find_map(|generation| generation.get(&id.0))
            .map(Vec::as_slice)
    }

    pub(super) fn keep(&mut self, id: BlobId, bytes: Vec<u8>) {
        self.size += bytes.len();
        self.newest.insert(id.0, bytes);
    }

    /// Bytes in the newest generation.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// A new generation begins.
    pub(super) fn turn(&mut self, steps: u64) {
        self.size = 0;
        self.older
            .push_back((steps, std::mem::take(&mut self.newest)));
    }

    /// Forgets generations that no step can refer to any more, after so many steps.
    pub(super) fn trim(&mut self, used_up: u64) {
        while self.older.get(1).is_some_and(|(end, _)| *end <= used_up) {
            self.older.pop_front();
        }
    }

    /// A run begins, and with it the count of steps.
    pub(super) fn begin(&mut self) {
        for (end, _) in &mut self.older {
            *end = 0;
        }
        self.trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(values: &LongValues) -> Vec<u32> {
        (0..8)
            .filter(|id| values.get(BlobId(*id)).is_some())
            .collect()
    }

    #[test]
    fn a_value_outlives_the_generation_after_its_own() {
        let mut values = LongValues::default();
        values.keep(BlobId(0), vec![0; 5]);
        values.turn(10);
        values.keep(BlobId(1), vec![1]);
        values.trim(10);
        assert_eq!(kept(&values), [0, 1]);
        assert_eq!(values.size(), 1);

        // Read ahead: steps of the second generation are still to come.
        values.turn(20);
        values.keep(BlobId(2), vec![2]);
        values.trim(19);
        assert_eq!(kept(&values), [0, 1, 2]);
        values.trim(20);
        assert_eq!(kept(&values), [1, 2]);
    }

    #[test]
    fn a_value_told_again_is_the_newer_one() {
        let mut values = LongValues::default();
        values.keep(BlobId(0), vec![1]);
        values.turn(3);
        values.keep(BlobId(0), vec![2]);
        assert_eq!(values.get(BlobId(0)), Some(&[2][..]));
    }

    #[test]
    fn a_new_run_needs_no_step_of_the_last() {
        let mut values = LongValues::default();
        for id in 0..4 {
            values.keep(BlobId(id), vec![0]);
            values.turn(1000);
        }
        values.begin();
        assert_eq!(kept(&values), [3]);
    }
}
