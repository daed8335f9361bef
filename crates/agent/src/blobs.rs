//! Long strings and array contents, stored once: a content seen before gives its number again.

use std::collections::HashMap;
use std::sync::Mutex;

use culprit_model::BlobId;
use xxhash_rust::xxh3::xxh3_128;

use crate::lock::LockSafe;

/// Contents remembered; beyond this the memory starts anew and some are stored twice.
const MOST: usize = 1 << 20;

#[derive(Default)]
pub(crate) struct Blobs {
    known: Mutex<KnownBlobs>,
}

#[derive(Default)]
struct KnownBlobs {
    by_content: HashMap<u128, BlobId>,
    next: u32,
}

impl Blobs {
    /// From here on every content is new; the number of the next one.
    pub(crate) fn forget(&self) -> BlobId {
        let mut known = self.known.lock_safe();
        known.by_content.clear();
        BlobId(known.next)
    }

    /// The number of a content; `store` is called if it is new, before anybody else can know the
    /// number. The 128-bit hash stands for the content.
    pub(crate) fn number(&self, bytes: &[u8], store: impl FnOnce(BlobId, Vec<u8>)) -> BlobId {
        let hash = xxh3_128(bytes);
        let mut known = self.known.lock_safe();
        if let Some(id) = known.by_content.get(&hash) {
            return *id;
        }
        if known.by_content.len() >= MOST {
            known.by_content.clear();
        }
        let id = BlobId(known.next);
        known.next = known.next.wrapping_add(1);
        known.by_content.insert(hash, id);
        store(id, bytes.to_vec());
        id
    }
}
