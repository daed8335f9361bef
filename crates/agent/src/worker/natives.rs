//! The native methods of `Executor.java`. Each catches a panic at its border, which ends the worker.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use culprit_jvmti::sys::jni::{jboolean, jclass, jint, jlong, jobject, jobjectArray, jstring};
use culprit_jvmti::{Jni, Local, NativeMethod};
use culprit_model::{ObjectId, ThreadId};

use super::perform::Answered;
use super::stand_in::AskedQuestion;
use super::{Halt, Worker, coverage, worker};
use crate::agent::Agent;
use crate::natives::{self, Env, local};

thread_local! {
    /// Which steps of a scenario this thread runs; threads without any are not recorded.
    static STEPS: Cell<Steps> = const { Cell::new(Steps::None) };
    /// The address of the state of this thread, once it has one.
    static STATE: Cell<i64> = const { Cell::new(0) };
}

/// The steps that a thread runs.
#[derive(Clone, Copy)]
enum Steps {
    None,
    All,
    Of(ThreadId),
}

pub(crate) fn table() -> Vec<NativeMethod> {
    let method = NativeMethod::new;
    vec![
        method("counts", "()J", counts as *mut c_void),
        method("work", "()V", work as *mut c_void),
        method("drive", "(I)V", drive as *mut c_void),
        method(
            "answer",
            "(JLjava/lang/Object;)Ljava/lang/Object;",
            answer as *mut c_void,
        ),
        method("read", "(JI)Ljava/lang/Object;", read as *mut c_void),
        method("hash", "(J)I", hash as *mut c_void),
        method("state", "(JLjava/lang/Object;)V", state as *mut c_void),
        method("apart", "(JI)Z", apart as *mut c_void),
        method("element", "(JLjava/lang/Object;I)V", element as *mut c_void),
        method("awaitLock", "()V", await_lock as *mut c_void),
        method("published", "(J)V", published as *mut c_void),
        method(
            "constants",
            "(Ljava/lang/Class;)[Ljava/lang/Object;",
            constants as *mut c_void,
        ),
        method(
            "standIn",
            "(JLjava/lang/String;Ljava/lang/String;[Ljava/lang/Object;)Ljava/lang/Object;",
            stand_in as *mut c_void,
        ),
        method(
            "define",
            "(Lculprit/runtime/Loader;ILjava/lang/String;Z)Ljava/lang/Class;",
            define as *mut c_void,
        ),
    ]
}

/// The native method of `Caller.java`.
pub(super) fn caller() -> [NativeMethod; 1] {
    [NativeMethod::new("run", "()V", run_script as *mut c_void)]
}

/// Whether the current thread runs steps of a scenario.
pub(crate) fn runs_steps() -> bool {
    !matches!(STEPS.get(), Steps::None)
}

/// From now on the current thread runs the steps of one thread, or all.
pub(super) fn run_steps_of(thread: Option<ThreadId>) {
    STEPS.set(thread.map_or(Steps::All, Steps::Of));
}

/// The thread whose steps the current one runs, if not all.
pub(super) fn own_thread() -> Option<ThreadId> {
    match STEPS.get() {
        Steps::Of(thread) => Some(thread),
        Steps::None | Steps::All => None,
    }
}

/// The address of the state of the current thread, which it has by now.
pub(super) fn current_state() -> i64 {
    STATE.get()
}

/// Notes the address of the state of the current thread.
pub(crate) fn remember_state(address: i64) {
    STATE.set(address);
}

