//! Packs: small pieces of bytes that are kept for long and seldom taken out again, compressed
//! together. Knows nothing of what they are.

use zstd::bulk::{compress, decompress};

/// Pieces are compressed once they have so many bytes together.
const FULL: usize = 128 << 10;
/// The fastest level of the main strategy: pieces are kept while classes load.
const LEVEL: i32 = 1;

/// The position of a piece in a pack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PackEntry {
    pack: u32,
    from: u32,
    length: u32,
}

/// Pieces that were compressed together.
struct Pack {
    bytes: Vec<u8>,
    /// Bytes before compression.
    length: usize,
    /// Pieces that are still wanted.
    left: u32,
}

#[derive(Default)]
pub(crate) struct Packs {
    /// `None` where no piece is left.
    full: Vec<Option<Pack>>,
    /// The pack that is being filled, which comes after the full ones.
    open: Vec<u8>,
    open_left: u32,
    /// The pack that was last decompressed: pieces that are kept together are taken together.
    last: Option<(u32, Vec<u8>)>,
}

impl Packs {
    /// Keeps a piece; `None` where there are more than can be numbered.
    pub(crate) fn add(&mut self, piece: &[u8]) -> Option<PackEntry> {
        let place = PackEntry {
            pack: u32::try_from(self.full.len()).ok()?,
            from: u32::try_from(self.open.len()).ok()?,
            length: u32::try_from(piece.len()).ok()?,
        };
        self.open.extend_from_slice(piece);
        self.open_left += 1;
        if self.open.len() >= FULL {
            self.close();
        }
        Some(place)
    }

    fn close(&mut self) {
        let left = std::mem::take(&mut self.open_left);
        let pack = compress(&self.open, LEVEL).ok().map(|bytes| Pack {
            bytes,
            length: self.open.len(),
            left,
        });
        self.full.push(pack.filter(|pack| pack.left > 0));
        self.open.clear();
    }

    /// Takes a piece out.
    pub(crate) fn take(&mut self, place: PackEntry) -> Option<Vec<u8>> {
        let pack = match self.full.get(place.pack as usize) {
            None => &self.open,
            Some(pack) => {
                let pack = pack.as_ref()?;
                if self.last.as_ref().is_none_or(|(at, _)| *at != place.pack) {
                    let bytes = decompress(&pack.bytes, pack.length).ok()?;
                    self.last = Some((place.pack, bytes));
                }
                &self.last.as_ref()?.1
            }
        };
        let (from, length) = (place.from as usize, place.length as usize);
        let piece = pack.get(from..from + length)?.to_vec();
        self.remove(place);
        Some(piece)
    }

    /// A piece is wanted no more.
    pub(crate) fn remove(&mut self, place: PackEntry) {
        let Some(slot) = self.full.get_mut(place.pack as usize) else {
            self.open_left = self.open_left.saturating_sub(1);
            return;
        };
        if let Some(pack) = slot {
            pack.left = pack.left.saturating_sub(1);
            if pack.left == 0 {
                *slot = None;
                self.last.take_if(|(at, _)| *at == place.pack);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_and_packs_without_any_are_gone() {
        let mut packs = Packs::default();
        let piece = |i: u32| format!("piece {i} ").repeat(100).into_bytes();
        let places: Vec<PackEntry> = (0..1000).map(|i| packs.add(&piece(i)).unwrap()).collect();
        assert!(packs.full.len() > 3);
        let bytes: usize = packs.full.iter().flatten().map(|p| p.bytes.len()).sum();
        assert!(bytes < 100_000, "{bytes} bytes for {} pieces", places.len());
        for i in [0, 999, 500, 501, 1] {
            assert_eq!(packs.take(places[i]), Some(piece(i as u32)), "{i}");
        }
        for (i, place) in places.iter().enumerate() {
            if ![0, 999, 500, 501, 1].contains(&i) {
                packs.remove(*place);
            }
        }
        assert!(packs.full.iter().all(Option::is_none));
        assert!(packs.last.is_none());
    }
}
