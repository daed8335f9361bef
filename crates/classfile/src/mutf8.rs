//! Modified UTF-8, the encoding of every name and string in a class file.
//!
//! It differs from UTF-8 in two ways: NUL takes two bytes, and characters above U+FFFF are two encoded surrogates.
//! Pool entries are kept as raw bytes; decoding happens only for a reader's eyes, so a name we cannot decode
//! exactly (an unpaired surrogate) still survives a round trip.

use std::borrow::Cow;

/// Decodes for display and comparison. Unpaired surrogates and invalid bytes become U+FFFD.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if bytes.is_ascii() && !bytes.contains(&0) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Cow::Borrowed(text);
        }
    }
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let continuation = |at: usize| {
            tail.get(at)
                .filter(|b| **b & 0xc0 == 0x80)
                .map(|b| u16::from(b & 0x3f))
        };
        let (unit, length) = match first {
            0x01..=0x7f => (u16::from(*first), 1),
            0xc0..=0xdf => match continuation(0) {
                Some(low) => (u16::from(first & 0x1f) << 6 | low, 2),
                None => (0xfffd, 1),
            },
            0xe0..=0xef => match (continuation(0), continuation(1)) {
                (Some(middle), Some(low)) => (u16::from(first & 0x0f) << 12 | middle << 6 | low, 3),
                _ => (0xfffd, 1),
            },
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(String::from_utf16_lossy(&units))
}

/// Encodes a Rust string.
pub fn encode(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() && !text.as_bytes().contains(&0) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len() + 8);
    for unit in text.encode_utf16() {
        match unit {
            0x01..=0x7f => bytes.push(unit as u8),
            0 | 0x80..=0x7ff => {
                bytes.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8])
            }
            _ => bytes.extend([
                0xe0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nul_and_supplementary_characters_take_their_modified_forms() {
        assert_eq!(encode("a\0").as_ref(), [b'a', 0xc0, 0x80]);
        assert_eq!(encode("😀").as_ref(), [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]);
    }

    #[test]
    fn an_unpaired_surrogate_decodes_to_the_replacement_character() {
        assert_eq!(decode(&[0xed, 0xa0, 0xbd]), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn every_string_survives(text in any::<String>()) {
            let encoded = encode(&text);
            prop_assert_eq!(decode(&encoded), text.as_str());
        }

        #[test]
        fn any_bytes_decode(bytes in any::<Vec<u8>>()) {
            decode(&bytes);
        }
    }
}
