//! Numbers as people type them: `500k` events, `64M` bytes, `1/100` of the calls, `90s`.
//!
//! Counts have decimal suffixes (`k` is 1,000), sizes binary ones (`K` is 1,024).

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;

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

/// Deadlines further away could overflow the clock.
const LONGEST: Duration = Duration::from_secs(3600 * u32::MAX as u64);

/// A duration above zero, in the units of [`jiff::fmt::friendly`] up to hours.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let parsed = SpanParser::new().parse_unsigned_duration(text).ok();
    parsed
        .filter(|time| !time.is_zero() && *time <= LONGEST)
        .ok_or_else(|| "write a time above 0, such as 30s, 5m or 1h30m".to_owned())
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
    use culprit_report::figure::typed_duration;

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
    fn durations_have_units_and_are_printed_as_they_are_typed() {
        for (text, millis, typed) in [
            ("500ms", 500, "500ms"),
            ("90s", 90_000, "1m30s"),
            ("1h30m", 5_400_000, "1h30m"),
            ("1.5m", 90_000, "1m30s"),
            ("120s", 120_000, "2m"),
            ("2min", 120_000, "2m"),
            ("1h", 3_600_000, "1h"),
            ("+007s", 7_000, "7s"),
        ] {
            let time = duration(text).unwrap();
            assert_eq!(time.as_millis(), millis, "{text}");
            assert_eq!(typed_duration(time), typed);
            assert_eq!(duration(typed), Ok(time));
        }
        for text in ["", "0s", "5", "-1s", "5x", "2d", "30m1h", "99999999999999h"] {
            assert!(duration(text).unwrap_err().contains("such as"), "{text}");
        }
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
