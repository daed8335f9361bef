//! Instruction traces of scripts, in a worker that was started for them: weaves the program and the parts of the JDK
//! that are traced with it, takes the events of the threads, and writes a file at the end of each run.
//!
//! Classes of the JDK are woven when the first run begins, since the JVM itself needs them until then.

mod buffers;
mod objects;

use std::collections::HashSet;
use std::ffi::c_void;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use culprit_classfile::ClassFile;
use culprit_jvmti::sys::jni::{JNIEnv, jclass, jint, jlong};
use culprit_jvmti::{Global, Jni, Jvmti, Local, NativeMethod, Passed, StaticMethodId};
use culprit_model::observe::{is_jdk_name, is_own_name};
use culprit_model::options::{TraceOptions, TraceScope};
use culprit_trace::instructions::{
    self, EventKind, Events, INSTRUCTIONS_EXTENSION, InstructionTrace, TraceEnding, TracedClass,
    TracedMethod, TracedThread,
};
use culprit_weave::trace::{self, BlockNumbers};

use crate::agent::Trouble;
use crate::classes::internal_name;
use crate::load::Loading;
use crate::lock::LockSafe;
use crate::runtime;
use buffers::Buffers;

static TRACING: OnceLock<Tracing> = OnceLock::new();

/// The tracer of the process, where there is one.
pub(crate) fn tracing() -> Option<&'static Tracing> {
    TRACING.get()
}

/// The reasons for an early end that `Trace.java` gives.
const REASONS: [&str; 1] = ["the run has more objects than a trace can have"];

/// References to classes that are loaded before the first run: room is made for so many.
const MOST_CLASSES: i32 = 1 << 15;

/// A worker that traces its runs.
pub(crate) struct Tracing {
    jvmti: Jvmti,
    folder: PathBuf,
    options: TraceOptions,
    buffers: Buffers,
    numbers: BlockNumbers,
    classes: Mutex<Vec<TracedClass>>,
    not_woven: Mutex<Vec<(String, String)>>,
    partial: Mutex<Option<String>>,
    /// The first run has begun.
    weaves: AtomicBool,
    java: OnceLock<TraceClass>,
}

/// The methods of `Trace.java` that the agent calls.
struct TraceClass {
    class: Global,
    begin: StaticMethodId,
    end: StaticMethodId,
    statement: StaticMethodId,
    objects: StaticMethodId,
}

/// Has the process trace the scripts that it runs.
pub(crate) fn prepare(jvmti: Jvmti, folder: &Path, options: TraceOptions) {
    let _ = TRACING.get_or_init(|| Tracing {
        jvmti,
        folder: folder.to_owned(),
        options,
        buffers: Buffers::default(),
        numbers: BlockNumbers::default(),
        classes: Mutex::default(),
        not_woven: Mutex::default(),
        partial: Mutex::default(),
        weaves: AtomicBool::new(false),
        java: OnceLock::new(),
    });
}

impl Tracing {
    /// Puts the Java side into the JVM.
    pub(crate) fn install(&self, jni: &Jni<'_>) -> Result<(), Trouble> {
        let mut trace = None;
        for (name, bytes) in runtime::TRACE {
            let class = jni.define_class(name, None, bytes)?;
            if *name == trace::TRACE {
                jni.register_natives(&class, &natives())?;
                trace = Some(class);
            }
        }
        let class = trace.ok_or("the runtime has no class Trace")?;
        let found = TraceClass {
            begin: jni.static_method(&class, "begin", "()V")?,
            end: jni.static_method(&class, "end", "()V")?,
            statement: jni.static_method(&class, "statement", "(I)V")?,
            objects: jni.static_method(&class, "objects", "()[Ljava/lang/Object;")?,
            class: jni.global(&class)?,
        };
        let known = self.java.set(found);
        known.map_err(|_| "the tracer is installed already".into())
    }

    /// The woven bytes of a class, or `None` if it is not traced.
    pub(crate) fn load(&self, loading: &Loading<'_>) -> Option<Vec<u8>> {
        if !self.weaves.load(Ordering::Relaxed) || is_own_name(loading.name) {
            return None;
        }
        if trace::muted_classes().contains(loading.name) {
            let class = ClassFile::parse(loading.bytes).map_err(Into::into);
            return self.kept(loading.name, class.and_then(trace::muted));
        }
        let is_traced = match is_jdk_name(loading.name) {
            true => self.traces_library(loading.name),
            false => loading.loader.is_some(),
        };
        if !is_traced {
            return None;
        }
        let class = ClassFile::parse(loading.bytes).map_err(Into::into);
        let traced = class.and_then(|class| match self.options.scope {
            TraceScope::Whole => trace::traced(class, &self.numbers),
            _ => trace::traced_later(class, &self.numbers),
        });
        let traced = self.kept(loading.name, traced)?;
        self.not_woven.lock_safe().extend(traced.skipped);
        let methods = traced.methods.into_iter().map(|method| TracedMethod {
            index: method.index,
            first_block: method.first_block,
            blocks: method.blocks,
            reporting: method.reporting,
        });
        self.classes.lock_safe().push(TracedClass {
            bytes: loading.bytes.to_vec(),
            methods: methods.collect(),
        });
        Some(traced.bytes)
    }

