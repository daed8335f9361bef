//! What the JVM calls: the agent's entry point and the JVMTI callbacks. Every one goes through
//! a border that catches panics and knows the phase.

use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use culprit_jvmti::sys::jni::{JNIEnv, JavaVM, jclass, jint, jlong, jmethodID, jobject, jthread};
use culprit_jvmti::sys::jvmti as t;
use culprit_jvmti::{Jni, Jvmti, Local, MethodId, Vm};
use culprit_model::AgentOptions;
use culprit_model::options::{Mode, writes_archive};

use crate::agent::{Agent, Trouble};
use crate::caught::Thrown;
use crate::counting::{Counting, counting};
use crate::follow::{Following, following};
use crate::load::Loading;
use crate::lock::LockSafe;
use crate::recorder::Message;
use crate::{AGENT, agent, forget_on_panic, tracing, worker};

/// The oldest JDK we weave for.
const OLDEST_FEATURE: u16 = 11;
/// The variable through which JVMs started by this one get the agent.
const FOLLOW: &str = "JAVA_TOOL_OPTIONS";

static LOADED: AtomicBool = AtomicBool::new(false);
/// What `argument` answers.
static ARGUMENT: OnceLock<String> = OnceLock::new();
/// Options and JDK version between loading and the start of the JVM.
static PENDING: Mutex<Option<(AgentOptions, u16)>> = Mutex::new(None);

/// Called by the JVM when it loads the agent. Always answers "fine": a program must not fail to
/// start because of us.
///
/// # Safety
/// Called by the JVM only, with its invocation table and the option string or null.
#[unsafe(no_mangle)]
unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    let text = if options.is_null() {
        String::new()
    } else {
        // SAFETY: the JVM passes a NUL-terminated string.
        unsafe { CStr::from_ptr(options) }
            .to_string_lossy()
            .into_owned()
    };
    // SAFETY: the JVM passes its invocation table.
    let vm = unsafe { Vm::from_raw(vm) };
    let _ = catch_unwind(|| {
        if let Err(trouble) = on_load(vm, &text) {
            say(&text, &trouble.to_string());
        }
    });
    0
}

fn on_load(vm: Vm, text: &str) -> Result<(), Trouble> {
    if LOADED.swap(true, Ordering::AcqRel) {
        return Err("the agent is loaded already; the second one does nothing".into());
    }
    // A panic of ours is caught at the border; until then it must not speak on the program's stderr.
    std::panic::set_hook(Box::new(|_| {}));
    let options: AgentOptions = text.parse()?;
    let jvmti = vm
        .jvmti()
        .map_err(|_| "this JVM is older than JDK 11; run the program on JDK 11 or newer")?;
    // The one version that is known this early. JDK 8 calls itself 25 here, but has failed above.
    let version = jvmti.system_property("java.vm.version").unwrap_or_default();
    let digits = version
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(version.len());
    let feature: u16 = version[..digits].parse().unwrap_or(0);
    if feature < OLDEST_FEATURE {
        return Err(format!("this is JDK {version}; run the program on JDK 11 or newer").into());
    }
    follow_children(text, &options.mode);
    if let Some(option) = archiving() {
        return Err(format!(
            "this JVM writes an archive of classes and is not recorded ({option})"
        )
        .into());
    }

    let potential = jvmti.potential_capabilities()?;
    let mut capabilities = t::jvmtiCapabilities::default();
    capabilities.set_can_generate_all_class_hook_events(true);
    // Who cannot retransform classes sees them before those who can: drivers are followed as they were
    // compiled, and not as other agents leave them.
    if !matches!(options.mode, Mode::Follow(_)) {
        capabilities.set_can_retransform_classes(true);
        capabilities.set_can_retransform_any_class(potential.can_retransform_any_class());
    }
    // With this capability, compiled code throws several times slower, even after the events are disabled: it is for
    // runs that are to be debugged. Another agent that replays may be in the JVM too: what it makes the program do
    // is not noted.
    let notes_exceptions = match &options.mode {
        Mode::Record(record) => record.contents && !record.beside,
        Mode::Sentinel => true,
        Mode::Witness | Mode::Worker(_) | Mode::Suggest(_) | Mode::Follow(_) => false,
    };
    let notes_exceptions = notes_exceptions && potential.can_generate_exception_events();
    capabilities.set_can_generate_exception_events(notes_exceptions);
    capabilities.set_can_tag_objects(true);
    capabilities.set_can_generate_object_free_events(true);
    let virtual_threads = feature >= 21 && potential.can_support_virtual_threads();
    capabilities.set_can_support_virtual_threads(virtual_threads);
    jvmti.add_capabilities(capabilities)?;

    let mut callbacks = t::jvmtiEventCallbacks::default();
    callbacks.VMInit = Some(vm_init);
    callbacks.VMDeath = Some(vm_death);
    callbacks.ThreadEnd = Some(thread_end);
    callbacks.ClassFileLoadHook = Some(class_file_load);
    callbacks.ClassPrepare = Some(class_prepare);
    callbacks.ObjectFree = Some(object_free);
    if notes_exceptions {
        callbacks.Exception = Some(exception);
    }
    if virtual_threads {
        callbacks.VirtualThreadEnd = Some(thread_end);
    }
    jvmti.set_callbacks(&callbacks, feature)?;
    jvmti.enable(t::JVMTI_EVENT_VM_INIT)?;
    jvmti.enable(t::JVMTI_EVENT_VM_DEATH)?;
    jvmti.enable(t::JVMTI_EVENT_THREAD_END)?;
    jvmti.enable(t::JVMTI_EVENT_OBJECT_FREE)?;
    if virtual_threads {
        jvmti.enable(t::JVMTI_EVENT_VIRTUAL_THREAD_END)?;
    }
    *PENDING.lock_safe() = Some((options, feature));
    Ok(())
}

