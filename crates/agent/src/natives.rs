//! The native methods of the Java runtime (`Native.java`). Each catches a panic at its border and
//! answers with something harmless; none leaves an exception pending.

use std::cell::RefCell;
use std::ffi::c_void;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use culprit_classfile::access;
use culprit_jvmti::sys::jni::{
    JNIEnv, jboolean, jclass, jint, jlong, jlongArray, jobject, jstring,
};
use culprit_jvmti::{Jni, Local, NativeMethod};
use culprit_model::secret::MASK;
use culprit_model::{Failure, FailureKind, Member, ObjectId, ThreadId, TypeId};
use culprit_trace::{BlobKind, ThreadDef};

use crate::agent::Agent;
use crate::caught::Fate;
use crate::children::{AgentEntry, agent_entry};
use crate::classes::{internal_name, plain_name};
use crate::recorder::Message;
use crate::state::TABLE_SIZE;
use crate::{agent, callbacks, forget_on_panic, worker};

pub(crate) type Env = *mut JNIEnv;

/// What `RegisterNatives` needs; the descriptors are those of `Native.java`, which a test checks.
pub(crate) fn table() -> Vec<NativeMethod> {
    let method = NativeMethod::new;
    vec![
        method("replays", "()Z", replays as *mut c_void),
        method("tellsContents", "()Z", tells_contents as *mut c_void),
        method("states", "()J", states as *mut c_void),
        method("table", "()J", thread_table as *mut c_void),
        method("order", "()J", order as *mut c_void),
        method("tableSize", "()I", table_size as *mut c_void),
        method("attach", "(Ljava/lang/Thread;J)J", attach as *mut c_void),
        method("stateOf", "(Ljava/lang/Thread;J)J", state_of as *mut c_void),
        method("flush", "(J)V", flush as *mut c_void),
        method("moreIds", "(J)V", more_ids as *mut c_void),
        method("describe", "(Ljava/lang/Class;)J", describe as *mut c_void),
        method("madeUp", "(Ljava/lang/Class;)I", made_up as *mut c_void),
        method(
            "fieldSite",
            "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/Class;Z)I",
            field_site as *mut c_void,
        ),
        method(
            "constant",
            "(IILjava/lang/String;)V",
            constant as *mut c_void,
        ),
        method("fields", "(ILjava/lang/String;)V", fields as *mut c_void),
        method(
            "stringBlob",
            "(Ljava/lang/String;)I",
            string_blob as *mut c_void,
        ),
        method(
            "arrayBlob",
            "(Ljava/lang/Object;III)I",
            array_blob as *mut c_void,
        ),
        method("masked", "(Ljava/lang/String;)Z", masked as *mut c_void),
        method(
            "maskedArray",
            "(Ljava/lang/Object;I)Z",
            masked_array as *mut c_void,
        ),
        method("lost", "(I)V", lost as *mut c_void),
        method("fault", "(Ljava/lang/String;)V", fault as *mut c_void),
        method(
            "failure",
            "(IJLjava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;[J)V",
            failure as *mut c_void,
        ),
        method("fared", "(Ljava/lang/Throwable;I)Z", fared as *mut c_void),
        method(
            "caught",
            "(IJLjava/lang/Throwable;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;[J)V",
            caught as *mut c_void,
        ),
        method("agent", "()Ljava/lang/String;", argument as *mut c_void),
        method("child", "(Ljava/lang/String;)I", child as *mut c_void),
        method(
            "environment",
            "()Ljava/lang/String;",
            environment as *mut c_void,
        ),
        method("exiting", "(I)V", exiting as *mut c_void),
    ]
}

/// Runs a native method's body with the agent and the environment.
pub(crate) fn with<R>(
    env: Env,
    otherwise: R,
    body: impl FnOnce(&'static Agent, &Jni<'_>) -> R,
) -> R {
    let Some(agent) = agent() else {
        return otherwise;
    };
    // SAFETY: the JVM passes the environment of the calling thread to a native method.
    let jni = unsafe { Jni::from_raw(env) };
    match catch_unwind(AssertUnwindSafe(|| body(agent, &jni))) {
        Ok(result) => result,
        Err(panic) => {
            forget_on_panic(agent, panic);
            otherwise
        }
    }
}

