//! The command that runs a written test: in the user's project if it has a build tool, else by a script beside the
//! test.

use std::fs;
use std::io;
use std::path::Path;

use culprit_junit::PrintedTest;
use culprit_minimize::{ByHand, full_name};
use culprit_model::shell;
use culprit_report::debug::RunCommand;

/// The name of a script that compiles and runs a test.
const SCRIPT: &str = "run.sh";

/// The command that runs a test in the project of a folder, or `None` if the folder has no build tool.
pub(super) fn in_project(folder: &Path, test: &PrintedTest) -> Option<RunCommand> {
    let has = |name: &str| folder.join(name).is_file();
    let or_wrapper = |wrapper: &str, tool: &str| match has(wrapper) {
        true => format!("./{wrapper}"),
        false => tool.to_owned(),
    };
    let command = if has("pom.xml") {
        let name = shell::line([format!("-Dtest={}", test.class_name)]);
        format!("{} test {name}", or_wrapper("mvnw", "mvn"))
    } else if has("build.gradle") || has("build.gradle.kts") {
        let name = shell::line([full_name(test)]);
        format!("{} test --tests {name}", or_wrapper("gradlew", "gradle"))
    } else {
        return None;
    };
    let package = test.package.replace('.', "/");
    let copy_to = Path::new("src/test/java").join(package);
    Some(RunCommand {
        copy_to: Some(copy_to.display().to_string()),
        command,
    })
}

/// The commands that compile and run a test outside of the sandbox, as a shell reads them. The files that they need
/// are written to a folder.
pub(super) fn lines(
    by_hand: &ByHand,
    test: &PrintedTest,
    file: &Path,
    folder: &Path,
) -> io::Result<Vec<String>> {
    let commands = by_hand.commands(test, file, folder)?;
    Ok(commands.into_iter().map(shell::line).collect())
}

/// Writes the script that compiles and runs a test, and returns the command that starts it.
pub(super) fn script(
    by_hand: &ByHand,
    test: &PrintedTest,
    file: &Path,
    folder: &Path,
) -> io::Result<RunCommand> {
    let lines = lines(by_hand, test, file, folder)?.join("\n");
    let script = folder.join(SCRIPT);
    let head = "#!/bin/sh\n# Compiles the test and runs it, without the sandbox.\nset -e\n";
    fs::write(&script, format!("{head}{lines}\n"))?;
    Ok(RunCommand {
        copy_to: None,
        command: shell::line(["sh".as_ref(), script.as_os_str()]),
    })
}
