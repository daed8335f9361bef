//! Journals of reductions, which a user may resume from anywhere.

use std::fs;

use culprit_reduce::{Journal, Problem};

/// Lines get the checksum that they should have, since a line with another is looked at no further.
pub(crate) fn read(bytes: &[u8]) {
    let problem = Problem::new(8);
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let path = folder.path().join("journal");
    drop(Journal::open(&path, &problem));
    let Ok(mut journal) = fs::read(&path) else {
        return;
    };
    for line in bytes.split(|byte| *byte == b'\n') {
        journal.extend(format!("{:08x} ", crc32fast::hash(line)).bytes());
        journal.extend(line);
        journal.push(b'\n');
    }
    for bytes in [bytes, &journal] {
        if fs::write(&path, bytes).is_ok()
            && let Ok(journal) = Journal::open(&path, &problem)
        {
            let known = journal.verdicts();
            drop(journal);
            let again = Journal::open(&path, &problem).map(|journal| journal.verdicts());
            assert_eq!(
                again.ok(),
                Some(known),
                "verdicts are there when opened again"
            );
        }
    }
}
