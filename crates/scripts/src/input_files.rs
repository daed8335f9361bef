//! Files that a script names, written by the script itself: a test that makes its input needs no file of the user.
//!
//! ```text
//! Path folder = Files.createTempDirectory("test");
//! Path file = folder.resolve("orders.json");
//! Files.write(file, "[3, 0]".getBytes());
//! reader.read(file.toFile());                        // instead of new File("data/orders.json")
//! ```
//!
//! The contents are values of the script, and are reduced with all others. A file that is too large for that, or no text, becomes a
//! resource, which the script finds on the class path:
//!
//! ```text
//! Path file = Paths.get(ClassLoader.getSystemResource("orders.zip").toURI());
//! ```
//!
//! A path below a folder that was made for the run, such as one of `@TempDir`, becomes one below a new folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use culprit_model::script::{Builder, MemberName};
use culprit_model::value::Contents;
use culprit_model::{ObjectId, Reference, Script, Statement, Value};

use crate::alias::rename;

const FILES: &str = "java/nio/file/Files";
const PATH: &str = "java/nio/file/Path";
const PATHS: &str = "java/nio/file/Paths";
const TEXT: &str = "java/lang/String";
const LOADER: &str = "java/lang/ClassLoader";
const FIND_RESOURCE: &str = "getSystemResource";
const URL: &str = "java/net/URL";
const URI: &str = "java/net/URI";

/// The most files that one script writes or makes a path of.
const MOST: usize = 8;

/// A file or folder that a script names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputFile {
    /// A file with a text.
    Text(String),
    /// A file or folder that is a resource of this name.
    Resource(String),
    /// A path in a folder, or the folder itself, that the run made.
    Temporary { folder: String },
}

/// A file that the script names, and the values that take the place of its name.
struct Input {
    /// The path, as the script names it.
    name: String,
    file: Value,
    path: Value,
}

impl Input {
    /// The statement that makes the path a text.
    fn print(&self, builder: &mut Builder) -> Statement {
        let print = MemberName::of(PATH, "toString", "()Ljava/lang/String;");
        let path = Some(self.path.clone());
        builder.call(print, self.file.clone(), Vec::new(), path)
    }
}

/// What a script makes of the paths in folders that the run made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// Nothing: the program makes the file.
    Paths,
    /// Folders, if their names have no extension.
    Folders,
}

/// A script that writes its input files.
#[derive(Clone, PartialEq, Debug)]
pub struct WithFiles {
    pub script: Script,
    /// The same, with paths that may have been folders as folders: a rule of JUnit 4 made them before the test began.
    pub with_folders: Option<Script>,
    /// True if the original script names a file by an absolute path.
    pub is_absolute: bool,
    /// True if the script finds a file on the class path.
    pub has_resources: bool,
}

/// The script with the files that its statements name, or `None` if it names none. `input` gives a file, by its path, if it
/// is one that a test can make.
pub fn with_input_files(
    script: &Script,
    input: &dyn Fn(&str) -> Option<InputFile>,
) -> Option<WithFiles> {
    let mut names: Vec<String> = Vec::new();
    let own = script.statements.iter().skip(script.prelude);
    for text in own.flat_map(|statement| statement.given.iter().flat_map(texts)) {
        if !names.contains(&text) {
            names.push(text);
        }
    }
    let found = names.into_iter();
    let found = found.filter_map(|name| input(&name).map(|file| (name, file)));
    let found: Vec<(String, InputFile)> = found.take(MOST).collect();
    if found.is_empty() {
        return None;
    }
    let is_absolute = found.iter().any(|(name, _)| Path::new(name).is_absolute());
    let is_resource = |(_, file): &(String, InputFile)| matches!(file, InputFile::Resource(_));
    let has_resources = found.iter().any(is_resource);
    let may_be_folder = |(name, file): &(String, InputFile)| match file {
        InputFile::Text(_) | InputFile::Resource(_) => false,
        InputFile::Temporary { folder } => {
            let is_below = name.trim_end_matches('/') != folder;
            is_below && Path::new(name).extension().is_none()
        }
    };
    let with_folders = found.iter().any(may_be_folder);
    let with_folders = with_folders.then(|| rewritten(script, &found, Below::Folders));
    Some(WithFiles {
        script: rewritten(script, &found, Below::Paths),
        with_folders,
        is_absolute,
        has_resources,
    })
}

