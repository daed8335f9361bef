//! Dependencies point one way: who may know what is checked, not only written down.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::ensure;

use crate::process;

/// A package, and the only ones that may depend on it, directly or not.
const RESERVED: [(&str, &[&str]); 4] = [
    ("jvmti-bindings", &["culprit-agent", "culprit-jvmti"]),
    ("culprit-jvmti", &["culprit-agent"]),
    // The executable carries the built agent as a file; nobody links it.
    ("culprit-agent", &[]),
    // Engines return results; the executable alone has them rendered.
    ("culprit-report", &["culprit"]),
];

/// A package, and the only ones of the workspace that it may depend on.
const NARROW: [(&str, &[&str]); 18] = [
    ("culprit-model", &[]),
    ("culprit-trace", &["culprit-model"]),
    ("culprit-wire", &["culprit-model"]),
    ("culprit-sandbox", &[]),
    ("culprit-reduce", &[]),
    ("culprit-signature", &["culprit-model"]),
    ("culprit-junit", &["culprit-classfile", "culprit-model"]),
    (
        "culprit-slice",
        &["culprit-classfile", "culprit-model", "culprit-trace"],
    ),
    (
        "culprit-program",
        &[
            "culprit-classfile",
            "culprit-jvm",
            "culprit-model",
            "culprit-sandbox",
            "culprit-trace",
            "culprit-wire",
        ],
    ),
    (
        "culprit-pinpoint",
        &[
            "culprit-classfile",
            "culprit-jvm",
            "culprit-model",
            "culprit-program",
            "culprit-sandbox",
            "culprit-signature",
            "culprit-slice",
            "culprit-trace",
            "culprit-weave",
            "culprit-wire",
        ],
    ),
    (
        "culprit-replay",
        &[
            "culprit-classfile",
            "culprit-jvm",
            "culprit-model",
            "culprit-program",
            "culprit-sandbox",
            "culprit-trace",
            "culprit-wire",
        ],
    ),
    (
        "culprit-scripts",
        &[
            "culprit-classfile",
            "culprit-junit",
            "culprit-jvm",
            "culprit-model",
            "culprit-program",
            "culprit-replay",
            "culprit-sandbox",
            "culprit-signature",
            "culprit-trace",
            "culprit-wire",
        ],
    ),
    (
        "culprit-minimize",
        &[
            "culprit-classfile",
            "culprit-junit",
            "culprit-jvm",
            "culprit-model",
            "culprit-program",
            "culprit-reduce",
            "culprit-replay",
            "culprit-sandbox",
            "culprit-scripts",
            "culprit-signature",
            "culprit-trace",
            "culprit-wire",
        ],
    ),
    (
        "culprit-debug",
        &[
            "culprit-classfile",
            "culprit-junit",
            "culprit-jvm",
            "culprit-minimize",
            "culprit-model",
            "culprit-pinpoint",
            "culprit-program",
            "culprit-reduce",
            "culprit-replay",
            "culprit-sandbox",
            "culprit-scripts",
            "culprit-signature",
            "culprit-slice",
            "culprit-trace",
            "culprit-weave",
            "culprit-wire",
        ],
    ),
    (
        "culprit-instrument",
        &["culprit-classfile", "culprit-model", "culprit-weave"],
    ),
    ("culprit-suggest", &["culprit-model", "culprit-trace"]),
    (
        "culprit-isolate",
        &[
            "culprit-jvm",
            "culprit-model",
            "culprit-reduce",
            "culprit-sandbox",
            "culprit-signature",
            "culprit-wire",
        ],
    ),
    (
        "culprit-agent",
        &[
            "culprit-classfile",
            "culprit-jvmti",
            "culprit-model",
            "culprit-sandbox",
            "culprit-trace",
            "culprit-weave",
            "culprit-wire",
        ],
    ),
];

/// Fails with the first dependency that points the wrong way.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    for (package, allowed) in RESERVED {
        let found = tree(root, &["--workspace", "--invert", package])?;
        complain(&found, package, allowed, "may not depend on it")?;
    }
    for (package, allowed) in NARROW {
        let mut found = tree(root, &["--package", package])?;
        found.retain(|name| name.starts_with("culprit"));
        complain(&found, package, allowed, "is not a dependency it may have")?;
    }
    Ok(())
}

fn complain(
    found: &BTreeSet<String>,
    package: &str,
    allowed: &[&str],
    complaint: &str,
) -> anyhow::Result<()> {
    for name in found {
        let fine = name == package || allowed.contains(&name.as_str());
        ensure!(fine, "{package}: {name} {complaint}");
    }
    Ok(())
}

/// The names in a dependency tree. A package nobody uses yet has an empty one.
fn tree(root: &Path, words: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let fixed = ["tree", "--locked", "--edges", "normal", "--prefix", "none"];
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    match process::output(cargo, fixed.iter().chain(words), root) {
        Ok(text) => Ok(names(&text)),
        Err(error) if error.to_string().contains("did not match any packages") => {
            Ok(BTreeSet::new())
        }
        Err(error) => Err(error),
    }
}

fn names(tree: &str) -> BTreeSet<String> {
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_in_the_tree_is_named() {
        let tree = "jvmti-bindings v3.0.2\nculprit-jvmti v0.1.0 (/x)\nculprit v0.1.0 (/x)\n";
        let error = complain(
            &names(tree),
            "jvmti-bindings",
            &["culprit-jvmti"],
            "may not depend on it",
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "jvmti-bindings: culprit may not depend on it"
        );
    }
}
