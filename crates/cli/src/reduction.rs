//! The parts that `debug` and `minimize` share: options, the observer of a session, results and explained errors.

mod explanation;
mod instructions;
mod narrator;
mod output;
mod results;
mod source_tree;

use std::io::{self, Write};
use std::time::Duration;

use clap::ValueEnum;
use culprit_debug::ReductionLimits;
use culprit_junit::Junit;
use culprit_jvm::{Sandbox, Viewer};
use culprit_model::clean;
use culprit_program::{KotlinCompilers, KotlinLocations};
use culprit_report::figure::{self, COLUMNS};

use crate::confinement;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::quantity;
pub(crate) use explanation::{FORGED, explained};
pub(crate) use narrator::Narrator;
pub(crate) use results::{Results, SCRIPTS, script_file};

/// Writes a text in lines that fit a terminal, behind an indent. Long words stay whole.
fn told(to: &mut dyn Write, indent: &str, text: &str) -> io::Result<()> {
    let lines = figure::wrap_words(text, "    ", COLUMNS - indent.len());
    lines
        .iter()
        .try_for_each(|line| writeln!(to, "{indent}{line}"))
}

/// The heading of options that bound the reduction and confine its candidates.
const LIMITS: &str = "Limits and sandbox";

/// Options of both commands.
#[derive(clap::Args, Debug)]
pub(crate) struct ReductionArgs {
    /// Run N candidates in parallel
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..), help_heading = LIMITS)]
    jobs: u8,
    /// Stop reducing after this long, such as 30s or 5m, and keep the smallest test found so far
    #[arg(long, visible_alias = "budget", value_name = "DURATION", default_value = "2m", value_parser = quantity::duration, help_heading = LIMITS)]
    max_time: Duration,
    /// Stop reducing after N candidates, and keep the smallest test found so far
    #[arg(long, value_name = "N", value_parser = quantity::count, help_heading = LIMITS)]
    max_tests: Option<u64>,
    /// Write tests for this version of JUnit [default: that of the failing test, else the one on the class path, else 5]
    #[arg(long, value_name = "VERSION", value_enum)]
    junit: Option<JunitArg>,
    /// Write tests in this language; Kotlin needs a Kotlin compiler on this machine
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t = LanguageArg::Java)]
    language: LanguageArg,
    /// Open report.html when done, in the browser that the variable BROWSER names, else in the default one
    #[arg(long)]
    open: bool,
    /// Run candidates and tests without the sandbox, so that they can write files and use the network
    #[arg(long, help_heading = LIMITS)]
    no_sandbox: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum JunitArg {
    #[value(name = "4")]
    Four,
    #[value(name = "5")]
    Five,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum LanguageArg {
    Java,
    Kotlin,
}

/// The next step for a user without a Kotlin compiler.
const NO_KOTLIN: &str = "put kotlinc on the PATH or set KOTLIN_HOME to its folder, or get the \
    compiler with Maven: mvn dependency:get \
    -Dartifact=org.jetbrains.kotlin:kotlin-compiler-embeddable:VERSION";

impl ReductionArgs {
    /// As they would be typed.
    pub(crate) fn typed(&self) -> String {
        let time = figure::typed_duration(self.max_time);
        let mut typed = format!(" --jobs {} --max-time {time}", self.jobs);
        if let Some(most) = self.max_tests {
            typed.push_str(&format!(" --max-tests {most}"));
        }
        match self.junit {
            Some(JunitArg::Four) => typed.push_str(" --junit 4"),
            Some(JunitArg::Five) => typed.push_str(" --junit 5"),
            None => {}
        }
        if self.language == LanguageArg::Kotlin {
            typed.push_str(" --language kotlin");
        }
        if self.no_sandbox {
            typed.push_str(" --no-sandbox");
        }
        typed
    }

    /// The compilers for tests in Kotlin, if those were asked for.
    pub(crate) fn kotlin(&self) -> Result<Option<KotlinCompilers>, Expected> {
        if self.language == LanguageArg::Java {
            return Ok(None);
        }
        let found = KotlinCompilers::find(&KotlinLocations::of_process());
        let nothing = || {
            let message = "there is no Kotlin compiler for --language kotlin";
            Expected::new(ExitCode::Target, message).hint(NO_KOTLIN)
        };
        found.ok_or_else(nothing).map(Some)
    }

    /// The sandbox for candidates and tests, unless the user does without.
    pub(crate) fn sandbox(&self, console: &mut Console) -> anyhow::Result<Option<Sandbox>> {
        confinement::sandbox(self.no_sandbox, console)
    }

    /// Opens the report in the user's browser, if that was asked for. A browser that does not start is a warning.
    pub(crate) fn show(&self, results: &Results, console: &mut Console) -> io::Result<()> {
        if !self.open {
            return Ok(());
        }
        // The browser may print to the same terminal.
        console.flush()?;
        let page = results.page();
        if let Err(error) = Viewer::of_process().open(&page) {
            let warn = console.err_styles().warn;
            let page = clean::path(&page);
            writeln!(
                console.err(),
                "{warn}culprit: warning:{warn:#} cannot open {page}: {}",
                clean::line(&error.to_string())
            )?;
            writeln!(console.err(), "  open the file yourself, or set BROWSER")?;
        }
        Ok(())
    }

    /// The limits of the reduction.
    pub(crate) fn limits(&self) -> ReductionLimits {
        ReductionLimits {
            jobs: usize::from(self.jobs),
            time: self.max_time,
            tests: self.max_tests,
        }
    }

    /// The version of JUnit that was asked for.
    pub(crate) fn junit(&self) -> Option<Junit> {
        self.junit.map(|junit| match junit {
            JunitArg::Four => Junit::Four,
            JunitArg::Five => Junit::Five,
        })
    }
}
