//! What the JVM found in its surroundings, and what library code that runs live on replay depends
//! on: locale, charset, time zone. The JVM's own list of properties has only what it was given.

use std::fs;
use std::path::Path;

use culprit_jvmti::{Jni, Local, Passed};
use culprit_trace::Start;

/// Properties that Java sets by itself when it starts.
const PROPERTIES: [&str; 15] = [
    "user.language",
    "user.language.display",
    "user.language.format",
    "user.country",
    "user.country.display",
    "user.country.format",
    "user.script",
    "user.script.display",
    "user.script.format",
    "user.variant",
    "user.variant.display",
    "user.variant.format",
    "file.encoding",
    "line.separator",
    // Not among those that the JVM lists.
    "jdk.module.path",
];

/// Adds them to the facts of a recording.
pub(crate) fn note(jni: &Jni<'_>, start: &mut Start) {
    for name in PROPERTIES {
        if start.properties.iter().any(|(known, _)| known == name) {
            continue;
        }
        // Whatever keeps us from asking: the recording then says nothing of it.
        if let Ok(Some(value)) = jni.with_frame(|jni| property(jni, name)) {
            start.properties.push((name.to_owned(), value));
        }
    }
    if let Some(jar) = only_jar(start)
        && let Ok(Some(named)) = jni.with_frame(|jni| class_path_of(jni, &jar))
    {
        start.notes.push((Start::CLASS_PATH.to_owned(), named));
    }
    if let Some(zone) = time_zone() {
        start.notes.push((Start::TIME_ZONE.to_owned(), zone));
    }
}

fn property(jni: &Jni<'_>, name: &str) -> Option<String> {
    let system = jni.find_class("java/lang/System").ok()?;
    let descriptor = "(Ljava/lang/String;)Ljava/lang/String;";
    let get = jni.static_method(&system, "getProperty", descriptor).ok()?;
    let name = jni.new_string(name).ok()?;
    let name = [Passed::Reference(Some(name))];
    let value = jni.static_object(&system, get, &name).ok()??;
    Some(jni.string(&value))
}

/// The jar that is all of the class path.
fn only_jar(start: &Start) -> Option<String> {
    let mut properties = start.properties.iter();
    let path = properties.find(|(name, _)| name == "java.class.path");
    let path = path.map(|(_, path)| path);
    path.filter(|path| path.ends_with(".jar") && !path.contains(':'))
        .cloned()
}

/// The class path in the manifest of a jar.
fn class_path_of(jni: &Jni<'_>, jar: &str) -> Option<String> {
    let class = jni.find_class("java/util/jar/JarFile").ok()?;
    let file = jni.allocate(&class).ok()?;
    let init = jni.method(&class, "<init>", "(Ljava/lang/String;)V").ok()?;
    let name = [Passed::Reference(Some(jni.new_string(jar).ok()?))];
    jni.call_exactly(&file, &class, init, &name, b'V').ok()?;
    let named = attribute(jni, &class, &file);
    let close = jni.method(&class, "close", "()V").ok()?;
    // Nobody else has it, and the collector closes it as well.
    let _ = jni.call_exactly(&file, &class, close, &[], b'V');
    named
}

fn attribute(jni: &Jni<'_>, class: &Local<'_>, file: &Local<'_>) -> Option<String> {
    let get = jni.method(class, "getManifest", "()Ljava/util/jar/Manifest;");
    let manifest = jni.call_object(file, get.ok()?, &[]).ok()??;
    let class = jni.object_class(&manifest);
    let get = jni.method(&class, "getMainAttributes", "()Ljava/util/jar/Attributes;");
    let attributes = jni.call_object(&manifest, get.ok()?, &[]).ok()??;
    let class = jni.object_class(&attributes);
    let descriptor = "(Ljava/lang/String;)Ljava/lang/String;";
    let get = jni.method(&class, "getValue", descriptor).ok()?;
    let name = jni.new_string("Class-Path").ok()?;
    let value = jni.call_object(&attributes, get, &[&name]).ok()??;
    Some(jni.string(&value))
}

/// The time zone that a JVM finds unless it is told one. Asking Java for it would set it for good,
/// and a program may still want to.
fn time_zone() -> Option<String> {
    let given = std::env::var("TZ").ok().filter(|zone| !zone.is_empty());
    given
        .or_else(|| zone_of_link(&fs::read_link("/etc/localtime").ok()?))
        .or_else(|| {
            let text = fs::read_to_string("/etc/timezone").ok()?;
            text.lines().next().map(|zone| zone.trim().to_owned())
        })
}

/// `/usr/share/zoneinfo/Europe/Berlin` is `Europe/Berlin`.
fn zone_of_link(link: &Path) -> Option<String> {
    let (_, zone) = link.to_str()?.split_once("zoneinfo/")?;
    Some(zone.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_time_zone_names_it() {
        let zone = |link: &str| zone_of_link(Path::new(link));
        let berlin = Some("Europe/Berlin".to_owned());
        assert_eq!(zone("/usr/share/zoneinfo/Europe/Berlin"), berlin);
        assert_eq!(zone("../usr/share/zoneinfo/Europe/Berlin"), berlin);
        assert_eq!(zone("/var/elsewhere"), None);
    }
}
