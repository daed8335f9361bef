//! The memory that `Counter.java` counts in: a table of rows and columns, and a cell for each
//! thread with the class it is in. Knows numbers only, no names.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lock::LockSafe;
use crate::state::Region;

/// Binary logarithm of the number of columns; the same is in `Counter.java`.
const COLUMN_BITS: u32 = 13;
/// Classes at most; whatever comes later is counted under number 0.
pub(super) const MOST_CLASSES: u32 = 1 << COLUMN_BITS;
/// A class has four rows.
const ROWS: u32 = 4 * MOST_CLASSES;
/// Cells of threads, and the bytes from one to the next: a cache line, so that threads do not
/// take it from each other.
const THREADS: usize = 1 << 16;
const THREAD_BYTES: usize = 64;

/// A cell by its row and column.
pub(super) type CellIndex = (u32, u32);

pub(super) struct Cells {
    counts: Region,
    threads: Region,
    /// The cells in use.
    used: Mutex<HashSet<CellIndex>>,
}

impl Cells {
    pub(super) fn new() -> std::io::Result<Cells> {
        Ok(Cells {
            counts: Region::usable(8 * ROWS as usize * MOST_CLASSES as usize)?,
            threads: Region::usable(THREADS * THREAD_BYTES)?,
            used: Mutex::default(),
        })
    }

    pub(super) fn counts_address(&self) -> i64 {
        self.counts.start as i64
    }

    pub(super) fn threads_address(&self) -> i64 {
        self.threads.start as i64
    }

    /// A cell is counted in for the first time.
    pub(super) fn first(&self, place: CellIndex) {
        if place.0 < ROWS && place.1 < MOST_CLASSES {
            self.used.lock_safe().insert(place);
        }
    }

    /// What was counted, in order of the places.
    pub(super) fn read(&self) -> Vec<(CellIndex, u64)> {
        let mut used: Vec<CellIndex> = self.used.lock_safe().iter().copied().collect();
        used.sort_unstable();
        used.into_iter()
            .map(|place| (place, self.count(place)))
            .collect()
    }

    fn count(&self, (row, column): CellIndex) -> u64 {
        let offset = 8 * ((row as usize) << COLUMN_BITS | column as usize);
        // SAFETY: `first` lets only places inside the table in.
        let cell = unsafe { self.counts.start.add(offset) }.cast::<AtomicU64>();
        // SAFETY: the region is zeroed, aligned to pages and never unmapped.
        unsafe { &*cell }.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_has_the_same_number_of_columns() {
        let source = include_str!("../../../../java/runtime/src/culprit/runtime/Counter.java");
        assert!(source.contains(&format!("COLUMN_BITS = {COLUMN_BITS};")));
        assert!(source.contains("& 0xffff) << 6"));
        assert_eq!((THREADS - 1, THREAD_BYTES), (0xffff, 1 << 6));
    }

    #[test]
    fn only_cells_in_use_are_read() {
        let cells = Cells::new().unwrap();
        cells.first((4, 2));
        cells.first((3, 1));
        cells.first((4, 2));
        cells.first((u32::MAX, 0));
        let cell = (cells.counts_address() as usize + 8 * ((4 << COLUMN_BITS) | 2)) as *mut u64;
        // SAFETY: a cell of the table, as the runtime would write it.
        unsafe { cell.write(17) };
        assert_eq!(cells.read(), [((3, 1), 0), ((4, 2), 17)]);
    }
}
