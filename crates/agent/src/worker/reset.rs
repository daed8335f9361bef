//! Between two scenarios: everything in the JVM that the one before may have changed becomes what
//! it was at the start. Ids are taken back, static fields cleared, classes initialised again when they
//! are next used, or loaded anew where that is not sound.

use culprit_jvmti::{Jni, Local, Passed};
use culprit_weave::statics::READY;
use culprit_wire::FreshState;

use super::Worker;
use super::cache::Statics;
use crate::agent::Agent;
use crate::lock::LockSafe;

/// What a class remembers of the constants of an enum.
fn forget_constants(jni: &Jni<'_>, class: &Local<'_>) {
    let metaclass = jni.object_class(class);
    for (field, descriptor) in [
        ("enumConstants", "[Ljava/lang/Object;"),
        ("enumConstantDirectory", "Ljava/util/Map;"),
    ] {
        let nothing = Passed::Reference(None);
        let _ = jni.set_field(class, &metaclass, field, descriptor, &nothing);
    }
}

impl Worker {
    /// Whether an observed class is initialised again for each scenario.
    pub(crate) fn is_reset(&self, class: &str) -> bool {
        self.subject.is_reset(class)
    }

    /// Makes the JVM what it was before the last scenario.
    pub(super) fn refresh(&self, agent: &Agent, jni: &Jni<'_>, fresh: FreshState) {
        let _ = jni.with_frame_of(64, |jni| {
            self.forget_thread_locals(jni);
            let Ok(java) = self.java() else { return };
            let initialised = java.begin(jni);
            agent.recorder.states.restart_ids();
            let spoilt = self.run.lock_safe().take_spoilt();
            if fresh == FreshState::NewLoader || self.subject.must_load() || spoilt {
                self.subject.forget_loaders(jni);
                self.cache.forget_classes();
                return;
            }
            let Some(initialised) = initialised else {
                return;
            };
            for i in 0..jni.array_length(&initialised) {
                let _ = jni.with_frame(|jni| {
                    let name = jni.array_element(&initialised, i).ok()??;
                    self.clear(jni, &jni.string(&name))
                });
            }
        });
    }

    /// Sets the static fields of a class back.
    fn clear(&self, jni: &Jni<'_>, name: &str) -> Option<()> {
        let statics = match self.cache.statics(name) {
            Some(statics) => statics,
            None => {
                let class = self.class_named(jni, name, 0).ok()?;
                let variables = self.subject.variables(name);
                let flag = (READY.to_owned(), "Z".to_owned());
                let all = variables.iter().chain([&flag]);
                let fields = all.filter_map(|(n, d)| jni.static_field(&class, n, d).ok());
                let fields = fields.collect();
                let class = jni.global(&class).ok()?;
                self.cache.keep_statics(name, Statics { class, fields })
            }
        };
        let class = statics.class.local(jni);
        for field in &statics.fields {
            jni.clear_static_field(&class, field);
        }
        forget_constants(jni, &class);
        Some(())
    }

    /// What observed code left in its thread.
    fn forget_thread_locals(&self, jni: &Jni<'_>) {
        const MAP: &str = "Ljava/lang/ThreadLocal$ThreadLocalMap;";
        let cleared = || -> culprit_jvmti::Result<()> {
            let class = jni.find_class("java/lang/Thread")?;
            let current = jni.static_method(&class, "currentThread", "()Ljava/lang/Thread;")?;
            if let Some(thread) = jni.call_static_object(&class, current)? {
                for field in ["threadLocals", "inheritableThreadLocals"] {
                    jni.set_field(&thread, &class, field, MAP, &Passed::Reference(None))?;
                }
            }
            Ok(())
        };
        let _ = cleared();
    }
}
