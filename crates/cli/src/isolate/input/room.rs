//! Whether there is memory for an input. A process that takes too much is killed and cannot say why.

use std::fs;

/// Inputs below this are no trouble anywhere.
const LARGE: u64 = 64 << 20;

/// Both sides, the candidates at hand and the pieces of one pass, as a multiple of what is given.
const TIMES: u64 = 3;

/// What to tell of inputs of so many bytes, one that fails and one that passes, if memory may not do.
pub(super) fn lack(sides: [u64; 2]) -> Option<String> {
    let known = fs::read_to_string("/proc/meminfo").ok()?;
    too_little(sides, available(&known)?)
}

fn available(known: &str) -> Option<u64> {
    let line = known
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

fn too_little(sides: [u64; 2], available: u64) -> Option<String> {
    let bytes: u64 = sides.iter().sum();
    let needed = bytes.saturating_mul(TIMES);
    if bytes < LARGE || needed <= available {
        return None;
    }
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    Some(format!(
        "this may take {} of memory, and {} are free; if culprit ends without a message, it was killed",
        gigabytes(needed),
        gigabytes(available)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_comes_where_memory_may_not_do() {
        let known = "MemTotal:  8000000 kB\nMemFree:  1 kB\nMemAvailable:  2000000 kB\n";
        let free = available(known).unwrap();
        assert_eq!(free, 2_048_000_000);
        assert_eq!(too_little([1 << 20, 0], 1), None);
        assert_eq!(too_little([500_000_000, 0], free), None);
        let warning = too_little([500_000_000, 500_000_000], free).unwrap();
        assert!(
            warning.contains("3.0 GB") && warning.contains("2.0 GB"),
            "{warning}"
        );
    }
}
