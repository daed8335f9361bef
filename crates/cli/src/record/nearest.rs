//! What the user may have meant by a pattern that matched nothing.
//!
//! Classes are compared by full and by simple name, packages by full name, with the edit
//! distance of Levenshtein over characters. The order is total: distance, then name.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::Pattern;
use culprit_model::observe::{is_jdk_name, is_tool_name};
use strsim::levenshtein;

/// Up to `limit` patterns near to `pattern` that match some of `classes` (dotted or internal
/// names), best first.
pub(crate) fn nearest(pattern: &Pattern, classes: &[String], limit: usize) -> Vec<String> {
    let pattern = pattern.to_string();
    let classes: BTreeSet<String> = classes.iter().map(|name| name.replace('/', ".")).collect();
    match pattern.strip_suffix(".**").or(pattern.strip_suffix(".*")) {
        Some(package) => {
            let stars = &pattern[package.len()..];
            let candidates = match stars {
                ".**" => packages(&classes, Depth::WithParents),
                _ => packages(&classes, Depth::Exact),
            };
            ranked(candidates.keys(), limit, |name| levenshtein(package, name))
                .iter()
                .map(|name| format!("{name}{stars}"))
                .collect()
        }
        None => ranked(&classes, limit, |name| class_distance(&pattern, name)),
    }
}

/// The packages with most classes among those a user may call their own, for when nothing was
/// named. Parents stand for packages that are all below them.
pub(crate) fn largest_packages(classes: &[String], limit: usize) -> Vec<String> {
    let own = classes
        .iter()
        .map(|name| name.replace('.', "/"))
        .filter(|name| !is_jdk_name(name) && !is_tool_name(name))
        .map(|name| name.replace('/', "."))
        .collect();
    let mut counted: Vec<(String, usize)> = packages(&own, Depth::Exact).into_iter().collect();
    counted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counted.truncate(limit);
    counted
        .into_iter()
        .map(|(name, _)| format!("{name}.*"))
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Exact,
    WithParents,
}

/// Packages with the number of classes in them.
fn packages(classes: &BTreeSet<String>, depth: Depth) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for class in classes {
        let mut rest = class.as_str();
        while let Some((package, _)) = rest.rsplit_once('.') {
            *counts.entry(package.to_owned()).or_insert(0) += 1;
            if depth == Depth::Exact {
                break;
            }
            rest = package;
        }
    }
    counts
}

fn ranked<'a>(
    names: impl IntoIterator<Item = &'a String>,
    limit: usize,
    distance: impl Fn(&str) -> usize,
) -> Vec<String> {
    let mut near: Vec<(usize, &String)> = names
        .into_iter()
        .map(|name| (distance(name), name))
        // Beyond half of its letters a name is another name, not a misspelling.
        .filter(|(distance, name)| *distance * 2 <= name.chars().count())
        .collect();
    near.sort();
    near.into_iter()
        .take(limit)
        .map(|(_, name)| name.clone())
        .collect()
}

/// A class is near by its full name, or by its simple name in whatever package: the wrong
/// package is a common mistake, but counts as one more than the letters differ.
fn class_distance(pattern: &str, class: &str) -> usize {
    let simple = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let by_full = levenshtein(pattern, class);
    let (wanted, found) = (simple(pattern), simple(class));
    let by_simple = levenshtein(&wanted, &found);
    if by_simple * 3 <= wanted.chars().count() {
        by_full.min(by_simple + 1)
    } else {
        by_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Vec<String> {
        [
            "com/acme/billing/Invoice",
            "com/acme/billing/InvoiceLine",
            "com/acme/orders/Order",
            "com/acme/orders/Order$Line",
            "com/acme/orders/OrderBook",
            "java/lang/Object",
            "org/junit/Assert",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    #[track_caller]
    fn check(pattern: &str, expect: &[&str]) {
        let pattern: Pattern = pattern.parse().unwrap();
        let found = nearest(&pattern, &classes(), 2);
        assert_eq!(found, expect, "{pattern}");
    }

    #[test]
    fn a_misspelt_class_is_found() {
        check(
            "com.acme.orders.Ordr",
            &["com.acme.orders.Order", "com.acme.orders.OrderBook"],
        );
    }

    #[test]
    fn a_class_in_the_wrong_package_is_found() {
        check("Invoice", &["com.acme.billing.Invoice"]);
        check(
            "com.acme.Order",
            &["com.acme.orders.Order", "com.acme.orders.OrderBook"],
        );
    }

    #[test]
    fn a_misspelt_package_is_found_and_keeps_its_stars() {
        check(
            "com.acme.biling.**",
            &["com.acme.billing.**", "com.acme.orders.**"],
        );
        check("com.acne.**", &["com.acme.**"]);
        check(
            "com.acme.order.*",
            &["com.acme.orders.*", "com.acme.billing.*"],
        );
    }

    #[test]
    fn nothing_is_proposed_for_a_name_like_no_other() {
        check("zzz.yyy.Xxxxxxxxxxxxx", &[]);
    }

    #[test]
    fn the_largest_packages_leave_out_jdk_and_tools() {
        let found = largest_packages(&classes(), 5);
        assert_eq!(found, ["com.acme.orders.*", "com.acme.billing.*"]);
    }
}