/// A reference argument, valid until the native method returns.
pub(crate) fn local<'a>(raw: jobject) -> Option<Local<'a>> {
    // SAFETY: the JVM passes null or a local reference; callers do not keep it.
    unsafe { Local::from_raw(raw) }
}

extern "system" fn replays(_: Env, _: jclass) -> jboolean {
    u8::from(worker::worker().is_some())
}

extern "system" fn tells_contents(env: Env, _: jclass) -> jboolean {
    with(env, 0, |agent, _| u8::from(agent.records_contents))
}

extern "system" fn states(env: Env, _: jclass) -> jlong {
    with(env, 0, |agent, _| agent.recorder.states.region_address())
}

extern "system" fn thread_table(env: Env, _: jclass) -> jlong {
    with(env, 0, |agent, _| agent.recorder.states.table_address())
}

extern "system" fn order(env: Env, _: jclass) -> jlong {
    with(env, 0, |agent, _| agent.recorder.states.order_address())
}

extern "system" fn table_size(_: Env, _: jclass) -> jint {
    TABLE_SIZE as jint
}

extern "system" fn attach(env: Env, _: jclass, thread: jobject, tid: jlong) -> jlong {
    with(env, 0, |agent, jni| {
        let replays = worker::worker().is_some();
        if replays && !worker::runs_steps() {
            return 0;
        }
        let (token, new) = agent.recorder.states.attach(tid);
        if let (true, Some(address)) = (replays, agent.recorder.states.address(tid)) {
            worker::remember_state(address);
        }
        if let (Some(id), Some(thread)) = (new, local(thread)) {
            let (name, is_virtual) = name_thread(agent, jni, &thread).unwrap_or_default();
            let units: Vec<u16> = name.encode_utf16().collect();
            let name = if is_masked(agent, &units) {
                MASK.to_owned()
            } else {
                name
            };
            agent.recorder.send(Message::Thread(ThreadDef {
                id,
                name,
                java_id: tid as u64,
                is_virtual,
            }));
        }
        token
    })
}

extern "system" fn state_of(env: Env, class: jclass, thread: jobject, tid: jlong) -> jlong {
    attach(env, class, thread, tid);
    with(env, 0, |agent, _| {
        agent.recorder.states.address(tid).unwrap_or(0)
    })
}

fn name_thread(agent: &Agent, jni: &Jni<'_>, thread: &Local<'_>) -> Option<(String, bool)> {
    jni.with_frame(|jni| {
        let class = jni.find_class("java/lang/Thread").ok()?;
        let get_name = jni.method(&class, "getName", "()Ljava/lang/String;").ok()?;
        let name = jni.call_object(thread, get_name, &[]).ok()??;
        let is_virtual = agent.feature() >= 21
            && jni
                .method(&class, "isVirtual", "()Z")
                .and_then(|m| jni.call_boolean(thread, m))
                .unwrap_or(false);
        Some((jni.string(&name), is_virtual))
    })
    .ok()
    .flatten()
}

extern "system" fn flush(env: Env, _: jclass, state: jlong) {
    with(env, (), |agent, _| {
        if let Some(worker) = worker::worker() {
            worker::remember_state(state);
            worker.await_turn(agent);
        }
        if let Some(chunk) = agent.recorder.states.flush(state) {
            agent.recorder.send(Message::Events(chunk));
        }
    });
}

extern "system" fn more_ids(env: Env, _: jclass, state: jlong) {
    with(env, (), |agent, _| agent.recorder.states.more_ids(state));
}

extern "system" fn describe(env: Env, _: jclass, class: jclass) -> jlong {
    with(env, 0, |agent, jni| {
        let Some(class) = local(class) else { return 0 };
        jni.with_frame(|jni| {
            agent
                .classes
                .describe(agent.jvmti, jni, &agent.recorder, &class)
        })
        .unwrap_or(0)
    })
}