    /// True for a class of the JDK that is traced.
    fn traces_library(&self, name: &str) -> bool {
        self.options.scope != TraceScope::ProgramAlone && trace::is_traced_library(name)
    }

    /// A class that was woven; others run as they are and are noted.
    fn kept<T>(&self, name: &str, woven: Result<T, culprit_weave::Error>) -> Option<T> {
        let note = |error: &culprit_weave::Error| {
            let mut not_woven = self.not_woven.lock_safe();
            not_woven.push((name.to_owned(), error.to_string()));
        };
        woven.inspect_err(note).ok()
    }

    /// Begins the trace of a run, in the thread that is to run the script.
    pub(crate) fn begin(&self, jni: &Jni<'_>) -> Result<(), culprit_jvmti::Error> {
        if !self.weaves.swap(true, Ordering::Relaxed) {
            for name in trace::muted_classes() {
                // A class that is not there calls nothing.
                jni.with_frame(|jni| drop(jni.find_class(name)))?;
            }
            // The load hook counts the references of all frames around it, so that none may be open then.
            let chosen = jni.with_frame_of(MOST_CLASSES, |jni| self.loaded_library(jni))??;
            self.weave_again(jni, &chosen)?;
            for class in chosen {
                jni.delete_global(class);
            }
        }
        self.buffers.clear();
        *self.partial.lock_safe() = None;
        self.call(jni, |java| java.begin, &[])
    }

    /// The classes of the JDK that are loaded already and are traced or muted.
    fn loaded_library(&self, jni: &Jni<'_>) -> Result<Vec<Global>, culprit_jvmti::Error> {
        let muted = trace::muted_classes();
        let mut chosen = Vec::new();
        for class in self.jvmti.loaded_classes(jni)? {
            let signature = self.jvmti.class_signature(&class)?;
            let name = internal_name(&signature);
            // The name of a hidden class has a dot.
            let is_plain = signature.starts_with('L') && !name.contains('.');
            if is_plain && (muted.contains(name) || self.traces_library(name)) {
                chosen.push(jni.global(&class)?);
            }
        }
        Ok(chosen)
    }

    /// Has classes woven that are loaded already.
    fn weave_again(&self, jni: &Jni<'_>, chosen: &[Global]) -> Result<(), culprit_jvmti::Error> {
        let chosen: Vec<Local<'_>> = chosen.iter().map(|class| class.local(jni)).collect();
        if self.jvmti.retransform(&chosen).is_ok() {
            return Ok(());
        }
        for class in chosen {
            if self.jvmti.retransform(&[class]).is_err() {
                let signature = self.jvmti.class_signature(&class)?;
                let name = internal_name(&signature).to_owned();
                let why = "the JVM does not accept it".to_owned();
                self.not_woven.lock_safe().push((name, why));
            }
        }
        Ok(())
    }

    /// A statement of the script begins.
    pub(crate) fn statement(
        &self,
        jni: &Jni<'_>,
        number: usize,
    ) -> Result<(), culprit_jvmti::Error> {
        let number = i32::try_from(number).unwrap_or(i32::MAX) & instructions::MAX_OPERAND as i32;
        self.call(jni, |java| java.statement, &[Passed::Int(number)])
    }

    /// The run is over; whatever runs from now on is not traced.
    pub(crate) fn stop_events(&self, jni: &Jni<'_>) -> Result<(), culprit_jvmti::Error> {
        self.call(jni, |java| java.end, &[])
    }

    /// Ends the trace of a run, and writes it.
    pub(crate) fn end(&self, jni: &Jni<'_>, run: u64) -> Result<(), Trouble> {
        self.stop_events(jni)?;
        let threads = self.buffers.take();
        let mut trace = InstructionTrace {
            classes: self.classes_of(&threads),
            threads,
            objects: self.objects(jni)?,
            ending: TraceEnding {
                partial: self.partial.lock_safe().take(),
                not_woven: self.not_woven.lock_safe().clone(),
            },
        };
        trace.ending.not_woven.sort();
        let path = self
            .folder
            .join(format!("run-{run}.{INSTRUCTIONS_EXTENSION}"));
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = BufWriter::new(file.open(path)?);
        instructions::write(&mut file, &trace)?;
        file.flush()?;
        Ok(())
    }

