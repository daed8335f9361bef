//! The class loader of the code that failed. A program may load several classes of one name, and a class path has one of them.

use culprit_model::{Reference, Value};
use culprit_trace::{ClassInfo, Recording};

use crate::Script;

/// The internal name of the class of the JVM's own loader for the class path.
const OF_CLASS_PATH: &str = "jdk/internal/loader/ClassLoaders$AppClassLoader";

/// The number of the loader that defined the class of the last call of a recorded script, unless it is the loader of the class
/// path. Where several loaders have a class of that name, the object decides that the call is made on, or else the last
/// one is taken.
pub fn loader_of_failing_call(script: &Script, recording: &Recording) -> Option<u32> {
    let last = script.statements.last()?;
    let target = script.target(last)?;
    let is_it = |class: &&ClassInfo| class.observed && class.name == target.owner;
    let versions = recording.classes().iter().filter(is_it);
    let versions: Vec<u32> = versions.map(|class| class.loader).collect();
    let on = last.given.first().and_then(|value| match value {
        Value::Reference(Reference::Object { class, .. }) => script.tables.class(*class),
        _ => None,
    });
    let on = on.map(|class| class.loader);
    let of_receiver = on.filter(|loader| versions.contains(loader));
    let loader = of_receiver.or(versions.last().copied())?;
    let defined = recording.loaders().get(loader)?;
    (defined.class != OF_CLASS_PATH).then_some(loader)
}
