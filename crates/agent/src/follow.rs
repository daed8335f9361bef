//! Follows the driver of a failing run: the test class or the main class, with its super- and subclasses. For the
//! innermost level it follows all classes on the stack but the one that threw. An interpreter
//! in the program's JVM runs the bytecode of their methods (`machine`) and knows for each value whether it
//! comes from the program, and from which call (`value`). Calls out of the driver, and operators and branches
//! on values of the program, become statements of a script (`script_writer`), which is written when the JVM ends.
//! `docs/decisions/follow.md` has the reasons.

mod activity;
mod arithmetic;
mod arrays;
mod call_sites;
mod calls;
mod expect;
mod fields;
mod handlers;
mod machine;
mod naming;
mod operations;
mod scenes;
mod script_writer;
mod shared;
mod value;

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

use culprit_classfile::ClassFile;
use culprit_jvmti::sys::jni::{JNIEnv, jclass, jint, jobject};
use culprit_jvmti::sys::jvmti as t;
use culprit_jvmti::{Global, Jni, Jvmti, Local, NativeMethod, Passed, StaticMethodId};
use culprit_model::Pattern;
use culprit_model::options::{FOLLOWED_EXTENSION, FollowOptions};
use culprit_model::script::Operation;
use culprit_weave::follow::{
    Concatenation, ENTER, ENTER_DESCRIPTOR, Lambda, Method, MethodChoice, followed,
};

use crate::agent::Trouble;
use crate::callbacks::write_private;
use crate::classes::internal_name;
use crate::load::Loading;
use crate::lock::{LockSafe, ShareSafe};
use crate::operators::{self, Operators};
use crate::recorder::block_signals;
use crate::runtime;
use activity::SavedActivity;
use script_writer::ScriptWriter;

/// The status of a JVM that was ended because it took too long.
const TOO_LONG: i32 = 124;

/// The interpreter of the process, where it follows and does not record.
static FOLLOWING: OnceLock<Following> = OnceLock::new();

pub(crate) fn following() -> Option<&'static Following> {
    FOLLOWING.get()
}

pub(crate) struct Following {
    jvmti: Jvmti,
    patterns: Vec<Pattern>,
    /// The tests that are followed, if not all are.
    tests: Vec<String>,
    /// The methods that are followed, if not all are.
    only: Vec<String>,
    path: PathBuf,
    /// Somebody writes what is noted, or has done so.
    is_written: AtomicBool,
    writer: Mutex<ScriptWriter>,
    /// By number.
    methods: RwLock<Vec<Arc<Followed>>>,
    /// The classes that have them, by name and descriptor.
    names: RwLock<HashMap<String, HashSet<String>>>,
    /// Followed classes by name, once the JVM has them.
    classes: RwLock<HashMap<String, Arc<Global>>>,
    operators: OnceLock<Operators>,
}

/// A method that is interpreted, and the class it is in.
struct Followed {
    class: String,
    /// The class itself, once one of its methods has been entered. Others may have its name.
    loaded: Arc<OnceLock<Global>>,
    /// The methods of instructions, by name.
    ready: Arc<HashMap<String, Ready>>,
    pool: Arc<culprit_classfile::Pool>,
    concatenations: Arc<HashMap<u16, Concatenation>>,
    lambdas: Arc<HashMap<u16, Lambda>>,
    method: Method,
}

/// What is known of the method of an instruction.
#[derive(Default)]
struct Ready {
    method: OnceLock<StaticMethodId>,
    /// Of `new`: the class is initialised.
    is_done: AtomicBool,
}

impl Following {
    /// Sets everything up in the JVM's live phase.
    pub(crate) fn start(
        jvmti: Jvmti,
        jni: &Jni<'_>,
        folder: &Path,
        options: &FollowOptions,
    ) -> Result<(), Trouble> {
        let name = format!("jvm-{}.{FOLLOWED_EXTENSION}", std::process::id());
        let following = Following {
            jvmti,
            patterns: options.classes.clone(),
            tests: options.tests.clone(),
            only: options.methods.clone(),
            path: folder.join(name),
            is_written: AtomicBool::new(false),
            writer: Mutex::default(),
            methods: RwLock::default(),
            names: RwLock::default(),
            classes: RwLock::default(),
            operators: OnceLock::new(),
        };
        let following = FOLLOWING.get_or_init(|| following);
        if let Some(seconds) = options.seconds {
            let name = "culprit-patience".to_owned();
            std::thread::Builder::new().name(name).spawn(move || {
                block_signals();
                std::thread::sleep(Duration::from_secs(seconds));
                following.finish();
                // SAFETY: ends the process, whose run nobody needs any more.
                unsafe { libc::_exit(TOO_LONG) };
            })?;
        }
        following.install(jni)
    }

    fn install(&self, jni: &Jni<'_>) -> Result<(), Trouble> {
        for (name, bytes) in runtime::FOLLOW {
            let class = jni.define_class(name, None, bytes)?;
            if *name == operators::CLASS {
                let _ = self.operators.set(Operators::find(jni, &class)?);
            }
        }
        self.jvmti.enable(t::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)?;
        self.jvmti.enable(t::JVMTI_EVENT_CLASS_PREPARE)?;
        Ok(())
    }

