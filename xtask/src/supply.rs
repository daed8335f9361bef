//! The crates of others: where they come from, under which licences, and which are pinned.
//!
//! This is the part of `make audit` that needs neither a tool nor a network. The licences are those
//! that `deny.toml` allows; the crates with one maintainer are listed in the `Cargo.toml` of the
//! workspace, where each is pinned to the version that somebody has read.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::process;

/// True if the source is Cargo's own registry, wherever its index is.
fn is_registry(source: &str) -> bool {
    source.starts_with("registry+") && source.ends_with("/crates.io-index")
}

/// Fails with everything that may not be taken in.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let words = ["metadata", "--locked", "--format-version", "1"];
    let metadata: Value = serde_json::from_str(&process::output(cargo, words, root)?)?;
    let rules = fs::read_to_string(root.join("deny.toml")).context("cannot read deny.toml")?;
    let allowed = allowed(&rules).context("deny.toml has no licenses.allow")?;
    let complaints = complaints(&metadata, &allowed);
    if !complaints.is_empty() {
        bail!("may not be taken in:\n  {}", complaints.join("\n  "));
    }
    Ok(())
}

fn complaints(metadata: &Value, allowed: &[&str]) -> Vec<String> {
    let packages = || metadata["packages"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for package in packages() {
        let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
        if let Some(source) = package["source"].as_str().filter(|it| !is_registry(it)) {
            found.push(format!("{name}: comes from {source}"));
        }
        let license = text(&package["license"]);
        if !is_allowed(&license, allowed) {
            found.push(format!("{name}: its licence is {license:?}"));
        }
    }
    let pinned = metadata["metadata"]["single-maintainer"].as_array();
    let pinned: Vec<&str> = pinned
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if pinned.is_empty() {
        found.push("Cargo.toml: workspace.metadata.single-maintainer names no crate".to_owned());
    }
    let ours = || packages().filter(|package| package["source"].is_null());
    let uses =
        || ours().flat_map(|package| package["dependencies"].as_array().into_iter().flatten());
    for name in pinned {
        let requirements = uses()
            .filter(|it| it["name"] == name)
            .map(|it| text(&it["req"]));
        let requirements: Vec<String> = requirements.collect();
        if requirements.is_empty() {
            found.push(format!("{name}: is listed as pinned, and nobody uses it"));
        }
        let loose = requirements.iter().filter(|it| !it.starts_with('='));
        found.extend(
            loose.map(|it| format!("{name}: has one maintainer, and {it} does not pin it")),
        );
    }
    found
}

/// The licences that `deny.toml` allows.
fn allowed(rules: &str) -> Option<Vec<&str>> {
    let (_, section) = rules.split_once("\n[licenses]\n")?;
    let (_, list) = section.split_once("allow = [")?;
    let (list, _) = list.split_once(']')?;
    Some(list.split('"').skip(1).step_by(2).collect())
}

/// True if an expression can be met by allowed licences: one of each `OR`, all of each `AND`, which
/// binds more tightly. Old manifests write `/` for `OR`.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ");
    let spaced = spaced.replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let is_met = any(&mut words, allowed);
    is_met && words.next().is_none()
}

type Words<'w> = std::iter::Peekable<std::str::SplitWhitespace<'w>>;

fn any(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut is_met = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        is_met |= all(words, allowed);
    }
    is_met
}

fn all(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut is_met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        is_met &= one(words, allowed);
    }
    is_met
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let is_met = any(words, allowed);
        return words.next_if_eq(&")").is_some() && is_met;
    }
    let is_met = words.next().is_some_and(|word| allowed.contains(&word));
    match words.next_if_eq(&"WITH") {
        // An exception is a licence of its own.
        Some(_) => words.next().is_none(),
        None => is_met,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const REGISTRY: &str = "registry+https://example.org/crates.io-index";

    #[test]
    fn licences_are_read_as_expressions() {
        let allowed = ["MIT", "Zlib", "Unicode-3.0"];
        for (expression, expect) in [
            ("MIT", true),
            ("Apache-2.0 OR MIT", true),
            ("Apache-2.0/MIT", true),
            ("(Apache-2.0 OR MIT) AND Unicode-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-3.0 AND MIT OR Zlib", true),
            ("Apache-2.0 WITH LLVM-exception OR MIT", true),
            ("MIT WITH something", false),
            ("", false),
            ("MIT MIT", false),
            ("(MIT", false),
        ] {
            assert_eq!(is_allowed(expression, &allowed), expect, "{expression}");
        }
    }

    #[test]
    fn sources_licences_and_loose_versions_are_named() {
        let package = |name: &str, source: Value, license: &str, uses: Value| json!({"name": name, "version": "1.0.0", "source": source, "license": license, "dependencies": uses});
        let uses = json!([{"name": "lone", "req": "^1"}, {"name": "exact", "req": "=1.0.0"}]);
        let metadata = json!({
            "packages": [
                package("ours", Value::Null, "MIT", uses),
                package("lone", json!(REGISTRY), "MIT", json!([])),
                package("exact", json!(REGISTRY), "GPL-3.0", json!([])),
                package("odd", json!("git+https://example.org/odd"), "MIT", json!([])),
            ],
            "metadata": {"single-maintainer": ["lone", "exact", "gone"]},
        });
        assert_eq!(
            complaints(&metadata, &["MIT"]),
            [
                "exact 1.0.0: its licence is \"GPL-3.0\"",
                "odd 1.0.0: comes from git+https://example.org/odd",
                "lone: has one maintainer, and ^1 does not pin it",
                "gone: is listed as pinned, and nobody uses it",
            ]
        );
    }

    #[test]
    fn the_list_of_licences_is_that_of_the_tool() {
        let rules = "[graph]\n\n[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n]\nx = 1\n";
        assert_eq!(allowed(rules).unwrap(), ["MIT", "Zlib"]);
        assert_eq!(allowed("[bans]\n"), None);
    }
}