    fn call(
        &self,
        jni: &Jni<'_>,
        method: impl Fn(&TraceClass) -> StaticMethodId,
        arguments: &[Passed<'_>],
    ) -> Result<(), culprit_jvmti::Error> {
        let Some(java) = self.java.get() else {
            return Ok(());
        };
        jni.with_frame(|jni| {
            let class = java.class.local(jni);
            // Only for want of memory could one of them throw; then the trace lacks something.
            let called = jni.invoke_statically(&class, method(java), arguments, b'V');
            if called.is_err() {
                self.stop(jni, "the JVM had no memory left for the trace");
            }
        })
    }

    fn objects(&self, jni: &Jni<'_>) -> Result<Vec<instructions::TracedObject>, Trouble> {
        let Some(java) = self.java.get() else {
            return Ok(Vec::new());
        };
        jni.with_frame(|jni| {
            let class = java.class.local(jni);
            let all = jni.invoke_statically(&class, java.objects, &[], b'L');
            match all.ok().and_then(Passed::reference) {
                Some(all) => objects::describe(self.jvmti, jni, &all),
                None => Ok(Vec::new()),
            }
        })?
    }

    /// The classes with methods that some thread has entered, and these methods.
    fn classes_of(&self, threads: &[TracedThread]) -> Vec<TracedClass> {
        let mut entered = HashSet::new();
        for thread in threads {
            let events = Events::new(&thread.words);
            let enters = events.filter(|event| event.kind == EventKind::Enter);
            entered.extend(enters.map(|event| event.operand));
        }
        let mut classes = Vec::new();
        for class in self.classes.lock_safe().iter() {
            let methods = class.methods.iter();
            let methods = methods.filter(|method| entered.contains(&method.first_block));
            let methods: Vec<TracedMethod> = methods.cloned().collect();
            if !methods.is_empty() {
                let bytes = class.bytes.clone();
                classes.push(TracedClass { bytes, methods });
            }
        }
        classes
    }

    /// Ends the trace early.
    fn stop(&self, jni: &Jni<'_>, why: &str) {
        self.partial
            .lock_safe()
            .get_or_insert_with(|| why.to_owned());
        if let Some(java) = self.java.get() {
            let class = java.class.local(jni);
            let _ = jni.set_static_field(&class, "on", "Z", &Passed::Boolean(false));
        }
    }
}

/// The native methods of `Trace.java`.
fn natives() -> Vec<NativeMethod> {
    let method = NativeMethod::new;
    vec![
        method("table", "()J", table as *mut c_void),
        method("slots", "()I", slots as *mut c_void),
        method("order", "()J", order as *mut c_void),
        method("attach", "(JI)J", attach as *mut c_void),
        method("flush", "(J)V", flush as *mut c_void),
        method("close", "(I)V", close as *mut c_void),
    ]
}

extern "system" fn table(_: *mut JNIEnv, _: jclass) -> jlong {
    tracing().map_or(0, |tracing| tracing.buffers.table())
}

extern "system" fn slots(_: *mut JNIEnv, _: jclass) -> jint {
    buffers::SLOTS as jint
}

extern "system" fn order(_: *mut JNIEnv, _: jclass) -> jlong {
    tracing().map_or(0, |tracing| tracing.buffers.order())
}

extern "system" fn attach(_: *mut JNIEnv, _: jclass, tid: jlong, object: jint) -> jlong {
    let attached = catch_unwind(|| {
        let tracing = tracing()?;
        Some(tracing.buffers.attach(tid as u64, object as u32))
    });
    attached.ok().flatten().unwrap_or(0)
}

extern "system" fn flush(env: *mut JNIEnv, _: jclass, state: jlong) {
    let _ = catch_unwind(|| {
        let Some(tracing) = tracing() else { return };
        let limit = tracing.options.bytes;
        if tracing.buffers.flush(state) > limit {
            // SAFETY: the JVM passes the environment of the current thread.
            let jni = unsafe { Jni::from_raw(env) };
            tracing.stop(
                &jni,
                &format!("the run has more than {} of events", size(limit)),
            );
        }
    });
}

/// A number of bytes as a person writes it.
fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes % (1 << 20) == 0 => format!("{} MB", bytes >> 20),
        bytes if bytes % (1 << 10) == 0 => format!("{} KB", bytes >> 10),
        bytes => format!("{bytes} bytes"),
    }
}

extern "system" fn close(_: *mut JNIEnv, _: jclass, reason: jint) {
    let _ = catch_unwind(|| {
        let Some(tracing) = tracing() else { return };
        let why = usize::try_from(reason).ok().and_then(|it| REASONS.get(it));
        let why = why.copied().unwrap_or("the runtime ended it").to_owned();
        tracing.partial.lock_safe().get_or_insert(why);
    });
}