/// Runs a native method's body with the worker, the agent and the environment.
fn with<R>(
    env: Env,
    otherwise: R,
    body: impl FnOnce(&'static Worker, &'static Agent, &Jni<'_>) -> R,
) -> R {
    let Some(worker) = worker() else {
        return otherwise;
    };
    natives::with(env, otherwise, |agent, jni| body(worker, agent, jni))
}

extern "system" fn counts(env: Env, _: jclass) -> jlong {
    with(env, 0, |_, agent, _| coverage::address(agent))
}

extern "system" fn work(env: Env, _: jclass) {
    with(env, (), |worker, agent, jni| worker.work(agent, jni));
}

extern "system" fn run_script(env: Env, _: jclass) {
    with(env, (), |worker, _, jni| worker.run_script(jni));
}

extern "system" fn drive(env: Env, _: jclass, thread: jint) {
    run_steps_of(Some(ThreadId(thread as u32)));
    with(env, (), |worker, agent, jni| {
        worker.drive_to_end(agent, jni);
        worker.thread_ends();
    });
}

extern "system" fn await_lock(env: Env, _: jclass) {
    with(env, (), |worker, agent, jni| {
        let answered = worker.await_lock(jni).map(|()| Answered::Nothing);
        give(worker, agent, jni, 0, answered);
    });
}

extern "system" fn published(env: Env, _: jclass, state: jlong) {
    remember_state(state);
    with(env, (), |worker, agent, _| worker.published(agent));
}

extern "system" fn answer(env: Env, _: jclass, state: jlong, constructed: jobject) -> jobject {
    remember_state(state);
    with(env, ptr::null_mut(), |worker, agent, jni| {
        let constructed = local(constructed);
        let answered = worker.answer(agent, jni, constructed.as_ref());
        give(worker, agent, jni, state, answered)
    })
}

extern "system" fn read(env: Env, _: jclass, state: jlong, _: jint) -> jobject {
    remember_state(state);
    with(env, ptr::null_mut(), |worker, agent, jni| {
        let answered = worker.field(agent, jni);
        give(worker, agent, jni, state, answered)
    })
}

extern "system" fn hash(env: Env, _: jclass, state: jlong) -> jint {
    remember_state(state);
    with(env, 0, |worker, agent, jni| {
        worker.hash(agent, jni).unwrap_or_else(|halt| {
            worker.halt(halt);
            0
        })
    })
}

extern "system" fn state(env: Env, _: jclass, state: jlong, object: jobject) {
    remember_state(state);
    with(env, (), |worker, agent, jni| {
        let filled = local(object).map(|object| worker.fill_state(agent, jni, &object));
        if let Some(Err(halt)) = filled {
            worker.halt(halt);
        }
    });
}

extern "system" fn apart(env: Env, _: jclass, state: jlong, before: jint) -> jboolean {
    remember_state(state);
    with(env, 0, |worker, agent, jni| {
        let apart = worker.apart(agent, jni, before).unwrap_or_else(|halt| {
            worker.halt(halt);
            false
        });
        jboolean::from(apart)
    })
}

extern "system" fn element(env: Env, _: jclass, state: jlong, array: jobject, index: jint) {
    remember_state(state);
    with(env, (), |worker, agent, jni| {
        let set = local(array).map(|array| worker.set_element(agent, jni, &array, index));
        if let Some(Err(halt)) = set {
            worker.halt(halt);
        }
    });
}

/// Hands an answer to the runtime: a scalar in the state of the thread, which no other answer needs.
fn give(
    worker: &Worker,
    agent: &Agent,
    jni: &Jni<'_>,
    state: i64,
    answered: Result<Answered<'_>, Halt>,
) -> jobject {
    match answered {
        Ok(Answered::Nothing) => ptr::null_mut(),
        Ok(Answered::Scalar(bits)) => {
            agent.recorder.states.answer(state, bits);
            ptr::null_mut()
        }
        Ok(Answered::Reference(object)) => object.map_or(ptr::null_mut(), |o| o.raw()),
        Ok(Answered::Thrown(exception)) => {
            jni.throw(&exception);
            ptr::null_mut()
        }
        Err(halt) => {
            worker.halt(halt);
            if let Ok(java) = worker.java() {
                jni.throw(&java.stop(jni));
            }
            ptr::null_mut()
        }
    }
}

extern "system" fn constants(env: Env, _: jclass, class: jclass) -> jobject {
    with(env, ptr::null_mut(), |worker, _, jni| {
        let made = local(class).map(|class| worker.constants(jni, &class));
        match made {
            Some(Ok(array)) => array.raw(),
            Some(Err(halt)) => {
                worker.halt(halt);
                ptr::null_mut()
            }
            None => ptr::null_mut(),
        }
    })
}

extern "system" fn stand_in(
    env: Env,
    _: jclass,
    id: jlong,
    name: jstring,
    descriptor: jstring,
    arguments: jobjectArray,
) -> jobject {
    with(env, ptr::null_mut(), |worker, agent, jni| {
        let (Some(name), Some(descriptor)) = (local(name), local(descriptor)) else {
            return ptr::null_mut();
        };
        let question = AskedQuestion {
            object: ObjectId(id as u64),
            name: jni.string(&name),
            descriptor: jni.string(&descriptor),
            arguments: local(arguments),
        };
        let answered = worker.answer_plainly(jni, &question);
        let answered = answered.map(|answer| match answer {
            Ok(answer) => Answered::Reference(answer),
            Err(thrown) => Answered::Thrown(thrown),
        });
        give(worker, agent, jni, 0, answered)
    })
}

extern "system" fn define(
    env: Env,
    _: jclass,
    loader: jobject,
    number: jint,
    name: jstring,
    over_jdk: jboolean,
) -> jclass {
    with(env, ptr::null_mut(), |worker, _, jni| {
        let (Some(loader), Some(name)) = (local(loader), local(name)) else {
            return ptr::null_mut();
        };
        let name = jni.string(&name);
        if over_jdk != 0 && !worker.subject.is_over_jdk(&name) {
            return ptr::null_mut();
        }
        match worker.define(jni, &loader, number as u32, &name) {
            Ok(class) => class.map_or(ptr::null_mut(), |class| class.raw()),
            Err(why) => {
                jni.throw_new("java/lang/LinkageError", &format!("{name}: {why}"));
                ptr::null_mut()
            }
        }
    })
}

impl Worker {
    /// Defines a class that a loader is asked for, or has another loader do so.
    fn define<'j>(
        &self,
        jni: &Jni<'j>,
        loader: &Local<'_>,
        number: u32,
        name: &str,
    ) -> Result<Option<Local<'j>>, String> {
        let why = |halt| match halt {
            Halt::Unsupported(why) => why,
            Halt::Ended => "the run is over".to_owned(),
        };
        let java = self.java().map_err(why)?;
        let Some(owner) = self.subject.loader_of(number, name) else {
            return Ok(None);
        };
        if owner != number {
            let other = self.subject.loader(jni, java, owner).map_err(why)?;
            return java.class(jni, name, Some(&other)).map_err(why);
        }
        let bytes = self.subject.bytes(jni, java, number, name);
        let bytes = bytes.map_err(|error| error.to_string())?;
        Ok(jni.define_or_throw(name, loader, &bytes))
    }
}
