//! Whole numbers of any size, in decimal digits.

/// The digits of a number whose 32-bit words are given, the highest first.
pub(super) fn digits(words: &[u32]) -> String {
    const BASE: u64 = 1_000_000_000;
    let mut words = words.to_vec();
    // Nine digits at a time, the last ones first.
    let mut groups = Vec::new();
    while words.iter().any(|word| *word != 0) {
        let mut rest = 0;
        for word in &mut words {
            let value = rest << 32 | u64::from(*word);
            *word = (value / BASE) as u32;
            rest = value % BASE;
        }
        groups.push(rest);
    }
    let mut groups = groups.iter().rev();
    let first = groups.next().map_or("0".to_owned(), u64::to_string);
    groups.fold(first, |digits, group| format!("{digits}{group:09}"))
}

/// The text of a decimal number: its digits without the point, and how many are behind it.
pub(super) fn decimal(unscaled: &str, scale: i64) -> String {
    let (sign, digits) = match unscaled.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unscaled),
    };
    match usize::try_from(scale) {
        Ok(0) => unscaled.to_owned(),
        Ok(scale) if scale < 30 => {
            let padded = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = padded.split_at(padded.len() - scale);
            format!("{sign}{whole}.{fraction}")
        }
        _ => format!("{unscaled}E{}", -scale),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_digits() {
        let big = [1, 2_397_638_646, 3_279_151_342, 1_312_754_386];
        for (words, expect) in [
            (&[][..], "0"),
            (&[0], "0"),
            (&[123_456], "123456"),
            (&[1, 0], "4294967296"),
            (&[0xffff_ffff, 0xffff_ffff], "18446744073709551615"),
            (&[232, 0xd4a5_1000], "1000000000000"),
            (&big, "123456789012345678901234567890"),
        ] {
            assert_eq!(digits(words), expect);
        }
    }

    #[test]
    fn decimals_have_their_scale() {
        for (unscaled, scale, expect) in [
            ("150", 2, "1.50"),
            ("-1", 5, "-0.00001"),
            ("7", 0, "7"),
            ("1", -30, "1E30"),
            ("-12", 40, "-12E-40"),
        ] {
            assert_eq!(decimal(unscaled, scale), expect);
        }
    }
}
