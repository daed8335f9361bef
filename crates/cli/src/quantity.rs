//! Numbers as people type them: `500k` events, `64M` bytes, `1/100` of the calls.
//!
//! Counts have decimal suffixes (`k` is 1,000), sizes binary ones (`K` is 1,024).

/// A count of something, at least one.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    number(text, 1_000)
        .filter(|n| *n > 0)
        .ok_or_else(|| "write a number above 0, such as 5000, 500k or 2M".to_owned())
}

/// A size in bytes, at least one.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let text = text
        .strip_suffix("iB")
        .or(text.strip_suffix('B'))
        .unwrap_or(text);
    number(text, 1_024)
        .filter(|n| *n > 0)
        .ok_or_else(|| "write a size above 0, such as 800K, 64M or 2G".to_owned())
}

/// The K of a share `1/K`.
pub(crate) fn share(text: &str) -> Result<u32, String> {
    text.strip_prefix("1/")
        .and_then(|k| k.parse().ok())
        .filter(|k| *k > 0)
        .ok_or_else(|| "write a share of the calls, such as 1/100".to_owned())
}

fn number(text: &str, thousand: u64) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match &text[digits.len()..] {
        "" => 0,
        "k" | "K" => 1,
        "m" | "M" => 2,
        "g" | "G" => 3,
        _ => return None,
    };
    let digits: u64 = digits.replace('_', "").parse().ok()?;
    digits.checked_mul(thousand.pow(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_decimal_and_sizes_binary() {
        for (text, counted, sized) in [
            ("1", 1, 1),
            ("5_000", 5_000, 5_000),
            ("500k", 500_000, 512_000),
            ("64M", 64_000_000, 67_108_864),
            ("2G", 2_000_000_000, 2_147_483_648),
        ] {
            assert_eq!(count(text), Ok(counted), "{text}");
            assert_eq!(size(text), Ok(sized), "{text}");
        }
        assert_eq!(size("64MiB"), size("64M"));
        assert_eq!(size("64MB"), size("64M"));
        assert_eq!(share("1/100"), Ok(100));
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        for text in ["", "0", "-1", "k", "1.5M", "64X", "99999999999G"] {
            assert!(count(text).unwrap_err().contains("such as"), "{text}");
            assert!(size(text).unwrap_err().contains("such as"), "{text}");
        }
        for text in ["", "1", "2/3", "1/0", "1/", "0.5"] {
            assert!(share(text).unwrap_err().contains("1/100"), "{text}");
        }
    }
}
