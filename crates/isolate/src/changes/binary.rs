//! Bytes in patches, as Git writes those of files that are no text.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest as _, Sha1};

/// The digits of base 85 in Git.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// Bytes that one line holds.
const LINE: usize = 52;

/// The line with the names of both contents, and both contents, so that it can be taken back too.
/// `None` is a file that is not there.
pub(crate) fn patch(old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let mut text = format!("index {}..{}\nGIT binary patch\n", id(old), id(new));
    for side in [new, old] {
        literal(side.unwrap_or_default(), &mut text);
    }
    text
}

/// What Git calls a content.
fn id(content: Option<&[u8]>) -> String {
    let Some(bytes) = content else {
        return "0".repeat(40);
    };
    let mut digest = Sha1::new();
    digest.update(format!("blob {}\0", bytes.len()));
    digest.update(bytes);
    let mut name = String::new();
    for byte in digest.finalize() {
        // Writing to a text cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

fn literal(bytes: &[u8], text: &mut String) {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    let packed = packed.expect("memory takes all bytes");
    let _ = writeln!(text, "literal {}", bytes.len());
    for line in packed.chunks(LINE) {
        // How many bytes the line has: A to Z are 1 to 26, a to z are 27 to 52.
        let count = line.len() as u8;
        let sign = match count {
            ..=26 => b'A' + count - 1,
            _ => b'a' + count - 27,
        };
        text.push(sign as char);
        for four in line.chunks(4) {
            let mut padded = [0; 4];
            padded[..four.len()].copy_from_slice(four);
            let value = u32::from_be_bytes(padded);
            for place in (0..5).rev() {
                let digit = value / 85u32.pow(place) % 85;
                text.push(DIGITS[digit as usize] as char);
            }
        }
        text.push('\n');
    }
    text.push('\n');
}