/// The option that makes this JVM write an archive of classes, if there is one.
fn archiving() -> Option<String> {
    let command = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let mut text = String::from_utf8_lossy(&command).replace('\0', " ");
    for variable in ["JDK_JAVA_OPTIONS", FOLLOW] {
        text.push(' ');
        text.push_str(&std::env::var(variable).unwrap_or_default());
    }
    text.split_whitespace()
        .find(|word| writes_archive(word))
        .map(str::to_owned)
}

/// Hides how the agent came in from the program's environment; JVMs that this one starts get it
/// where they are started (`Children.java`). Counting and following have no hooks there: their children
/// get the agent through the environment.
fn follow_children(options: &str, mode: &Mode) {
    let Some(library) = library_path() else {
        return;
    };
    let own = format!("-agentpath:{library}={options}");
    let inherited = std::env::var(FOLLOW).unwrap_or_default();
    let others = without_word(&inherited, &own);
    let value = match mode {
        Mode::Record(_) | Mode::Witness | Mode::Sentinel | Mode::Worker(_) => others,
        Mode::Suggest(_) | Mode::Follow(_) if others.is_empty() => own.clone(),
        Mode::Suggest(_) | Mode::Follow(_) => format!("{others} {own}"),
    };
    let _ = ARGUMENT.set(own);
    set_variable(&value);
}

#[expect(
    clippy::disallowed_methods,
    reason = "children are followed through the environment"
)]
fn set_variable(value: &str) {
    if value.is_empty() {
        // SAFETY: the JVM is loading its agents: no Java code runs yet, and no other thread of the
        // process reads the environment.
        unsafe { std::env::remove_var(FOLLOW) };
    } else {
        // SAFETY: as above.
        unsafe { std::env::set_var(FOLLOW, value) };
    }
}

/// The argument that puts this agent into another JVM.
pub(crate) fn argument() -> Option<String> {
    ARGUMENT.get().cloned()
}

/// A row of words without one of them; the spaces between the others stay as they are.
fn without_word(words: &str, word: &str) -> String {
    let mut kept = words.to_owned();
    let mut from = 0;
    while let Some(at) = kept.get(from..).and_then(|rest| rest.find(word)) {
        let (start, end) = (from + at, from + at + word.len());
        let is_border = |c: Option<u8>| c.is_none_or(|c| c.is_ascii_whitespace());
        let before = start.checked_sub(1).and_then(|i| kept.as_bytes().get(i));
        if is_border(before.copied()) && is_border(kept.as_bytes().get(end).copied()) {
            kept.replace_range(start.saturating_sub(1)..end, "");
            from = start.saturating_sub(1);
        } else {
            from = end;
        }
    }
    match kept.trim().is_empty() {
        true => String::new(),
        false => kept,
    }
}

/// The file this code was loaded from.
fn library_path() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let here = library_path as *const () as usize;
    for line in maps.lines() {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let (from, to) = (
            usize::from_str_radix(from, 16).ok()?,
            usize::from_str_radix(to, 16).ok()?,
        );
        if (from..to).contains(&here) {
            return rest.find('/').map(|at| rest[at..].to_owned());
        }
    }
    None
}

