//! The reasons why a jar cannot be instrumented.

use std::io;
use std::path::PathBuf;

use culprit_model::Pattern;
use zip::result::ZipError;

/// A jar could not be instrumented.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The jar cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The jar.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a zip archive.
    #[error("{} is not a jar: {source}", path.display())]
    NotAJar {
        /// The file.
        path: PathBuf,
        /// The error of the zip reader.
        source: ZipError,
    },
    /// An entry of the jar cannot be read.
    #[error("{} is damaged: {source}", path.display())]
    Damaged {
        /// The jar.
        path: PathBuf,
        /// The error of the zip reader.
        source: ZipError,
    },
    /// The jar contains woven classes.
    #[error("{} is instrumented already", path.display())]
    Instrumented {
        /// The jar.
        path: PathBuf,
    },
    /// The jar contains no classes.
    #[error("{} contains no classes", path.display())]
    NoClasses {
        /// The jar.
        path: PathBuf,
    },
    /// The selection contains no class of the jar.
    #[error("no class of {} matches {}", path.display(), wanted(observe))]
    Unmatched {
        /// The jar.
        path: PathBuf,
        /// The patterns of the selection.
        observe: Vec<Pattern>,
        /// The dotted names of the classes of the jar.
        classes: Vec<String>,
    },
    /// The file to write exists.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The new jar cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The new jar.
        path: PathBuf,
        /// The error of the system or of the zip writer.
        source: ZipError,
    },
    /// The class of idle probes cannot be made: an error of this program.
    #[error("the idle probes cannot be made: {0}")]
    Probes(#[from] culprit_classfile::Error),
}

fn wanted(observe: &[Pattern]) -> String {
    match observe {
        [] => "what is left after --exclude".to_owned(),
        patterns => {
            let patterns: Vec<String> = patterns.iter().map(Pattern::to_string).collect();
            patterns.join(", ")
        }
    }
}
