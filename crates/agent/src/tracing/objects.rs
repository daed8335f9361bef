//! The objects of a trace: their classes, and the values of those that never change.

use culprit_jvmti::{Jni, Jvmti, Local, Passed};
use culprit_trace::instructions::TracedObject;

use crate::agent::Trouble;
use crate::classes::internal_name;

/// The longest text of a string that is kept, in UTF-16 units.
const LONGEST: usize = 120;

/// Describes the objects in an array.
pub(super) fn describe(
    jvmti: Jvmti,
    jni: &Jni<'_>,
    all: &Local<'_>,
) -> Result<Vec<TracedObject>, Trouble> {
    let mut described = Vec::new();
    for at in 0..jni.array_length(all) {
        let one = jni.with_frame(|jni| {
            let object = jni.array_element(all, at).ok()??;
            let class = jni.object_class(&object);
            let signature = jvmti.class_signature(&class).ok()?;
            let name = internal_name(&signature).to_owned();
            let text = text(jni, &object, &class, &name);
            Some(TracedObject { class: name, text })
        });
        described.push(one?.unwrap_or_default());
    }
    Ok(described)
}

fn text(jni: &Jni<'_>, object: &Local<'_>, class: &Local<'_>, name: &str) -> Option<String> {
    let descriptor = match name {
        "java/lang/String" => {
            let mut units = jni.string_units(object);
            units.truncate(LONGEST);
            return Some(String::from_utf16_lossy(&units));
        }
        "java/lang/Boolean" => "Z",
        "java/lang/Byte" => "B",
        "java/lang/Character" => "C",
        "java/lang/Short" => "S",
        "java/lang/Integer" => "I",
        "java/lang/Long" => "J",
        "java/lang/Float" => "F",
        "java/lang/Double" => "D",
        _ => return None,
    };
    Some(
        match jni.get_field(object, class, "value", descriptor).ok()? {
            Passed::Boolean(it) => it.to_string(),
            Passed::Byte(it) => it.to_string(),
            Passed::Short(it) => it.to_string(),
            Passed::Char(it) => String::from_utf16_lossy(&[it]),
            Passed::Int(it) => it.to_string(),
            Passed::Long(it) => it.to_string(),
            Passed::Float(it) => it.to_string(),
            Passed::Double(it) => it.to_string(),
            Passed::Reference(_) => return None,
        },
    )
}
