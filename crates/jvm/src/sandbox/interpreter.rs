//! The dynamic linker that a program names: the kernel executes it together with the program.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Type of the entry of the program header that names it.
const PT_INTERP: u32 = 3;

/// Longest path that is believed.
const LONGEST: u64 = 4096;

/// The linker of a program; `None` for one that is linked statically.
pub(super) fn of(program: &Path) -> io::Result<Option<PathBuf>> {
    let file = File::open(program)?;
    let no_program = || io::Error::from(io::ErrorKind::InvalidData);
    let mut head = [0; 64];
    file.read_exact_at(&mut head, 0)?;
    // 64 bits, little endian: all that JVMs run on here.
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return Err(no_program());
    }
    let (table, size, count) = (u64_at(&head, 32), u16_at(&head, 54), u16_at(&head, 56));
    for number in 0..u64::from(count) {
        let mut entry = [0; 56];
        let at = number
            .checked_mul(u64::from(size))
            .and_then(|offset| offset.checked_add(table))
            .ok_or_else(no_program)?;
        file.read_exact_at(&mut entry, at)?;
        let (offset, length) = (u64_at(&entry, 8), u64_at(&entry, 32));
        if u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]) != PT_INTERP {
            continue;
        }
        if length > LONGEST {
            return Err(no_program());
        }
        let mut path = vec![0; length as usize];
        file.read_exact_at(&mut path, offset)?;
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        return Ok(Some(PathBuf::from(OsStr::from_bytes(path))));
    }
    Ok(None)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_one_and_a_text_is_no_program() {
        let linker = of(&std::env::current_exe().unwrap()).unwrap();
        assert!(linker.is_none_or(|linker| linker.is_file()));
        assert!(of(Path::new("/etc/passwd")).is_err());
    }
}