/// Writes to the agent's own log, in the folder of the run if there is one.
fn say(options: &str, message: &str) {
    let Ok(options) = options.parse::<AgentOptions>() else {
        return;
    };
    let path = Path::new(&options.out).join(format!("jvm-{}.log", std::process::id()));
    write_private(&path, &format!("{message}\n"));
}

/// Appends to a file beside the recording that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if let Ok(mut file) = options.open(path) {
        let _ = file.write_all(text.as_bytes());
    }
}

/// Runs a callback's body: nothing of ours may unwind into the JVM.
fn guarded<R>(otherwise: R, body: impl FnOnce() -> R) -> R {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) => {
            if let Some(agent) = agent() {
                forget_on_panic(agent, panic);
            }
            otherwise
        }
    }
}

unsafe extern "system" fn vm_init(env: *mut t::jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    guarded((), || {
        // SAFETY: the JVM passes the environment we made.
        let jvmti = unsafe { Jvmti::from_raw(env) };
        // SAFETY: the JVM passes the environment of the current thread.
        let jni = unsafe { Jni::from_raw(jni) };
        let Some((options, feature)) = PENDING.lock_safe().take() else {
            return;
        };
        let text = options.to_string();
        let folder = Path::new(&options.out);
        let without_agent = |started: Result<Result<(), Trouble>, culprit_jvmti::Error>| {
            if let Err(trouble) = started.unwrap_or_else(|error| Err(error.into())) {
                say(&text, &trouble.to_string());
            }
        };
        let started = match &options.mode {
            Mode::Record(record) => Agent::record(jvmti, &jni, &options, record, feature),
            Mode::Witness | Mode::Sentinel => Agent::witness(jvmti, &jni, &options, feature),
            Mode::Worker(own) => {
                if let Some(options) = own.trace {
                    tracing::prepare(jvmti, folder, options);
                }
                worker::greet(jvmti, own, feature)
                    .and_then(|weave| Agent::replay(jvmti, own, &weave, feature))
            }
            Mode::Suggest(_) => {
                let start = |jni: &Jni<'_>| Counting::start(jvmti, jni, folder);
                return without_agent(jni.with_frame_of(512, start));
            }
            Mode::Follow(own) => {
                let start = |jni: &Jni<'_>| Following::start(jvmti, jni, folder, own);
                return without_agent(jni.with_frame_of(512, start));
            }
        };
        match started {
            Ok(agent) => {
                let agent = AGENT.get_or_init(|| agent);
                let installed = jni.with_frame_of(512, |jni| agent.install(jni));
                let mut installed = installed.unwrap_or_else(|error| Err(error.into()));
                // Classes are prepared from now on, in callbacks that count the references of all
                // frames around them.
                if let (Ok(()), Some(worker)) = (&installed, worker::worker()) {
                    let done = jni.with_frame_of(64, |jni| worker.install(jni));
                    installed = done.unwrap_or_else(|error| Err(error.into()));
                }
                if let Err(trouble) = installed {
                    agent
                        .recorder
                        .stop(format!("the agent could not start: {trouble}"));
                    say(&text, &trouble.to_string());
                }
            }
            Err(trouble) => say(&text, &trouble.to_string()),
        }
    });
}

unsafe extern "system" fn vm_death(_: *mut t::jvmtiEnv, _: *mut JNIEnv) {
    guarded((), || {
        if let Some(agent) = agent() {
            agent.finish();
        }
        if let Some(counting) = counting() {
            counting.finish();
        }
        if let Some(following) = following() {
            following.finish();
        }
    });
}

unsafe extern "system" fn thread_end(_: *mut t::jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    guarded((), || {
        let Some(agent) = agent() else { return };
        // SAFETY: the JVM passes the environment of the current thread.
        let jni = unsafe { Jni::from_raw(jni) };
        // SAFETY: the JVM passes a local reference.
        let Some(thread) = (unsafe { Local::from_raw(thread) }) else {
            return;
        };
        let Ok(tid) = jni.long_field(&thread, "tid") else {
            return;
        };
        if let Some((ended, chunk)) = agent.recorder.states.detach(tid) {
            if let Some(chunk) = chunk {
                agent.recorder.send(Message::Events(chunk));
            }
            agent.recorder.send(Message::Ended(ended));
        }
    });
}

