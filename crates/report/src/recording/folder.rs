//! The recordings of a run folder, as a table.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use culprit_model::{clean, shell};
use culprit_trace::{Error, Recording, RunFolder};

use crate::figure::{clipped, cut, grouped};
use crate::style::Styles;

/// A run folder and its recordings.
pub struct FolderTable {
    pub(super) path: PathBuf,
    pub(super) facts: Vec<(String, String)>,
    pub(super) rows: Vec<Row>,
}

/// One recording.
pub(super) struct Row {
    pub(super) path: PathBuf,
    /// Its content, or the reason why it cannot be read.
    pub(super) content: Result<Content, String>,
}

pub(super) struct Content {
    pub(super) pid: u32,
    pub(super) command: Vec<String>,
    pub(super) events: u64,
    pub(super) failures: u64,
}

impl FolderTable {
    /// Reads the recordings of a folder.
    pub fn of(folder: &RunFolder) -> FolderTable {
        let rows = folder.recordings.iter().map(|path| Row {
            path: path.clone(),
            content: Recording::open(path)
                .map(|recording| Content {
                    pid: recording.start().pid,
                    command: recording.start().command.clone(),
                    events: recording.event_count(),
                    failures: recording.failures().len() as u64,
                })
                .map_err(|error| briefly(&error)),
        });
        FolderTable {
            path: folder.path.clone(),
            facts: folder.facts.clone(),
            rows: rows.collect(),
        }
    }

    /// Prints the table, and the command that shows one recording.
    pub fn print(&self, styles: Styles, out: &mut dyn Write) -> io::Result<()> {
        let (title, strong, dim) = (styles.title, styles.strong, styles.dim);
        let path = clean::path(&self.path);
        writeln!(out, "{title}Run{title:#}         {}", clipped(&path, 68))?;
        for (name, label) in [("command", "Command"), ("status", "Status")] {
            if let Some((_, value)) = self.facts.iter().find(|(key, _)| key == name) {
                let pad = 12 - label.len();
                let value = clipped(&clean::line(value), 68);
                writeln!(out, "{title}{label}{title:#}{:pad$}{value}", "")?;
            }
        }
        let count = grouped(self.rows.len() as u64);
        writeln!(out, "{title}Recordings{title:#}  {count}")?;
        writeln!(
            out,
            "\n  {dim}{:<20}{:>14}{:>10}  program{dim:#}",
            "file", "events", "failures"
        )?;
        for row in &self.rows {
            let file = clipped(&file_name(&row.path), 19);
            match &row.content {
                Ok(content) => writeln!(
                    out,
                    "  {file:<20}{:>14}{:>10}  {}",
                    grouped(content.events),
                    grouped(content.failures),
                    cut(&program(&content.command), 32)
                )?,
                Err(error) => {
                    let (bad, error) = (styles.bad, cut(&clean::line(error), 56));
                    writeln!(out, "  {file:<22}{bad}{error}{bad:#}")?;
                }
            }
        }
        // The one with most to tell: failures first, then events.
        let best = self
            .rows
            .iter()
            .rev()
            .max_by_key(|row| row.content.as_ref().ok().map(|c| (c.failures, c.events)));
        if let Some(best) = best {
            let command = shell::line(["culprit".as_ref(), "show".as_ref(), best.path.as_os_str()]);
            writeln!(out, "\nShow one:   {strong}{command}{strong:#}")?;
        }
        Ok(())
    }
}

/// An error without the path, which stands beside it.
fn briefly(error: &Error) -> String {
    match error {
        Error::Empty { .. } => "nothing was written".to_owned(),
        Error::NotARecording { .. } => "not a recording".to_owned(),
        Error::Version {
            found, supported, ..
        } => format!("recording format {found}; this culprit reads {supported}"),
        Error::Damaged { offset, .. } => format!("damaged in the block at byte {offset}"),
        Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    clean::os(name)
}

/// What a command runs: its main class or jar, with its arguments.
fn program(words: &[String]) -> String {
    let takes_value = |word: &str| {
        matches!(
            word,
            "-cp"
                | "-classpath"
                | "--class-path"
                | "-p"
                | "--module-path"
                | "--add-modules"
                | "--add-opens"
                | "--add-exports"
                | "--add-reads"
        )
    };
    let mut rest = words.get(1..).unwrap_or_default();
    while let [option, tail @ ..] = rest {
        rest = match tail {
            [_, after @ ..] if takes_value(option) => after,
            _ if option == "-jar" || option == "-m" || option == "--module" => {
                rest = tail;
                break;
            }
            _ if option.starts_with('-') => tail,
            _ => break,
        };
    }
    match rest {
        [] => shell::line(words),
        rest => shell::line(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_command_is_its_main_class_or_jar() {
        for (typed, expect) in [
            (
                "java -cp a.jar:b.jar -Xmx1g com.acme.Main x -y",
                "com.acme.Main x -y",
            ),
            ("/opt/jdk/bin/java -ea -jar app.jar", "app.jar"),
            ("java --add-opens java.base/java.lang=ALL-UNNAMED M", "M"),
            ("java -version", "java -version"),
            ("", ""),
        ] {
            let words: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
            assert_eq!(program(&words), expect);
        }
    }
}
