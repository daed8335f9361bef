//! `--suggest`: no recording, only counters of who calls whom. Weaves every class that is not the
//! JDK's and writes the coupling of the classes every second and at the end, as a whole file each
//! time, so that a killed JVM leaves the last one behind.

mod cells;
mod names;

use std::ffi::c_void;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use culprit_classfile::ClassFile;
use culprit_jvmti::sys::jni::{JNIEnv, jclass, jint, jlong};
use culprit_jvmti::sys::jvmti as t;
use culprit_jvmti::{Jni, Jvmti, Local, NativeMethod};
use culprit_model::observe::{is_jdk_name, is_own_name, is_tool_name};
use culprit_trace::COUPLING_EXTENSION;
use culprit_weave::ahead;
use culprit_weave::coupling::COUNTER;

use crate::agent::Trouble;
use crate::classes::PLATFORM_LOADER;
use crate::load::{Loading, ask_for_class, code_source, connect_module, open_module};
use crate::lock::LockSafe;
use crate::recorder::block_signals;
use crate::roots::{Launch, Origin, Roots};
use crate::runtime;
use cells::Cells;
use names::{CountedNames, Outline};

/// How often the file is written anew.
const INTERVAL: Duration = Duration::from_secs(1);

/// The counters of the process, where it counts and does not record.
static COUNTING: OnceLock<Counting> = OnceLock::new();

pub(crate) fn counting() -> Option<&'static Counting> {
    COUNTING.get()
}

