//! Builds the agent, so that the executable can carry it inside.
//!
//! The agent is a `cdylib`, which cargo cannot yet offer to another crate as a file, so a
//! second cargo builds it into our own output folder. It is always the optimised build, also
//! inside a debug `culprit`: it runs in somebody's program. `CULPRIT_AGENT_LIBRARY` names an
//! agent built elsewhere and skips all this.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest, Sha256};

/// What the agent is made of, from the root of the workspace.
const SOURCES: [&str; 11] = [
    "crates/agent",
    "crates/classfile",
    "crates/jvmti",
    "crates/model",
    "crates/sandbox",
    "crates/trace",
    "crates/weave",
    "crates/wire",
    "java/runtime/classes",
    "Cargo.toml",
    "Cargo.lock",
];

/// Flags that fit our executable but not a library in a stranger's process.
const UNFIT_FLAGS: [&str; 5] = [
    "sanitizer",
    "instrument-coverage",
    "warnings",
    "panic=abort",
    "crt-static",
];

fn main() {
    println!("cargo::rerun-if-env-changed=CULPRIT_AGENT_LIBRARY");
    let library = match env::var_os("CULPRIT_AGENT_LIBRARY") {
        Some(file) => {
            let file = PathBuf::from(file);
            println!("cargo::rerun-if-changed={}", file.display());
            file
        }
        None => build_agent(),
    };
    let bytes = fs::read(&library)
        .unwrap_or_else(|error| panic!("no agent at {}: {error}", library.display()));
    let digest = Sha256::digest(&bytes);
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=CULPRIT_AGENT_FILE={}", library.display());
    println!("cargo::rustc-env=CULPRIT_AGENT_HASH={hash}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "a build script cannot use crates/jvm, and cargo is not a target"
)]
fn build_agent() -> PathBuf {
    let root = Path::new(&var("CARGO_MANIFEST_DIR")).join("../..");
    // A path that is not there would make this script run again every time.
    for source in SOURCES.map(|source| root.join(source)) {
        if source.exists() {
            println!("cargo::rerun-if-changed={}", source.display());
        }
    }
    let (target, host) = (var("TARGET"), var("HOST"));
    let folder = Path::new(&var("OUT_DIR")).join("agent");
    let mut cargo = Command::new(var("CARGO"));
    cargo
        .current_dir(&root)
        .args(["build", "--package", "culprit-agent", "--release"])
        .arg("--target-dir")
        .arg(&folder)
        // `cargo clippy` and coverage tools put themselves in the compiler's place.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CLIPPY_ARGS")
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", fit_flags())
        .env("CARGO_PROFILE_RELEASE_PANIC", "unwind")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    if root.join("Cargo.lock").is_file() {
        cargo.arg("--locked");
    }
    let mut output = folder;
    if target != host {
        cargo.arg("--target").arg(&target);
        output.push(&target);
    }
    let status = cargo.status().expect("cargo starts again");
    assert!(status.success(), "the agent does not build: {status}");
    let name = match var("CARGO_CFG_TARGET_OS").as_str() {
        "macos" => "libculprit_agent.dylib",
        _ => "libculprit_agent.so",
    };
    output.join("release").join(name)
}

/// The compiler flags of the outer build that the agent can share, in cargo's encoding. A flag
/// and its value may be two words (`-C`, `panic=abort`), which go or stay together.
fn fit_flags() -> String {
    let separator = '\u{1f}';
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut words = flags.split(separator).filter(|word| !word.is_empty());
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let mut flag = vec![word];
        if word.len() == 2 && word.starts_with('-') {
            flag.extend(words.next());
        }
        let fit = |word: &&str| !UNFIT_FLAGS.iter().any(|unfit| word.contains(unfit));
        if flag.iter().all(fit) {
            kept.extend(flag);
        }
    }
    kept.join(&separator.to_string())
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
