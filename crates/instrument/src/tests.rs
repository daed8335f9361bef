//! Results and errors of rewriting, on jars made here. What the woven classes do is tested with
//! real JVMs in `crates/cli/tests/instrument.rs`.

use super::*;

/// A jar with these entries, in a folder that lives as long as the test.
fn jar(folder: &Path, entries: &[(&str, &[u8])]) -> PathBuf {
    let path = folder.join("in.jar");
    let mut jar = ZipWriter::new(File::create(&path).unwrap());
    for (name, bytes) in entries {
        jar.start_file(*name, SimpleFileOptions::default()).unwrap();
        jar.write_all(bytes).unwrap();
    }
    jar.finish().unwrap();
    path
}

/// A class file that loads and does little.
fn class() -> Vec<u8> {
    idle::probes().unwrap()
}

fn error_of(entries: &[(&str, &[u8])], selection: &Selection) -> String {
    let folder = tempfile::tempdir().unwrap();
    let input = jar(folder.path(), entries);
    let output = folder.path().join("out.jar");
    let error = instrument(&input, &output, selection).unwrap_err();
    assert!(!output.exists());
    let text = error.to_string();
    text.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn a_jar_is_copied_with_its_classes_woven() {
    let folder = tempfile::tempdir().unwrap();
    let entries: [(&str, &[u8]); 5] = [
        ("META-INF/A.SF", b""),
        ("a/Probe.class", &class()),
        ("a/Broken.class", b"no class"),
        ("lib/inner.jar", b""),
        ("text", b"as it is"),
    ];
    let input = jar(folder.path(), &entries);
    let output = folder.path().join("out.jar");
    let result = instrument(&input, &output, &Selection::default());
    // The agent's own names are never observed, so name the class.
    assert!(matches!(result, Err(Error::Unmatched { .. })), "{result:?}");
    let named = renamed(&class());
    let entries = [
        entries[0],
        ("a/B.class", &named),
        entries[2],
        entries[3],
        entries[4],
    ];
    let input = jar(folder.path(), &entries);
    let result = instrument(&input, &output, &Selection::default()).unwrap();
    assert_eq!(
        (result.woven, result.observed, result.signatures),
        (1, 1, 1)
    );
    assert_eq!(result.nested, ["lib/inner.jar"]);
    assert_eq!(result.broken[0].name, "a/Broken.class");
    assert!(!result.modular);
    let names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let error = instrument(&input, &output, &Selection::default()).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }));
    let again = folder.path().join("again.jar");
    let error = instrument(&output, &again, &Selection::default()).unwrap_err();
    assert!(matches!(error, Error::Instrumented { .. }));
}

/// The class under a name of the same length that is no name of the agent's.
fn renamed(class: &[u8]) -> Vec<u8> {
    let (old, new) = (b"culprit/runtime/Probe", b"example/shop/Register");
    let at = class.windows(old.len()).position(|w| w == old).unwrap();
    let mut class = class.to_vec();
    class[at..at + old.len()].copy_from_slice(new);
    class
}

#[test]
fn errors_name_the_file_and_the_reason() {
    let any = Selection::default();
    assert_eq!(
        error_of(&[("text", b"")], &any),
        "in.jar contains no classes"
    );
    let other = Selection {
        observe: vec!["b.*".parse().unwrap(), "c.C".parse().unwrap()],
        ..Selection::default()
    };
    let entries: [(&str, &[u8]); 1] = [("a/B.class", &renamed(&class()))];
    let expect = "no class of in.jar matches b.*, c.C";
    assert_eq!(error_of(&entries, &other), expect);

    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.jar");
    let missing = folder.path().join("none.jar");
    let error = instrument(&missing, &output, &any).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    fs::write(&missing, "text").unwrap();
    let error = instrument(&missing, &output, &any).unwrap_err();
    assert!(matches!(error, Error::NotAJar { .. }), "{error}");

    let input = jar(folder.path(), &entries);
    let nowhere = folder.path().join("none/out.jar");
    let error = instrument(&input, &nowhere, &any).unwrap_err();
    assert!(matches!(error, Error::Unwritable { .. }), "{error}");
}
