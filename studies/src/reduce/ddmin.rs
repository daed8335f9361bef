//! ddmin as Zeller and Hildebrandt published it in 2002, over numbers: it knows of no needs, and asks
//! for parts, then for complements, of ever more parts.

/// A part of the numbers below a size that fails, from which none can be taken.
pub fn ddmin(
    size: u32,
    fails: &mut dyn FnMut(&[u32]) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<u32>> {
    let mut current: Vec<u32> = (0..size).collect();
    let mut granularity = 2;
    while current.len() > 1 {
        granularity = granularity.min(current.len());
        let parts = parts(&current, granularity);
        let mut smaller = None;
        for part in &parts {
            if fails(part)? {
                smaller = Some((part.clone(), 2));
                break;
            }
        }
        // Of two parts, the complements are the parts.
        if smaller.is_none() && granularity > 2 {
            for without in 0..parts.len() {
                let others = parts.iter().enumerate().filter(|(at, _)| *at != without);
                let rest: Vec<u32> = others.flat_map(|(_, part)| part).copied().collect();
                if fails(&rest)? {
                    smaller = Some((rest, granularity - 1));
                    break;
                }
            }
        }
        match smaller {
            Some((found, next)) => (current, granularity) = (found, next.max(2)),
            None if granularity < current.len() => granularity *= 2,
            None => break,
        }
    }
    Ok(current)
}

/// So many parts of about the same size.
fn parts(all: &[u32], count: usize) -> Vec<Vec<u32>> {
    let cut = |at: usize| all.len() * at / count;
    (0..count)
        .map(|at| all[cut(at)..cut(at + 1)].to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_what_matters() {
        for wanted in [vec![0], vec![7, 8], vec![1, 40, 63], vec![63]] {
            let has = |it: &[u32]| wanted.iter().all(|one| it.contains(one));
            let mut tests = 0;
            let left = ddmin(64, &mut |it| {
                tests += 1;
                Ok(has(it))
            });
            assert_eq!(left.unwrap(), wanted);
            assert!(tests < 200, "{tests}");
        }
    }
}
