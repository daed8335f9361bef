//! The names of test classes: after the class of the failing call, and different from all tests that exist.

use std::path::{Path, PathBuf};

use culprit_model::{Owner, Reference, Value};
use culprit_scripts::{CONDITION_CLASS, is_for_assertions};

use crate::{Script, Statement};

/// Folders of source files within a project.
const FOLDERS: [&str; 9] = [
    "src/test/java",
    "src/test/kotlin",
    "src/test/groovy",
    "src/test/scala",
    "src/integrationTest/java",
    "src/it/java",
    "test",
    "tests",
    "src",
];

/// Endings of source files that may contain a test class.
const ENDINGS: [&str; 4] = ["java", "kt", "groovy", "scala"];

/// A folder of class files lies so deep in its project at most: `build/classes/java/main`.
const DEEPEST: usize = 4;

/// The source files of the projects that a program was started from.
#[derive(Clone, Copy)]
pub(crate) struct SourceFolders<'a> {
    /// The folder that the program worked in.
    pub(crate) directory: Option<&'a Path>,
    pub(crate) class_path: &'a [PathBuf],
}

impl SourceFolders<'_> {
    /// True if a project has the source file of a class, by the internal name of the class.
    pub(crate) fn contain(&self, class: &str) -> bool {
        let folders = self.class_path.iter().filter(|entry| entry.is_dir());
        let projects = folders.flat_map(|entry| entry.ancestors().skip(1).take(DEEPEST));
        let files = |project: &Path| {
            FOLDERS.iter().any(|folder| {
                let file = project.join(folder).join(class);
                let file = file.as_os_str().to_string_lossy().into_owned();
                ENDINGS
                    .iter()
                    .any(|ending| Path::new(&format!("{file}.{ending}")).exists())
            })
        };
        self.directory.into_iter().chain(projects).any(files)
    }
}

/// Names for the class of a test, the best one first.
pub(crate) fn test_names(script: &Script) -> impl Iterator<Item = String> {
    let class = subject(script);
    (1_usize..).map(move |number| match number {
        1 => format!("{class}Test"),
        2 => format!("{class}FailureTest"),
        _ => format!("{class}Failure{}Test", number - 1),
    })
}

/// The class that a test is named after: that of the call that fails, or of the object that an assertion looks at.
fn subject(script: &Script) -> String {
    let mut statements = script.statements.iter().rev();
    let class = statements.find_map(|statement| {
        let site = script.site(statement)?;
        let receiver = match statement.given.first() {
            Some(Value::Reference(Reference::Object { class, .. })) if site.has_receiver() => {
                script.class_name(*class)
            }
            _ => &site.target.owner,
        };
        let of_program = !is_for_assertions(receiver);
        let is_ours = receiver.ends_with(CONDITION_CLASS);
        let is_jdk = Owner::of(receiver).is_jdk();
        (of_program && !is_ours && !is_jdk).then(|| receiver.to_owned())
    });
    let class = class.or_else(|| holder(script));
    let class = class.unwrap_or_else(|| "Failing".to_owned());
    upper_first(simple_name(&class).unwrap_or("Failing"))
}

/// A name that begins as those of classes do: functions of other languages are in classes whose names do not.
fn upper_first(name: &str) -> String {
    let mut rest = name.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + rest.as_str()
}

/// The name of a class as its source has it. The classes that compilers add (`Facing$$anon$1`, `Main$package$`) are named
/// after the one around them.
fn simple_name(class: &str) -> Option<&str> {
    let (_, name) = class.rsplit_once('/').unwrap_or(("", class));
    let parts = || {
        let parts = name.split('$');
        parts.filter(|part| part.starts_with(char::is_alphabetic))
    };
    let is_written = |part: &&str| part.starts_with(char::is_uppercase);
    parts().rfind(is_written).or(parts().next())
}

/// The class that a lambda was written in, without the suffix of a test.
fn holder(script: &Script) -> Option<String> {
    let lambda = script.statements.iter().find_map(Statement::lambda)?;
    let name = script.class_name(lambda.body_class);
    let plain = name.strip_suffix("Tests").or(name.strip_suffix("Test"));
    Some(plain.unwrap_or(name).to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_class_of_the_compiler_is_named_after_the_one_around_it() {
        let check = |class: &str, expect: &str| assert_eq!(simple_name(class), Some(expect));
        check("shop/Cart", "Cart");
        check("shop/Cart$Line", "Line");
        check("shop/Cart$1", "Cart");
        check("robots/Facing$$anon$1", "Facing");
        check("robots/Main$package$", "Main");
        check("stock$put", "stock");
        assert_eq!(simple_name("shop/$1"), None);
    }

    #[test]
    fn no_test_is_named_after_a_class_of_the_jdk() {
        let script: Script = "\
script 1
type 1 shop/Router
type 2 jdk/internal/net/http/HttpResponseImpl
site 1 entry shop/Router.<init>()V
site 2 entry static java/net/http/Client.ask()Ljava/net/http/HttpResponse;
site 3 entry java/net/http/HttpResponse.statusCode()I
=> @1()
<= @1 = #1:@1
=> @2()
<= @2 = #2:@2
=> @3() on #2:@2
<= @3 = 500
"
        .parse()
        .unwrap();
        assert_eq!(test_names(&script).next().as_deref(), Some("RouterTest"));
    }

    #[test]
    fn a_test_of_the_project_keeps_its_name() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path();
        let (classes, tests) = (
            project.join("build/classes/java/main"),
            project.join("src/test/kotlin/shop"),
        );
        fs::create_dir_all(&classes).unwrap();
        fs::create_dir_all(&tests).unwrap();
        fs::write(tests.join("CartTest.kt"), "").unwrap();
        let check = |directory: Option<&Path>, class_path: &[PathBuf], expect: [bool; 2]| {
            let sources = SourceFolders {
                directory,
                class_path,
            };
            let found =
                ["shop/CartTest", "shop/CartFailureTest"].map(|class| sources.contain(class));
            assert_eq!(found, expect);
        };
        check(Some(project), &[], [true, false]);
        check(None, &[classes], [true, false]);
        check(None, &[project.join("cart.jar")], [false, false]);
    }
}