pub(crate) struct Counting {
    jvmti: Jvmti,
    cells: Cells,
    names: CountedNames,
    roots: Mutex<Roots>,
    path: PathBuf,
    started: Instant,
    ended: Mutex<bool>,
    ends: Condvar,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Counting {
    /// Sets everything up in the JVM's live phase and starts to count.
    pub(crate) fn start(jvmti: Jvmti, jni: &Jni<'_>, folder: &Path) -> Result<(), Trouble> {
        let roots = Roots::find(&Launch::of(jvmti));
        let name = format!("jvm-{}.{COUPLING_EXTENSION}", std::process::id());
        let counting = Counting {
            jvmti,
            cells: Cells::new()?,
            names: CountedNames::default(),
            roots: Mutex::new(roots),
            path: folder.join(name),
            started: Instant::now(),
            ended: Mutex::new(false),
            ends: Condvar::new(),
            thread: Mutex::new(None),
        };
        counting.write()?;
        let counting = COUNTING.get_or_init(|| counting);
        counting.install(jni)?;
        let thread = std::thread::Builder::new()
            .name("culprit-counter".to_owned())
            .spawn(|| {
                block_signals();
                // What cannot be written now is tried again a second later, and at the end.
                let _ = std::panic::catch_unwind(|| counting.write_often());
            })?;
        *counting.thread.lock_safe() = Some(thread);
        Ok(())
    }

    /// Puts the runtime's one class into the JVM.
    fn install(&self, jni: &Jni<'_>) -> Result<(), Trouble> {
        let (name, bytes) = runtime::COUNTER;
        let class = jni.define_class(name, None, bytes)?;
        jni.register_natives(&class, &natives())?;
        connect_module(self.jvmti, jni, &class, &[])?;
        // Initialises the class, so that no woven method has to.
        jni.static_method(&class, "enter", "(I)J")?;
        self.jvmti.enable(t::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)?;
        self.jvmti.enable(t::JVMTI_EVENT_CLASS_PREPARE)?;
        Ok(())
    }

    /// The new bytes of a class, or `None` to leave it as it is.
    pub(crate) fn load(&self, jni: &Jni<'_>, loading: &Loading<'_>) -> Option<Vec<u8>> {
        let loader = loading.loader.as_ref()?;
        let loader_class = self.jvmti.class_signature(&jni.object_class(loader)).ok()?;
        if loader_class == PLATFORM_LOADER || is_own_name(loading.name) {
            return None;
        }
        if !self.reaches_runtime(jni, loader) {
            return None;
        }
        // A class that cannot be woven is counted with those that are not.
        let mut class = ClassFile::parse(loading.bytes).ok()?;
        if let Some(original) = ahead::original(&class) {
            class = ClassFile::parse(original).ok()?;
        }
        let outline = Outline::of(&class, self.is_program(jni, loading, &class)).ok()?;
        self.names.outline(loading.name, outline);
        let woven = culprit_weave::coupling::counted(class, &self.names).ok()?;
        Some(woven.bytes)
    }

    /// Whether classes of a loader can call the counters: asked once, noted in its tag.
    fn reaches_runtime(&self, jni: &Jni<'_>, loader: &Local<'_>) -> bool {
        const YES: i64 = 1;
        const NO: i64 = 2;
        match self.jvmti.tag(loader) {
            Ok(YES) => return true,
            Ok(NO) => return false,
            _ => {}
        }
        let ask = |jni: &Jni<'_>| ask_for_class(jni, loader, COUNTER).is_some();
        let reaches = jni.with_frame(ask).unwrap_or(false);
        let _ = self.jvmti.set_tag(loader, if reaches { YES } else { NO });
        reaches
    }

    /// A class is linked and none of its code has run.
    pub(crate) fn prepared(&self, jni: &Jni<'_>, class: &Local<'_>) {
        let _ = jni.with_frame(|jni| open_module(self.jvmti, jni, class, COUNTER));
    }

    fn is_program(&self, jni: &Jni<'_>, loading: &Loading<'_>, class: &ClassFile) -> bool {
        if is_jdk_name(loading.name) || is_tool_name(loading.name) {
            return false;
        }
        if self.roots.lock_safe().has(loading.name) {
            return true;
        }
        let origin = Origin {
            url: code_source(jni, loading),
            source: class.source_file(),
        };
        let mut roots = self.roots.lock_safe();
        roots.is_program(loading.name, &origin)
    }

    fn write_often(&self) {
        let mut ended = self.ended.lock_safe();
        while !*ended {
            ended = match self.ends.wait_timeout(ended, INTERVAL) {
                Ok((ended, _)) => ended,
                Err(poisoned) => poisoned.into_inner().0,
            };
            if !*ended {
                drop(ended);
                let _ = self.write();
                ended = self.ended.lock_safe();
            }
        }
    }

    /// The JVM ends.
    pub(crate) fn finish(&self) {
        *self.ended.lock_safe() = true;
        self.ends.notify_all();
        if let Some(thread) = self.thread.lock_safe().take() {
            let _ = thread.join();
        }
        let _ = self.write();
    }

    fn write(&self) -> std::io::Result<()> {
        let time = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let coupling = self.names.coupling(&self.cells.read(), time);
        let part = self.path.with_extension("part");
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)?;
        file.write_all(coupling.to_string().as_bytes())?;
        fs::rename(&part, &self.path)
    }
}

/// The native methods of `Counter.java`.
fn natives() -> Vec<NativeMethod> {
    let method = NativeMethod::new;
    vec![
        method("cells", "()J", cells as *mut c_void),
        method("threads", "()J", threads as *mut c_void),
        method("first", "(II)V", first as *mut c_void),
    ]
}

extern "system" fn cells(_: *mut JNIEnv, _: jclass) -> jlong {
    counting().map_or(0, |counting| counting.cells.counts_address())
}

extern "system" fn threads(_: *mut JNIEnv, _: jclass) -> jlong {
    counting().map_or(0, |counting| counting.cells.threads_address())
}

extern "system" fn first(_: *mut JNIEnv, _: jclass, row: jint, column: jint) {
    // Growing a set may fail for want of memory; nothing of ours unwinds into the JVM.
    let _ = std::panic::catch_unwind(|| {
        if let Some(counting) = counting() {
            counting.cells.first((row as u32, column as u32));
        }
    });
}
