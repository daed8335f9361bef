//! The command that runs a written test: in the user's project if it has a build tool, else by a script beside the
//! test.

use std::fs;
use std::io;
use std::path::Path;

use culprit_junit::PrintedTest;
use culprit_minimize::{ByHand, full_name};
use culprit_model::shell;
use culprit_report::debug::{CopyStep, RunCommand};

/// The name of a script that compiles and runs a test.
const SCRIPT: &str = "run.sh";

/// The command that runs a test with its resources in the project of a folder, or `None` if the folder has no build tool. The program
/// may have worked in the folder of a module.
pub(super) fn in_project(
    folder: &Path,
    worked_in: Option<&Path>,
    test: &PrintedTest,
    resources: &[String],
) -> Option<RunCommand> {
    let has = |name: &str| folder.join(name).is_file();
    let or_wrapper = |wrapper: &str, tool: &str| match has(wrapper) {
        true => format!("./{wrapper}"),
        false => tool.to_owned(),
    };
    let module = |build: &[&str]| {
        let module = worked_in?.strip_prefix(folder).ok()?;
        let is_module = build
            .iter()
            .any(|file| folder.join(module).join(file).is_file());
        (is_module && module != Path::new("")).then(|| module.display().to_string())
    };
    let (command, module) = if has("pom.xml") {
        let tool = or_wrapper("mvnw", "mvn");
        let name = format!("-Dtest={}", test.class_name);
        let module = module(&["pom.xml"]);
        let words = match module.clone() {
            // Other modules, which are built before it, have no such test.
            Some(module) => vec![
                "-pl".to_owned(),
                module,
                "-am".to_owned(),
                name,
                "-Dsurefire.failIfNoSpecifiedTests=false".to_owned(),
            ],
            None => vec![name],
        };
        (format!("{tool} test {}", shell::line(words)), module)
    } else if has("build.gradle") || has("build.gradle.kts") {
        let name = shell::line([full_name(test)]);
        let tool = or_wrapper("gradlew", "gradle");
        let module = module(&["build.gradle", "build.gradle.kts"]);
        let task = match &module {
            Some(module) => format!(":{}:test", module.replace('/', ":")),
            None => "test".to_owned(),
        };
        (format!("{tool} {task} --tests {name}"), module)
    } else {
        return None;
    };
    let package = test.package.replace('.', "/");
    let tests = Path::new(module.as_deref().unwrap_or_default()).join("src/test");
    let of_test = CopyStep {
        file: None,
        to: tests.join(test.language.name()).join(package),
    };
    let of_resources = resources.iter().map(|resource| CopyStep {
        file: Some(resource.clone()),
        to: tests.join("resources"),
    });
    Some(RunCommand {
        copies: [of_test].into_iter().chain(of_resources).collect(),
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
        copies: Vec::new(),
        command: shell::line(["sh".as_ref(), script.as_os_str()]),
    })
}

#[cfg(test)]
mod tests {
    use culprit_junit::{Language, Notes};

    use super::*;

    #[test]
    fn a_test_of_a_module_is_copied_and_run_there() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path();
        let test = PrintedTest {
            package: "a.b".to_owned(),
            class_name: "CartTest".to_owned(),
            language: Language::Java,
            source: String::new(),
            method: String::new(),
            imports: Vec::new(),
            notes: Notes::default(),
        };
        let run = |module: &str| {
            let resources = ["resources/in.zip".to_owned()];
            let run = in_project(root, Some(&root.join(module)), &test, &resources).unwrap();
            run.to_string()
        };
        fs::create_dir_all(root.join("shops/web")).unwrap();
        fs::write(root.join("build.gradle.kts"), "").unwrap();
        fs::write(root.join("shops/web/build.gradle"), "").unwrap();
        let expect = "copy it to src/test/java/a/b and resources/in.zip to src/test/resources, \
                      then gradle test --tests a.b.CartTest";
        assert_eq!(run(""), expect);
        assert_eq!(run("shops"), expect);
        assert_eq!(
            run("shops/web"),
            "copy it to shops/web/src/test/java/a/b and resources/in.zip to \
             shops/web/src/test/resources, then gradle :shops:web:test --tests a.b.CartTest"
        );
        fs::write(root.join("pom.xml"), "").unwrap();
        fs::write(root.join("shops/web/pom.xml"), "").unwrap();
        assert_eq!(
            run("shops/web"),
            "copy it to shops/web/src/test/java/a/b and resources/in.zip to \
             shops/web/src/test/resources, then mvn test -pl shops/web -am -Dtest=CartTest \
             -Dsurefire.failIfNoSpecifiedTests=false"
        );
    }
}