/// The names of the resources that a script finds on the class path.
pub fn resource_names(script: &Script) -> Vec<String> {
    let finds = |statement: &&Statement| {
        let target = script.target(statement);
        target.is_some_and(|target| target.owner == LOADER && target.name == FIND_RESOURCE)
    };
    let statements = script.statements.iter().filter(finds);
    let mut names: Vec<String> = statements
        .filter_map(|statement| text(statement.given.first()?))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The script with these files.
fn rewritten(script: &Script, found: &[(String, InputFile)], making: Below) -> Script {
    let mut builder = Builder::of(script);
    let mut written = Vec::new();
    let mut folders: BTreeMap<String, Value> = BTreeMap::new();
    let inputs = found.iter().map(|(name, file)| match file {
        InputFile::Text(text) => write(&mut builder, name.clone(), text, &mut written),
        InputFile::Resource(resource) => {
            let file = find_resource(&mut builder, resource, &mut written);
            let path = builder.variable(TEXT);
            let name = name.clone();
            Input { name, file, path }
        }
        InputFile::Temporary { folder } => {
            let made = folders.entry(folder.clone());
            let made = made.or_insert_with(|| make_folder(&mut builder, &mut written));
            let input = below(&mut builder, name.clone(), (folder, made), &mut written);
            let is_folder = input.file != *made && Path::new(name).extension().is_none();
            if is_folder && making == Below::Folders {
                written.push(make_folders(&mut builder, &input.file));
            }
            input
        }
    });
    let inputs: Vec<Input> = inputs.collect();
    let mut with = script.clone();
    let rest = with.statements.split_off(script.prelude);
    let mut places: Vec<usize> = (0..script.prelude).collect();
    with.statements.extend(written);
    let mut printed = vec![false; inputs.len()];
    let mut renamed: Vec<(ObjectId, ObjectId)> = Vec::new();
    for mut statement in rest {
        for (from, to) in &renamed {
            let values = statement.values_mut();
            values.for_each(|value| rename(value, *from, *to));
        }
        if let Some(names) = path_of(&statement, script, &inputs) {
            renamed.push(names);
            places.push(with.statements.len() - 1);
            continue;
        }
        let named = use_inputs(&mut statement, script, &mut builder, &inputs);
        for (input, is_printed) in inputs.iter().zip(&mut printed) {
            if named.contains(&input.path) && !*is_printed {
                *is_printed = true;
                with.statements.push(input.print(&mut builder));
            }
        }
        places.push(with.statements.len());
        with.statements.push(statement);
    }
    with.waits = Default::default();
    for wait in &script.waits {
        with.wait(places[wait.statement], places[wait.on]);
    }
    with.tables = Arc::new(builder.finish());
    with
}

/// True if a value is the path of a file that the script writes, which took the place of the file's name.
pub fn is_input_file(value: &Value, script: &Script) -> bool {
    let Some(id) = value.identity() else {
        return false;
    };
    let mut statements = script.statements.iter();
    let made = statements.find(|statement| statement.defines() == Some(id));
    let target = made.and_then(|made| script.target(made));
    target.is_some_and(|target| target.owner == PATH && target.name == "toString")
}

/// The statement that makes a new folder.
fn make_folder(builder: &mut Builder, to: &mut Vec<Statement>) -> Value {
    let folder = builder.variable(PATH);
    let attributes = builder.array("[Ljava/nio/file/attribute/FileAttribute;", Vec::new());
    let of = "(Ljava/lang/String;[Ljava/nio/file/attribute/FileAttribute;)Ljava/nio/file/Path;";
    let make = MemberName::of(FILES, "createTempDirectory", of);
    let given = vec![Value::text("test"), attributes];
    to.push(builder.call_static(make, given, Some(folder.clone())));
    folder
}

/// The statement that makes a folder of a path.
fn make_folders(builder: &mut Builder, path: &Value) -> Statement {
    let attributes = builder.array("[Ljava/nio/file/attribute/FileAttribute;", Vec::new());
    let of = "(Ljava/nio/file/Path;[Ljava/nio/file/attribute/FileAttribute;)Ljava/nio/file/Path;";
    let make = MemberName::of(FILES, "createDirectories", of);
    builder.call_static(make, vec![path.clone(), attributes], Some(path.clone()))
}

/// The statement that makes a path within a folder.
fn resolve(builder: &mut Builder, folder: Value, name: &str, to: &mut Vec<Statement>) -> Value {
    let file = builder.variable(PATH);
    let resolve = MemberName::of(PATH, "resolve", "(Ljava/lang/String;)Ljava/nio/file/Path;");
    to.push(builder.call(resolve, folder, vec![Value::text(name)], Some(file.clone())));
    file
}

/// The statements that write a file to a new folder, under its own name.
fn write(builder: &mut Builder, name: String, text: &str, to: &mut Vec<Statement>) -> Input {
    let folder = make_folder(builder, to);
    let last = Path::new(&name).file_name().unwrap_or_default();
    let file = resolve(builder, folder, &last.to_string_lossy(), to);
    let (path, bytes) = (builder.variable(TEXT), builder.variable("[B"));
    let options = builder.array("[Ljava/nio/file/OpenOption;", Vec::new());
    let encode = MemberName::of(TEXT, "getBytes", "()[B");
    let of = "(Ljava/nio/file/Path;[B[Ljava/nio/file/OpenOption;)Ljava/nio/file/Path;";
    let store = MemberName::of(FILES, "write", of);
    to.extend([
        builder.call(encode, Value::text(text), Vec::new(), Some(bytes.clone())),
        builder.call_static(
            store,
            vec![file.clone(), bytes, options],
            Some(file.clone()),
        ),
    ]);
    Input { name, file, path }
}

/// The statements that find a resource; the result is its path.
fn find_resource(builder: &mut Builder, name: &str, to: &mut Vec<Statement>) -> Value {
    let (url, uri, file) = (
        builder.variable(URL),
        builder.variable(URI),
        builder.variable(PATH),
    );
    let find = MemberName::of(LOADER, FIND_RESOURCE, "(Ljava/lang/String;)Ljava/net/URL;");
    let convert = MemberName::of(URL, "toURI", "()Ljava/net/URI;");
    let path_of = MemberName::of(PATHS, "get", "(Ljava/net/URI;)Ljava/nio/file/Path;");
    to.extend([
        builder.call_static(find, vec![Value::text(name)], Some(url.clone())),
        builder.call(convert, url, Vec::new(), Some(uri.clone())),
        builder.call_static(path_of, vec![uri], Some(file.clone())),
    ]);
    file
}

/// The path in a new folder that takes the place of one in a folder of the run.
fn below(
    builder: &mut Builder,
    name: String,
    (old, folder): (&str, &Value),
    to: &mut Vec<Statement>,
) -> Input {
    let rest = name.strip_prefix(old).unwrap_or_default();
    let file = match rest.trim_matches('/') {
        "" => folder.clone(),
        rest => resolve(builder, folder.clone(), rest, to),
    };
    let path = builder.variable(TEXT);
    Input { name, file, path }
}

/// The name of the path that a statement makes of the name of a file, and that of the file.
fn path_of(
    statement: &Statement,
    script: &Script,
    inputs: &[Input],
) -> Option<(ObjectId, ObjectId)> {
    let target = script.target(statement)?;
    let is_path = [(PATH, "of"), (PATHS, "get")]
        .iter()
        .any(|(owner, name)| target.owner == *owner && target.name == *name);
    let (Some(name), Some(more)) = (statement.given.first(), statement.given.get(1)) else {
        return None;
    };
    let name = text(name)?;
    let input = inputs.iter().find(|input| input.name == name)?;
    let is_alone = is_path && is_empty(more, script);
    is_alone.then_some((statement.defines()?, input.file.identity()?))
}

/// True if an array has no elements.
fn is_empty(array: &Value, script: &Script) -> bool {
    match array {
        Value::Reference(Reference::Array { length, .. }) => *length == 0,
        Value::Reference(Reference::Object { id, .. }) => {
            let mut statements = script.statements.iter();
            let made = statements.find(|statement| statement.defines() == Some(*id));
            made.is_some_and(|made| match made.given.as_slice() {
                [.., Value::Int(length)] => *length == 0,
                [Value::Reference(Reference::Array { length, .. })] => *length == 0,
                _ => false,
            })
        }
        _ => false,
    }
}

/// Replaces the names of files in a statement, and returns the paths that it is given instead.
fn use_inputs(
    statement: &mut Statement,
    script: &Script,
    builder: &mut Builder,
    inputs: &[Input],
) -> Vec<Value> {
    let named = |value: &Value| {
        let text = text(value)?;
        inputs.iter().find(|input| input.name == text)
    };
    let is_file = script.target(statement).is_some_and(|target| {
        target.owner == "java/io/File" && target.descriptor == "(Ljava/lang/String;)V"
    });
    if let (true, Some(input)) = (is_file, statement.given.first().and_then(named)) {
        let made = statement.result().cloned();
        let convert = MemberName::of(PATH, "toFile", "()Ljava/io/File;");
        *statement = Statement {
            alias: statement.alias,
            ..builder.call(convert, input.file.clone(), Vec::new(), made)
        };
        return Vec::new();
    }
    let mut used = Vec::new();
    for value in &mut statement.given {
        replace(value, &mut |value| {
            let path = named(value).map(|input| input.path.clone());
            used.extend(path.clone());
            path
        });
    }
    used
}

fn replace(value: &mut Value, by: &mut dyn FnMut(&Value) -> Option<Value>) {
    if let Some(new) = by(value) {
        *value = new;
    } else if let Value::Reference(Reference::Array {
        contents: Contents::Elements(elements),
        ..
    }) = value
    {
        elements.iter_mut().for_each(|element| replace(element, by));
    }
}

/// The texts in a value.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Reference(Reference::Array {
            contents: Contents::Elements(elements),
            ..
        }) => elements.iter().flat_map(texts).collect(),
        value => text(value).into_iter().collect(),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Reference(Reference::String(units)) => String::from_utf16(units).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use culprit_model::{ObjectId, Tables};

    use super::*;

    /// `new Reader().read(new File(path))`, `Main.main(new String[] {path})`.
    fn script(path: &str) -> Script {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let file = builder.variable("java/io/File");
        let of = "(Ljava/lang/String;)V";
        let made = builder.construct("java/io/File", of, vec![Value::text(path)], file.clone());
        let words = builder.array("[Ljava/lang/String;", vec![Value::text(path)]);
        let main = MemberName::of("app/Main", "main", "([Ljava/lang/String;)V");
        let read = MemberName::of("app/Reader", "read", "(Ljava/io/File;)V");
        let statements = vec![
            made,
            builder.call_static(read, vec![file], None),
            builder.call_static(main, vec![words], None),
        ];
        let mut script = builder.script(statements);
        script.wait(2, 1);
        script
    }

    fn contents(path: &str) -> Option<InputFile> {
        let is_text = path.ends_with("in.txt");
        is_text.then(|| InputFile::Text("3\n0\n".to_owned()))
    }

    #[test]
    fn paths_in_a_folder_of_the_run_are_in_one_new_folder() {
        let made = |path: &str| {
            let folder = "/tmp/junit1".to_owned();
            path.starts_with(&folder)
                .then_some(InputFile::Temporary { folder })
        };
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let read = MemberName::of("app/Reader", "read", "(Ljava/lang/String;)V");
        let names = [
            "/tmp/junit1/a/todo.txt",
            "/tmp/junit1",
            "/tmp/junit1/a/todo.txt",
            "/etc/a",
        ];
        let statements = names.map(|name| {
            let given = vec![Value::text(name)];
            builder.call_static(read, given, None)
        });
        let with = with_input_files(&builder.script(statements.to_vec()), &made).unwrap();
        let text = with.script.to_string();
        let steps = text.lines().filter(|line| line.contains("=> "));
        let steps: Vec<&str> = steps.map(str::trim).collect();
        insta::assert_snapshot!(steps.join("\n"), @r#"
        => Files.createTempDirectory@2("test", #2:FileAttribute[]{})
        => Path.resolve@3("a/todo.txt") on #1:Path
        => Path.toString@4() on #3:Path
        => Reader.read@1(#4:String)
        => Path.toString@4() on #1:Path
        => Reader.read@1(#5:String)
        => Reader.read@1(#4:String)
        => Reader.read@1("/etc/a")
        "#);
    }

    #[test]
    fn a_path_in_a_folder_of_the_run_may_have_been_a_folder() {
        let made = |path: &str| {
            let folder = "/tmp/junit1".to_owned();
            path.starts_with(&folder)
                .then_some(InputFile::Temporary { folder })
        };
        let with = with_input_files(&script("/tmp/junit1/notes"), &made).unwrap();
        let makes_folder = |script: &Script| script.to_string().contains("createDirectories");
        assert!(!makes_folder(&with.script));
        assert!(makes_folder(&with.with_folders.unwrap()));
        let with = with_input_files(&script("/tmp/junit1/notes.txt"), &made).unwrap();
        assert_eq!(with.with_folders, None);
        let with = with_input_files(&script("/tmp/junit1"), &made).unwrap();
        assert_eq!(with.with_folders, None);
    }

    #[test]
    fn a_script_writes_the_files_that_it_names() {
        let with = with_input_files(&script("data/in.txt"), &contents).unwrap();
        assert!(!with.is_absolute);
        assert_eq!(with.script.waits.first().unwrap().statement, 7);
        let text = with.script.to_string();
        let steps = text.lines().filter(|line| line.contains("=> "));
        let steps: Vec<&str> = steps.map(str::trim).collect();
        insta::assert_snapshot!(steps.join("\n"), @r#"
        => Files.createTempDirectory@4("test", #4:FileAttribute[]{})
        => Path.resolve@5("in.txt") on #3:Path
        => String.getBytes@6() on "3\n0\n"
        => Files.write@7(#5:Path, #7:byte[], #8:OpenOption[]{})
        => Path.toFile@8() on #5:Path
        => Reader.read@2(#1:File)
        => Path.toString@9() on #5:Path
        => Main.main@3(#2:String[]{#6:String})
        "#);
    }

    #[test]
    fn a_script_finds_resources_on_the_class_path() {
        let resource = |_: &str| Some(InputFile::Resource("in.zip".to_owned()));
        let with = with_input_files(&script("data/in.zip"), &resource).unwrap();
        assert!(with.has_resources);
        assert_eq!(resource_names(&with.script), ["in.zip"]);
        let text = with.script.to_string();
        let steps = text.lines().filter(|line| line.contains("=> "));
        let steps: Vec<&str> = steps.map(str::trim).collect();
        insta::assert_snapshot!(steps.join("\n"), @r#"
        => ClassLoader.getSystemResource@4("in.zip")
        => URL.toURI@5() on #3:URL
        => Paths.get@6(#4:URI)
        => Path.toFile@7() on #5:Path
        => Reader.read@2(#1:File)
        => Path.toString@8() on #5:Path
        => Main.main@3(#2:String[]{#6:String})
        "#);
    }

    #[test]
    fn a_path_of_the_name_is_the_file_itself() {
        let mut builder = Builder::with(Tables::default(), ObjectId(0));
        let path = builder.variable(PATH);
        let none = builder.array("[Ljava/lang/String;", Vec::new());
        let of = "(Ljava/lang/String;[Ljava/lang/String;)Ljava/nio/file/Path;";
        let of = MemberName::of(PATH, "of", of);
        let load = MemberName::of("app/Prices", "load", "(Ljava/nio/file/Path;)V");
        let statements = vec![
            builder.call_static(of, vec![Value::text("in.txt"), none], Some(path.clone())),
            builder.call_static(load, vec![path], None),
        ];
        let with = with_input_files(&builder.script(statements), &contents).unwrap();
        let [_, resolved, .., loaded] = with.script.statements.as_slice() else {
            panic!("{with:?}");
        };
        assert_eq!(with.script.statements.len(), 5);
        assert_eq!(loaded.uses(), [resolved.defines().unwrap()]);
    }

    #[test]
    fn a_script_that_names_no_file_stays_as_it_is() {
        assert_eq!(with_input_files(&script("data/out.txt"), &contents), None);
        let absolute = with_input_files(&script("/data/in.txt"), &contents);
        assert!(absolute.unwrap().is_absolute);
    }
}
