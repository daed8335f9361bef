//! Class loading is no call of the program. The JVM asks a loader for a class, or an agent to transform one, in the
//! middle of whatever code first needs the class; a replay has its own loaders, and resolves classes elsewhere. So
//! nothing is recorded while the JVM is being served within observed code.
//!
//! The JVM enters a loader by `loadClass(String)`. Observed code that calls it crosses the border first, so a thread
//! that is still on the observed side was sent there by the JVM.

use culprit_classfile::{Asm, Code, Editor, Pool, VerificationType};

use crate::{Error, probe};

/// The method by which the JVM asks a loader for a class: its name and descriptor.
pub(crate) const LOADS: (&str, &str) = ("loadClass", "(Ljava/lang/String;)Ljava/lang/Class;");

/// Mutes an instance method while it serves the JVM, up to where it returns. The code that this gives back ends that
/// where the method ends with an exception.
pub(crate) fn mute(editor: &mut Editor<'_>, pool: &mut Pool, code: &Code) -> Result<Asm, Error> {
    let token = editor.new_live_local(VerificationType::Long);
    let mut entry = Asm::new();
    entry.aload(0);
    probe::call(&mut entry, pool, "loads")?;
    entry.lstore(token);
    editor.insert_entry(entry);
    let mut leaving = Asm::new();
    leaving.lload(token);
    probe::call(&mut leaving, pool, "loaded")?;
    for instruction in code.instructions() {
        let instruction = instruction?;
        if instruction.is_return() {
            editor.insert_before(instruction.pc, leaving.clone());
        }
    }
    Ok(leaving)
}