extern "system" fn made_up(env: Env, _: jclass, class: jclass) -> jint {
    with(env, 0, |agent, jni| {
        let Some(class) = local(class) else { return 0 };
        jni.with_frame(|jni| {
            let declaring = |name, descriptor| {
                let method = jni.method(&class, name, descriptor).ok()?;
                let modifiers = agent.jvmti.method_modifiers(method).ok()?;
                let kind = modifiers as u16 & (access::SYNTHETIC | access::BRIDGE);
                if kind == access::SYNTHETIC {
                    // The one that weaving adds; compilers make bridges alone.
                    return Some("Ljava/lang/Object;".to_owned());
                }
                let declaring = agent.jvmti.declaring_class(jni, method).ok()??;
                agent.jvmti.class_signature(&declaring).ok()
            };
            let hash = declaring("hashCode", "()I");
            let text = declaring("toString", "()Ljava/lang/String;");
            let of_object = |class: &str| class == "Ljava/lang/Object;";
            let of_enum = |class: &str| class == "Ljava/lang/Enum;";
            let hash = hash.is_some_and(|class| of_object(&class) || of_enum(&class));
            let text = text.is_some_and(|class| of_object(&class));
            jint::from(hash) | jint::from(text) << 1
        })
        .unwrap_or(0)
    })
}

extern "system" fn field_site(
    env: Env,
    _: jclass,
    declaring: jclass,
    name: jstring,
    class: jclass,
    is_static: jboolean,
) -> jint {
    with(env, 0, |agent, jni| {
        let (Some(declaring), Some(name), Some(class)) =
            (local(declaring), local(name), local(class))
        else {
            return 0;
        };
        let signature = |class: &Local<'_>| agent.jvmti.class_signature(class).unwrap_or_default();
        let target = Member {
            owner: internal_name(&signature(&declaring)).to_owned(),
            name: jni.string(&name),
            descriptor: signature(&class),
        };
        let site = agent.numbers.reflective_site(target, is_static != 0);
        let id = site.id.0;
        agent.recorder.send(Message::Sites(vec![site]));
        id as jint
    })
}

extern "system" fn constant(env: Env, _: jclass, class: jint, ordinal: jint, name: jstring) {
    with(env, (), |agent, jni| {
        if let (Some(name), Ok(ordinal)) = (local(name), usize::try_from(ordinal)) {
            agent.classes.constant(
                &agent.recorder,
                TypeId(class as u32),
                ordinal,
                jni.string(&name),
            );
        }
    });
}

extern "system" fn fields(env: Env, _: jclass, class: jint, described: jstring) {
    with(env, (), |agent, jni| {
        let Some(described) = local(described) else {
            return;
        };
        let fields = jni.string(&described);
        let fields = fields.lines().filter_map(|line| {
            let mut words = line.split(' ');
            Some(Member {
                owner: plain_name(words.next()?),
                name: words.next()?.to_owned(),
                descriptor: words.next()?.to_owned(),
            })
        });
        let class = TypeId(class as u32);
        agent
            .classes
            .fields(&agent.recorder, class, fields.collect());
    });
}

extern "system" fn string_blob(env: Env, _: jclass, value: jstring) -> jint {
    with(env, MASKED, |agent, jni| {
        let Some(value) = local(value) else {
            return MASKED;
        };
        let units = jni.string_units(&value);
        if is_masked(agent, &units) {
            return MASKED;
        }
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        store(agent, BlobKind::Text, &bytes)
    })
}

extern "system" fn array_blob(
    env: Env,
    _: jclass,
    array: jobject,
    from: jint,
    count: jint,
    width: jint,
) -> jint {
    with(env, TOO_LONG, |agent, jni| {
        let (Some(array), [from, count, width]) = (
            local(array),
            [from, count, width].map(|n| n.max(0) as usize),
        ) else {
            return TOO_LONG;
        };
        if count * width > MOST_BLOB {
            agent
                .recorder
                .lost("values over 32 MB, recorded without contents");
            return TOO_LONG;
        }
        // Copied before it is looked at: the program may go on changing the array. The copy goes
        // to memory that the thread keeps, since most arrays turn out to be known.
        let part = from * width..(from + count) * width;
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.clear();
            scratch.reserve(count * width);
            let copied = jni.with_elements(&array, width, |bytes| {
                bytes
                    .get(part)
                    .map(|bytes| scratch.extend_from_slice(bytes))
            });
            let blob = match copied {
                Some(Some(())) if is_masked_array(agent, jni, &array, scratch) => MASKED,
                Some(Some(())) => store(agent, BlobKind::Elements, scratch),
                _ => TOO_LONG,
            };
            scratch.shrink_to(MOST_SCRATCH);
            blob
        })
    })
}

