//! The output of a run on disk: of a long one, the beginning and the end are kept.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes that are kept of the beginning, and of the end.
const KEPT: u64 = 1 << 20;

/// Leaves the middle of a long file out, and says so there.
pub(crate) fn bound(path: &Path) -> io::Result<()> {
    bound_to(path, KEPT)
}

fn bound_to(path: &Path, kept: u64) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let length = file.metadata()?.len();
    let Some(left_out) = length.checked_sub(2 * kept).filter(|bytes| *bytes > 0) else {
        return Ok(());
    };
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(length - kept))?;
    file.read_to_end(&mut end)?;
    file.set_len(kept)?;
    file.seek(SeekFrom::Start(kept))?;
    write!(file, "\n[culprit: {left_out} bytes left out]\n")?;
    file.write_all(&end)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check(output: &str, expect: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output.txt");
        fs::write(&path, output).unwrap();
        bound_to(&path, 4).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), expect);
    }

    #[test]
    fn of_a_long_output_beginning_and_end_are_kept() {
        check("abcdefgh", "abcdefgh");
        check("", "");
        check("abcd12345wxyz", "abcd\n[culprit: 5 bytes left out]\nwxyz");
    }
}