    fn follows(&self, name: &str) -> bool {
        let mut patterns = self.patterns.iter();
        patterns.any(|pattern| pattern.matches(name))
    }

    /// True if a field is set by followed code alone: those of the driver's objects, and its static ones if all its
    /// methods are followed.
    fn keeps_field(&self, owner: &str, is_static: bool) -> bool {
        self.follows(owner) && (self.only.is_empty() || !is_static)
    }

    /// The new bytes of a class, or `None` to leave it as it is.
    pub(crate) fn load(&self, loading: &Loading<'_>) -> Option<Vec<u8>> {
        if !self.follows(loading.name) {
            return None;
        }
        let class = ClassFile::parse(loading.bytes).ok()?;
        let mut methods = self.methods.lock_write();
        // A class that is there keeps the methods that it has got, or has none.
        let is_known = || methods.iter().any(|known| known.class == loading.name);
        if loading.again && !is_known() {
            return None;
        }
        let first = methods.len() as u32;
        // A class that cannot be followed runs as it is.
        let choice = MethodChoice {
            tests: &self.tests,
            methods: &self.only,
        };
        let followed = followed(class, first, choice).ok()??;
        let loaded = Arc::new(OnceLock::new());
        let helpers = followed.methods.iter();
        let helpers = helpers.flat_map(|m| m.helpers.values().chain(&m.plain));
        let ready = helpers.map(|helper| (helper.name.clone(), Ready::default()));
        let ready = Arc::new(ready.collect::<HashMap<String, Ready>>());
        let pool = Arc::new(followed.pool);
        let concatenations = Arc::new(followed.concatenations);
        let lambdas = Arc::new(followed.lambdas);
        let mut names = self.names.lock_write();
        for method in followed.methods {
            let key = format!("{}{}", method.name, method.descriptor);
            let classes: &mut HashSet<String> = names.entry(key).or_default();
            classes.insert(followed.name.clone());
            methods.push(Arc::new(Followed {
                class: followed.name.clone(),
                loaded: Arc::clone(&loaded),
                ready: Arc::clone(&ready),
                pool: Arc::clone(&pool),
                concatenations: Arc::clone(&concatenations),
                lambdas: Arc::clone(&lambdas),
                method,
            }));
        }
        Some(followed.bytes)
    }

    /// A class is linked and none of its code has run.
    pub(crate) fn prepared(&self, jni: &Jni<'_>, class: &Local<'_>) {
        let signature = self.jvmti.class_signature(class).unwrap_or_default();
        let name = internal_name(&signature);
        if !self.follows(name) {
            return;
        }
        // A class that could not be followed has no such method.
        let _ = jni.register_natives(class, &natives());
        if let Ok(class) = jni.global(class) {
            let mut classes = self.classes.lock_write();
            classes.insert(name.to_owned(), Arc::new(class));
        }
    }

    /// The JVM ends.
    pub(crate) fn finish(&self) {
        // The one who was too patient may come as the JVM ends. The second waits until everything is written:
        // the process ends when it returns.
        let mut writer = self.writer.lock_safe();
        if self.is_written.swap(true, Ordering::SeqCst) {
            return;
        }
        write_private(&self.path, &writer.take().to_string());
    }

    /// Does an operation in the JVM, with the exceptions that the JVM has for it.
    fn operate<'j>(
        &self,
        jni: &Jni<'j>,
        operation: Operation,
        operands: &[Passed<'_>],
    ) -> Result<Passed<'j>, Local<'j>> {
        match self.operators.get() {
            Some(operators) => operators.call(jni, operation, operands),
            // Nothing is interpreted before they are found.
            None => Err(machine::odd(jni)),
        }
    }
}

/// The native method of followed classes.
fn natives() -> [NativeMethod; 1] {
    [NativeMethod::new(
        ENTER,
        ENTER_DESCRIPTOR,
        enter as *mut c_void,
    )]
}

extern "system" fn enter(env: *mut JNIEnv, class: jclass, method: jint, given: jobject) -> jobject {
    // SAFETY: the JVM passes the environment of the current thread.
    let jni = unsafe { Jni::from_raw(env) };
    let before = SavedActivity::now();
    let run = || {
        let following = following()?;
        // SAFETY: the JVM passes a local reference.
        let class = unsafe { Local::from_raw(class) }?;
        // SAFETY: as above.
        let given = unsafe { Local::from_raw(given) }?;
        let method = Arc::clone(following.methods.lock_read().get(method as usize)?);
        if method.loaded.get().is_none() {
            let class = jni.global(&class).ok()?;
            if let Err(second) = method.loaded.set(class) {
                jni.delete_global(second);
            }
        }
        let entered = match following.passes_by(&method) {
            Some(plain) => following.pass_by(&jni, &method, plain, &given),
            None => following.enter(&jni, &method, &given),
        };
        match entered {
            Ok(result) => result.map(|result| result.raw()),
            Err(thrown) => {
                jni.throw(&thrown);
                None
            }
        }
    };
    // Nothing of ours may unwind into the JVM.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.unwrap_or(ptr::null_mut()),
        Err(panic) => {
            std::mem::forget(panic);
            before.restore();
            jni.throw_new(
                "java/lang/InternalError",
                "a fault of the agent that follows",
            );
            ptr::null_mut()
        }
    }
}