/// The answers for a value that is not stored.
const MASKED: jint = -1;
const TOO_LONG: jint = -2;
/// Longer values are not stored: no block of a recording holds more than twice this.
const MOST_BLOB: usize = 32 << 20;

/// Memory for the copy of an array that a thread keeps.
const MOST_SCRATCH: usize = 64 << 10;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn store(agent: &Agent, kind: BlobKind, bytes: &[u8]) -> jint {
    if bytes.len() > MOST_BLOB {
        agent
            .recorder
            .lost("values over 32 MB, recorded without contents");
        return TOO_LONG;
    }
    // Room first: whoever waits for it must not hold the lock of the numbers.
    agent.recorder.wait_for_room();
    let store = |id, bytes| agent.recorder.push(Message::Blob { id, kind, bytes });
    agent.recorder.blobs.number(bytes, store).0 as jint
}

extern "system" fn masked(env: Env, _: jclass, value: jstring) -> jboolean {
    // Should this fail, nothing secret may reach the disk.
    u8::from(with(env, true, |agent, jni| match local(value) {
        Some(value) => is_masked(agent, &jni.string_units(&value)),
        None => false,
    }))
}

extern "system" fn masked_array(
    env: Env,
    _: jclass,
    array: jobject,
    element_size: jint,
) -> jboolean {
    u8::from(with(env, true, |agent, jni| {
        let Some(array) = local(array) else {
            return false;
        };
        let copy = jni.with_elements(&array, element_size.max(0) as usize, <[u8]>::to_vec);
        copy.is_none_or(|bytes| is_masked_array(agent, jni, &array, &bytes))
    }))
}

/// Whether characters, or bytes read as text, are to be masked; counted where they are.
fn is_masked_array(agent: &Agent, jni: &Jni<'_>, array: &Local<'_>, bytes: &[u8]) -> bool {
    if agent.redact.is_empty() {
        return false;
    }
    let signature = jni.with_frame(|jni| agent.jvmti.class_signature(&jni.object_class(array)));
    // Should this fail, nothing secret may reach the disk.
    let Ok(Ok(signature)) = signature else {
        return true;
    };
    let units: Vec<u16> = match &*signature {
        "[C" => bytes
            .chunks_exact(2)
            .filter_map(|unit| Some(u16::from_ne_bytes(unit.try_into().ok()?)))
            .collect(),
        "[B" => bytes.iter().map(|byte| u16::from(*byte)).collect(),
        _ => return false,
    };
    let utf8 = || {
        let text = String::from_utf8_lossy(bytes);
        agent.redact.iter().any(|pattern| pattern.is_match(&text))
    };
    let masked = is_masked(agent, &units) || signature == "[B" && utf8();
    if masked {
        agent
            .recorder
            .lost("arrays whose contents are masked (--redact)");
    }
    masked
}

fn is_masked(agent: &Agent, units: &[u16]) -> bool {
    if agent.redact.is_empty() {
        return false;
    }
    let text = String::from_utf16_lossy(units);
    agent.redact.iter().any(|pattern| pattern.is_match(&text))
}

extern "system" fn lost(env: Env, _: jclass, reason: jint) {
    with(env, (), |agent, _| {
        if let Some(what) = usize::try_from(reason)
            .ok()
            .and_then(|i| agent.losses.get(i))
        {
            agent.recorder.lost(what);
        }
    });
}

extern "system" fn fault(env: Env, _: jclass, what: jstring) {
    with(env, (), |agent, jni| {
        let what = local(what)
            .map(|what| jni.string(&what))
            .unwrap_or_default();
        agent
            .recorder
            .stop(format!("a fault of the runtime: {what}"));
    });
}

extern "system" fn failure(
    env: Env,
    _: jclass,
    kind: jint,
    state: jlong,
    place: jstring,
    class: jstring,
    message: jstring,
    stack: jstring,
    exceptions: jlongArray,
) {
    with(env, (), |agent, jni| {
        let kind = match kind {
            1 => FailureKind::Uncaught,
            _ => FailureKind::Test,
        };
        let failure =
            failure_in_words(agent, jni, kind, state, [class, message, stack], exceptions);
        agent.recorder.send(Message::Failure(Failure {
            place: shown(agent, jni, place).unwrap_or_default(),
            ..failure
        }));
    });
}