unsafe extern "system" fn exception(
    _: *mut t::jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    _: jmethodID,
    _: t::jlocation,
    exception: jobject,
    catch_method: jmethodID,
    catch_location: t::jlocation,
) {
    guarded((), || {
        let Some(agent) = agent() else { return };
        // SAFETY: the JVM passes the environment of the current thread.
        let jni = unsafe { Jni::from_raw(jni) };
        // SAFETY: the JVM passes a local reference.
        let Some(exception) = (unsafe { Local::from_raw(exception) }) else {
            return;
        };
        // SAFETY: the JVM passes null or the id of a method on the stack.
        let catcher = unsafe { MethodId::from_raw(catch_method) };
        let thrown = Thrown {
            exception,
            catcher,
            catch_location,
        };
        agent.thrown(&jni, &thrown);
    });
}

/// Called within a collection: neither JVMTI nor JNI may be used.
unsafe extern "system" fn object_free(_: *mut t::jvmtiEnv, tag: jlong) {
    guarded((), || {
        if let (Some(agent), Ok(loader)) = (agent(), u32::try_from(tag)) {
            agent.classes.loader_died(loader);
        }
    });
}

unsafe extern "system" fn class_prepare(
    _: *mut t::jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    class: jclass,
) {
    guarded((), || {
        // SAFETY: the JVM passes the environment of the current thread.
        let jni = unsafe { Jni::from_raw(jni) };
        // SAFETY: the JVM passes a local reference.
        if let Some(class) = unsafe { Local::from_raw(class) } {
            if let Some(agent) = agent() {
                agent.prepared(&jni, &class);
            } else if let Some(counting) = counting() {
                counting.prepared(&jni, &class);
            } else if let Some(following) = following() {
                following.prepared(&jni, &class);
            }
        }
    });
}

unsafe extern "system" fn class_file_load(
    env: *mut t::jvmtiEnv,
    jni: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    protection_domain: jobject,
    length: jint,
    bytes: *const u8,
    new_length: *mut jint,
    new_bytes: *mut *mut u8,
) {
    guarded((), || {
        // SAFETY: the JVM passes the environment we made.
        let jvmti = unsafe { Jvmti::from_raw(env) };
        if !jvmti.is_live() {
            return;
        }
        // SAFETY: the JVM passes the environment of the current thread.
        let jni = unsafe { Jni::from_raw(jni) };
        // SAFETY: the JVM passes null or a local reference.
        let loader = unsafe { Local::from_raw(loader) };
        // SAFETY: as above.
        let protection_domain = unsafe { Local::from_raw(protection_domain) };
        // SAFETY: the JVM passes `length` bytes of class data that stay put during the callback.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, length as usize) };
        // A class may be defined without saying its name; the class file has it.
        let name = if name.is_null() {
            let class = culprit_classfile::ClassFile::parse(bytes);
            let Ok(name) = class.and_then(|class| class.name().map(|name| name.into_owned()))
            else {
                return;
            };
            name
        } else {
            // SAFETY: the JVM passes a NUL-terminated name.
            unsafe { CStr::from_ptr(name) }
                .to_string_lossy()
                .into_owned()
        };
        let loading = Loading {
            name: &name,
            loader,
            protection_domain,
            bytes,
            again: !redefined.is_null(),
        };
        let woven = match (agent(), counting()) {
            (Some(agent), _) => agent.load(&jni, &loading),
            (None, Some(counting)) => counting.load(&jni, &loading),
            (None, None) => following().and_then(|following| following.load(&loading)),
        };
        let Some(woven) = woven else { return };
        let Ok(memory) = jvmti.copy_to_jvm(&woven) else {
            return;
        };
        // SAFETY: the JVM passes places for the new length and bytes.
        unsafe { *new_length = woven.len() as jint };
        // SAFETY: as above; the bytes were allocated by the JVM's allocator, as it demands.
        unsafe { *new_bytes = memory };
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_word_is_taken_out() {
        let check = |words: &str, expect: &str| assert_eq!(without_word(words, "-a=/r"), expect);
        check("", "");
        check("-a=/r", "");
        check("-a=/r1", "-a=/r1");
        check("-Dx='y  z' -a=/r", "-Dx='y  z'");
        check("-a=/r -a=/r1 -a=/r -Dx", " -a=/r1 -Dx");
        check("x-a=/r", "x-a=/r");
    }
}
