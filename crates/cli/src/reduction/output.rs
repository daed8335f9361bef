//! The output of a command that gave nothing to debug: the lines that state why.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use culprit_jvm::untrusted;
use culprit_model::clean;
use culprit_report::figure::cut;

/// Bytes that are read of the end of the output.
const MOST: u64 = 256 << 10;
/// Lines that are quoted.
const LINES: usize = 4;
/// Columns of a quoted line.
const WIDTH: usize = 160;

/// Messages of a JVM that cannot run its main class.
const LAUNCHER: [&str; 6] = [
    "Error: Could not find or load main class",
    "Error: Main method",
    "Error: Unable to initialize main class",
    "Error: Unable to access jarfile",
    "Error: LinkageError occurred while loading main class",
    "no main manifest attribute",
];

/// Messages of a build that ended before the program was run.
const BUILD: [&str; 3] = ["BUILD FAILURE", "BUILD FAILED", "FAILURE: Build failed"];

/// The lines to quote of the output of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TellingLines {
    pub(super) lines: Vec<String>,
    /// Whether the program itself was run: neither the compiler, nor the build, nor the start of the JVM failed.
    pub(super) program_ran: bool,
}

impl TellingLines {
    /// The telling lines of a file. A file that cannot be read has none.
    pub(super) fn of_file(path: &Path) -> TellingLines {
        TellingLines::of(&tail(path).unwrap_or_default())
    }

    fn of(output: &str) -> TellingLines {
        let lines = output.lines().map(str::trim_end);
        let lines = lines.filter(|line| !line.trim().is_empty());
        let lines: Vec<&str> = lines
            .filter(|line| !line.starts_with("Picked up JAVA_TOOL_OPTIONS:"))
            .collect();
        let is_any = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
        if let Some(first) = lines.iter().position(|line| is_any(line, &LAUNCHER)) {
            let cause = lines.get(first + 1);
            let cause = cause.filter(|line| line.starts_with("Caused by:"));
            return TellingLines {
                lines: quoted(lines[first..=first].iter().chain(cause).copied()),
                program_ran: false,
            };
        }
        let mut errors: Vec<&str> = Vec::new();
        for line in lines.iter().filter(|line| is_of_compiler(line)) {
            if !errors.contains(line) {
                errors.push(line);
            }
        }
        if !errors.is_empty() {
            return TellingLines {
                lines: quoted(errors.into_iter().take(LINES)),
                program_ran: false,
            };
        }
        let last = lines.len().saturating_sub(LINES);
        TellingLines {
            lines: quoted(lines[last..].iter().copied()),
            program_ran: !lines.iter().any(|line| is_any(line, &BUILD)),
        }
    }

    /// The lines as the beginning of a hint, of which other lines follow.
    pub(super) fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| format!("| {line}\n  "));
        lines.collect()
    }
}

/// Whether a line is an error of a compiler, as javac, Maven and Kotlin print it.
fn is_of_compiler(line: &str) -> bool {
    line.contains("COMPILATION ERROR")
        || [".java:", ".kt:"].iter().any(|source| {
            let rest = line.split_once(source).map(|(_, rest)| rest);
            rest.is_some_and(|rest| {
                rest.contains(": error: ")
                    || (line.starts_with("[ERROR]") && rest.starts_with('['))
                    || line.starts_with("e: ")
            })
        })
}

fn quoted<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<String> {
    lines.map(|line| cut(&clean::line(line), WIDTH)).collect()
}

/// The end of a file as text.
fn tail(path: &Path) -> io::Result<String> {
    let mut file = untrusted::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST)))?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expect: &[&str], program_ran: bool) {
        let told = TellingLines::of(output);
        assert_eq!(told.lines, expect);
        assert_eq!(told.program_ran, program_ran);
    }

    #[test]
    fn a_main_class_that_is_not_there_is_told_with_its_cause() {
        check(
            "Picked up JAVA_TOOL_OPTIONS: -agentpath:x\n\
             Error: Could not find or load main class shop.Mian\n\
             Caused by: java.lang.ClassNotFoundException: shop.Mian\n",
            &[
                "Error: Could not find or load main class shop.Mian",
                "Caused by: java.lang.ClassNotFoundException: shop.Mian",
            ],
            false,
        );
        check(
            "Error: Unable to access jarfile app.jar\n",
            &["Error: Unable to access jarfile app.jar"],
            false,
        );
    }

    #[test]
    fn errors_of_a_compiler_are_told_once_each() {
        check(
            "[INFO] compiling\n[ERROR] COMPILATION ERROR : \n\
             [ERROR] /a/Till.java:[3,9] cannot find symbol\n[INFO] 1 error\n[INFO] BUILD FAILURE\n\
             [ERROR] /a/Till.java:[3,9] cannot find symbol\n[ERROR] To see the full stack trace, use -e\n",
            &[
                "[ERROR] COMPILATION ERROR :",
                "[ERROR] /a/Till.java:[3,9] cannot find symbol",
            ],
            false,
        );
        check(
            "Till.java:3: error: ';' expected\n  int x\n       ^\n1 error\n",
            &["Till.java:3: error: ';' expected"],
            false,
        );
    }

    #[test]
    fn of_other_output_the_last_lines_are_told() {
        check(
            "one\ntwo\n\nthree\nfour\nfive\n",
            &["two", "three", "four", "five"],
            true,
        );
        check("\u{1b}[31mred\n", &["\\u001b[31mred"], true);
        check("", &[], true);
        check("[INFO] BUILD FAILURE\n", &["[INFO] BUILD FAILURE"], false);
    }

    #[test]
    fn a_long_line_is_cut() {
        let told = TellingLines::of(&"x".repeat(10_000));
        assert!(told.lines[0].chars().count() <= WIDTH + 3, "{told:?}");
    }
}