extern "system" fn fared(env: Env, _: jclass, thrown: jobject, how: jint) -> jboolean {
    with(env, 1, |agent, _| {
        let fate = match how {
            1 => Fate::Reported,
            _ => Fate::Printed,
        };
        u8::from(local(thrown).is_none_or(|thrown| agent.fares(&thrown, fate)))
    })
}

extern "system" fn caught(
    env: Env,
    _: jclass,
    number: jint,
    state: jlong,
    thrown: jobject,
    class: jstring,
    message: jstring,
    stack: jstring,
    exceptions: jlongArray,
) {
    with(env, (), |agent, jni| {
        let Some(thrown) = local(thrown) else { return };
        let words = [class, message, stack];
        let failure = failure_in_words(agent, jni, FailureKind::Caught, state, words, exceptions);
        let ordinal = agent.recorder.states.event_count(state);
        agent.described(number as u32, &thrown, failure, ordinal);
    });
}

/// A text of the program, masked if it is a secret; none for null.
fn shown(agent: &Agent, jni: &Jni<'_>, text: jstring) -> Option<String> {
    let units = jni.string_units(&local(text)?);
    Some(match is_masked(agent, &units) {
        true => MASK.to_owned(),
        false => String::from_utf16_lossy(&units),
    })
}

/// An exception by its class, its message and its stack trace. The caller knows the place.
fn failure_in_words(
    agent: &Agent,
    jni: &Jni<'_>,
    kind: FailureKind,
    state: jlong,
    [class, message, stack]: [jstring; 3],
    exceptions: jlongArray,
) -> Failure {
    let ids = local(exceptions).map(|array| jni.longs(&array));
    let ids = ids.unwrap_or_default().into_iter();
    Failure {
        kind,
        thread: agent.recorder.states.thread(state).unwrap_or(ThreadId(0)),
        place: String::new(),
        class: shown(agent, jni, class).unwrap_or_default(),
        message: shown(agent, jni, message),
        stack: shown(agent, jni, stack).unwrap_or_default(),
        exceptions: ids.map(|id| ObjectId(id as u64)).collect(),
    }
}

extern "system" fn argument(env: Env, _: jclass) -> jstring {
    let argument = callbacks::argument().unwrap_or_default();
    with(env, std::ptr::null_mut(), |_, jni| {
        new_string(jni, &argument)
    })
}

extern "system" fn child(env: Env, _: jclass, command: jstring) -> jint {
    with(env, AgentEntry::Environment as jint, |_, jni| {
        let command = local(command).map_or_else(String::new, |text| jni.string(&text));
        let words: Vec<&str> = command.split_terminator('\0').collect();
        agent_entry(&words, std::env::var_os("PATH").as_deref()) as jint
    })
}

extern "system" fn environment(env: Env, _: jclass) -> jstring {
    with(env, std::ptr::null_mut(), |_, jni| {
        let mut text = String::new();
        for (name, value) in std::env::vars_os() {
            let variable = [name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat();
            text.extend(variable.into_iter().map(char::from));
        }
        new_string(jni, &text)
    })
}

fn new_string(jni: &Jni<'_>, text: &str) -> jstring {
    jni.new_string(text)
        .map_or(std::ptr::null_mut(), |string| string.raw())
}

extern "system" fn exiting(env: Env, _: jclass, status: jint) {
    with(env, (), |agent, _| agent.recorder.set_exit_status(status));
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::ClassFile;
    use std::collections::BTreeSet;

    #[test]
    fn every_native_method_of_the_runtime_is_registered() {
        let (_, bytes) = crate::runtime::CLASSES
            .iter()
            .find(|(name, _)| name.ends_with("/Native"))
            .unwrap();
        let class = ClassFile::parse(bytes).unwrap();
        let utf8 = |index| class.pool.utf8(index).unwrap().into_owned();
        let declared: BTreeSet<_> = class
            .methods
            .iter()
            .filter(|m| m.access & access::NATIVE != 0)
            .map(|m| (utf8(m.name), utf8(m.descriptor)))
            .collect();
        let registered: BTreeSet<_> = table()
            .iter()
            .map(|m| (m.name.to_owned(), m.descriptor.to_owned()))
            .collect();
        assert_eq!(declared, registered);
    }
}
