//! The Java side of the worker: classes and methods that the executor calls, found once.

use culprit_jvmti::{Global, Jni, Local, Passed, StaticMethodId};
use culprit_model::value::Shape;
use culprit_model::{ObjectId, ThreadId};

use super::Halt;
use crate::agent::Trouble;
use crate::operators::Operators;

/// What the executor calls in the JVM besides the subject.
pub(crate) struct Java {
    answer: Global,
    object: StaticMethodId,
    adopt: StaticMethodId,
    begin: StaticMethodId,
    begin_thread: StaticMethodId,
    found: StaticMethodId,
    beside: Global,
    accessed: StaticMethodId,
    born: StaticMethodId,
    probe: Global,
    outside: StaticMethodId,
    reached: StaticMethodId,
    constants: Global,
    constant: StaticMethodId,
    loader: Global,
    make: StaticMethodId,
    plain: Global,
    plain_loader: StaticMethodId,
    plain_begin: StaticMethodId,
    stand_in: StaticMethodId,
    null_receiver: StaticMethodId,
    trace: StaticMethodId,
    worker: Global,
    start: StaticMethodId,
    rest: StaticMethodId,
    interrupt: StaticMethodId,
    class: Global,
    for_name: StaticMethodId,
    platform: Global,
    pub(super) operators: Operators,
    stop: Global,
    boxes: Vec<(u8, Global, StaticMethodId)>,
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing: it runs.
    None,
    /// Another thread, or that time passes.
    ForATime,
    /// Another thread.
    ForEver,
}

/// Something of the JDK or of the runtime threw that has no reason to.
fn threw(jni: &Jni<'_>, what: &str, thrown: &Local<'_>) -> Halt {
    Halt::Unsupported(format!("{what} threw {}", thrown_text(jni, thrown)))
}

/// An exception as its `toString` has it.
pub(super) fn thrown_text(jni: &Jni<'_>, thrown: &Local<'_>) -> String {
    let class = jni.object_class(thrown);
    let text = jni
        .method(&class, "toString", "()Ljava/lang/String;")
        .and_then(|method| jni.call_object(thrown, method, &[]));
    match text {
        Ok(Some(text)) => jni.string(&text),
        _ => super::worker()
            .and_then(|worker| worker.jvmti.class_signature(&class).ok())
            .unwrap_or_default(),
    }
}

impl Java {
    pub(crate) fn find(jni: &Jni<'_>) -> Result<Java, Trouble> {
        let runtime = |name: &str| jni.find_class(&format!("culprit/runtime/{name}"));
        let answer = runtime("Answer")?;
        let constants = runtime("Constants")?;
        let probe = runtime("Probe")?;
        let beside = runtime("Beside")?;
        let loader = runtime("Loader")?;
        let plain = runtime("Plain")?;
        let worker = runtime("Worker")?;
        let class = jni.find_class("java/lang/Class")?;
        let class_loader = jni.find_class("java/lang/ClassLoader")?;
        let platform = jni.static_method(
            &class_loader,
            "getPlatformClassLoader",
            "()Ljava/lang/ClassLoader;",
        )?;
        let platform = jni
            .call_static_object(&class_loader, platform)?
            .ok_or("there is no platform loader")?;
        let stop = jni.allocate(&runtime("Stop")?)?;
        let mut boxes = Vec::new();
        for shape in Shape::scalars() {
            let (letter, name) = (shape.code(), shape.box_name());
            let class = jni.find_class(name)?;
            let method = jni.static_method(&class, "valueOf", &format!("({letter})L{name};"))?;
            boxes.push((letter as u8, jni.global(&class)?, method));
        }
        Ok(Java {
            object: jni.static_method(&answer, "object", "(J)Ljava/lang/Object;")?,
            adopt: jni.static_method(&answer, "adopt", "(Ljava/lang/Object;)J")?,
            begin: jni.static_method(&answer, "begin", "()[Ljava/lang/String;")?,
            begin_thread: jni.static_method(&answer, "begin", "(I[J)V")?,
            found: jni.static_method(&answer, "found", "(Ljava/lang/Object;)V")?,
            accessed: jni.static_method(
                &beside,
                "accessed",
                "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/Object;Z)V",
            )?,
            beside: jni.global(&beside)?,
            born: jni.static_method(&answer, "born", "(IJ)Ljava/lang/Object;")?,
            answer: jni.global(&answer)?,
            constant: jni.static_method(
                &constants,
                "value",
                "(Ljava/lang/Class;Ljava/lang/String;)Ljava/lang/Object;",
            )?,
            constants: jni.global(&constants)?,
            outside: jni.static_method(&probe, "outside", "()J")?,
            reached: jni.static_method(&probe, "reached", "(Ljava/lang/Throwable;J)V")?,
            probe: jni.global(&probe)?,
            make: jni.static_method(&loader, "make", "(I)Lculprit/runtime/Loader;")?,
            loader: jni.global(&loader)?,
            plain_loader: jni.static_method(
                &plain,
                "loader",
                "(Ljava/lang/String;)Ljava/lang/ClassLoader;",
            )?,
            stand_in: jni.static_method(
                &plain,
                "standIn",
                "(Ljava/lang/Class;J)Ljava/lang/Object;",
            )?,
            plain_begin: jni.static_method(&plain, "begin", "()V")?,
            null_receiver: jni.static_method(
                &plain,
                "nullReceiver",
                "(Ljava/lang/String;)Ljava/lang/Throwable;",
            )?,
            trace: jni.static_method(
                &plain,
                "trace",
                "(Ljava/lang/Throwable;)Ljava/lang/String;",
            )?,
            plain: jni.global(&plain)?,
            start: jni.static_method(&worker, "start", "(ILjava/lang/String;)V")?,
            rest: jni.static_method(&worker, "rest", "(I)J")?,
            interrupt: jni.static_method(&worker, "interrupt", "()V")?,
            worker: jni.global(&worker)?,
            for_name: jni.static_method(
                &class,
                "forName",
                "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;",
            )?,
            class: jni.global(&class)?,
            platform: jni.global(&platform)?,
            operators: Operators::find(jni, &runtime("Operators")?)?,
            stop: jni.global(&stop)?,
            boxes,
        })
    }

    /// The object with an id of this JVM.
    pub(crate) fn object<'j>(&self, jni: &Jni<'j>, id: u64) -> Result<Option<Local<'j>>, Halt> {
        let class = self.answer.local(jni);
        jni.static_object(&class, self.object, &[Passed::Long(id as i64)])
            .map_err(|thrown| threw(jni, "Answer.object", &thrown))
    }

    /// The id of an object in this JVM, given now if it has none.
    pub(crate) fn adopt(&self, jni: &Jni<'_>, object: &Local<'_>) -> Result<u64, Halt> {
        let class = self.answer.local(jni);
        let object = Passed::Reference(Some(*object));
        let id = jni.call_static_long(&class, self.adopt, &[object]);
        id.map(|id| id as u64)
            .map_err(|thrown| threw(jni, "Answer.adopt", &thrown))
    }

    /// Takes the ids of all objects back; the names of the classes that were initialised meanwhile.
    pub(crate) fn begin<'j>(&self, jni: &Jni<'j>) -> Option<Local<'j>> {
        let class = self.answer.local(jni);
        jni.static_object(&class, self.begin, &[]).ok().flatten()
    }

    /// The steps of a thread begin on the current one; objects that it makes will be asked for by their
    /// numbers.
    pub(crate) fn begin_thread(
        &self,
        jni: &Jni<'_>,
        (thread, births): (ThreadId, Vec<u64>),
    ) -> Result<(), Halt> {
        jni.with_frame(|jni| -> Result<(), Halt> {
            let numbers = jni.new_array(births.len(), b'J')?;
            let bytes: Vec<u8> = births.iter().flat_map(|n| n.to_ne_bytes()).collect();
            jni.fill(&numbers, size_of::<u64>(), 0, &bytes)?;
            let class = self.answer.local(jni);
            let arguments = [
                Passed::Int(thread.0 as i32),
                Passed::Reference(Some(numbers)),
            ];
            jni.call_static_void(&class, self.begin_thread, &arguments)
                .map_err(|thrown| threw(jni, "Answer.begin", &thrown))
        })?
    }

    /// Records what external code finds in an observed field.
    pub(crate) fn found(&self, jni: &Jni<'_>, object: Option<&Local<'_>>) -> Result<(), Halt> {
        let class = self.answer.local(jni);
        let object = Passed::Reference(object.copied());
        jni.call_static_void(&class, self.found, &[object])
            .map_err(|thrown| threw(jni, "Answer.found", &thrown))
    }

    /// Tells an agent that records the replay of an access for external code.
    pub(crate) fn accessed(
        &self,
        jni: &Jni<'_>,
        owner: &Local<'_>,
        name: &str,
        receiver: Option<&Local<'_>>,
        written: bool,
    ) -> Result<(), Halt> {
        let arguments = [
            Passed::Reference(Some(*owner)),
            Passed::Reference(Some(jni.new_string(name)?)),
            Passed::Reference(receiver.copied()),
            Passed::Boolean(written),
        ];
        let class = self.beside.local(jni);
        jni.call_static_void(&class, self.accessed, &arguments)
            .map_err(|thrown| threw(jni, "Beside.accessed", &thrown))
    }

    /// The object that a thread of the scenario made as that of a number.
    pub(crate) fn born<'j>(
        &self,
        jni: &Jni<'j>,
        thread: ThreadId,
        number: u64,
    ) -> Result<Option<Local<'j>>, Halt> {
        let class = self.answer.local(jni);
        let arguments = [Passed::Int(thread.0 as i32), Passed::Long(number as i64)];
        jni.static_object(&class, self.born, &arguments)
            .map_err(|thrown| threw(jni, "Answer.born", &thrown))
    }

    /// The token of the current thread, for [`Java::reached`].
    pub(crate) fn outside(&self, jni: &Jni<'_>) -> Result<i64, Halt> {
        jni.call_static_long(&self.probe.local(jni), self.outside, &[])
            .map_err(|thrown| threw(jni, "Probe.outside", &thrown))
    }

    /// An exception has come out of a constructor, which may not have seen it.
    pub(crate) fn reached(
        &self,
        jni: &Jni<'_>,
        thrown: &Local<'_>,
        outside: i64,
    ) -> Result<(), Halt> {
        let arguments = [Passed::Reference(Some(*thrown)), Passed::Long(outside)];
        let class = self.probe.local(jni);
        jni.call_static_void(&class, self.reached, &arguments)
            .map_err(|thrown| threw(jni, "Probe.reached", &thrown))
    }

    /// What a static field of the JDK holds.
    pub(crate) fn constant<'j>(
        &self,
        jni: &Jni<'j>,
        owner: &Local<'_>,
        name: &str,
    ) -> Result<Option<Local<'j>>, Halt> {
        let name = jni.new_string(name)?;
        let class = self.constants.local(jni);
        let arguments = [
            Passed::Reference(Some(*owner)),
            Passed::Reference(Some(name)),
        ];
        jni.static_object(&class, self.constant, &arguments)
            .map_err(|thrown| threw(jni, "Constants.value", &thrown))
    }

    /// Tells the runtime whether threads have to wait for each other.
    pub(crate) fn set_several_threads(&self, jni: &Jni<'_>, several: bool) {
        let class = self.answer.local(jni);
        let _ = jni.set_static_field(&class, "severalThreads", "Z", &Passed::Boolean(several));
    }

    pub(crate) fn make_loader<'j>(&self, jni: &Jni<'j>, number: u32) -> Result<Local<'j>, Halt> {
        let class = self.loader.local(jni);
        let made = jni.static_object(&class, self.make, &[Passed::Int(number as i32)]);
        let made = made.map_err(|thrown| threw(jni, "making a class loader", &thrown))?;
        made.ok_or_else(|| Halt::Unsupported("no class loader was made".to_owned()))
    }

    /// A loader of a program that runs as it is.
    pub(crate) fn plain_loader<'j>(&self, jni: &Jni<'j>, path: &str) -> Result<Local<'j>, Halt> {
        let class = self.plain.local(jni);
        let path = Passed::Reference(Some(jni.new_string(path)?));
        let made = jni.static_object(&class, self.plain_loader, &[path]);
        let made = made.map_err(|thrown| threw(jni, "making a class loader", &thrown))?;
        made.ok_or_else(|| Halt::Unsupported("no class loader was made".to_owned()))
    }

    /// Undoes what an earlier run did to the JVM as a whole.
    pub(crate) fn begin_plain(&self, jni: &Jni<'_>) -> Result<(), Halt> {
        jni.call_static_void(&self.plain.local(jni), self.plain_begin, &[])
            .map_err(|thrown| threw(jni, "Plain.begin", &thrown))
    }

    /// The exception of a call on null. The method is written as the JVM does.
    pub(crate) fn null_receiver<'j>(&self, jni: &Jni<'j>, method: &str) -> Result<Local<'j>, Halt> {
        let method = Passed::Reference(Some(jni.new_string(method)?));
        let made = jni.static_object(&self.plain.local(jni), self.null_receiver, &[method]);
        let made = made.map_err(|thrown| threw(jni, "Plain.nullReceiver", &thrown))?;
        made.ok_or_else(|| Halt::Unsupported("no exception was made".to_owned()))
    }

    /// An object that answers for one of the scenario where an interface is wanted.
    pub(crate) fn stand_in<'j>(
        &self,
        jni: &Jni<'j>,
        interface: &Local<'_>,
        id: ObjectId,
    ) -> Result<Option<Local<'j>>, Halt> {
        let arguments = [
            Passed::Reference(Some(*interface)),
            Passed::Long(id.0 as i64),
        ];
        jni.static_object(&self.plain.local(jni), self.stand_in, &arguments)
            .map_err(|thrown| threw(jni, "Plain.standIn", &thrown))
    }

    /// What is printed of an exception.
    pub(crate) fn trace(&self, jni: &Jni<'_>, thrown: &Local<'_>) -> Result<String, Halt> {
        let class = self.plain.local(jni);
        let thrown = Passed::Reference(Some(*thrown));
        let trace = jni.static_object(&class, self.trace, &[thrown]);
        let trace = trace.map_err(|thrown| threw(jni, "Plain.trace", &thrown))?;
        Ok(trace.map_or_else(String::new, |trace| jni.string(&trace)))
    }

    /// Starts a thread that does the steps of one of the scenario.
    pub(crate) fn start_thread(
        &self,
        jni: &Jni<'_>,
        thread: ThreadId,
        name: &str,
    ) -> Result<(), Halt> {
        let name = Passed::Reference(Some(jni.new_string(name)?));
        let class = self.worker.local(jni);
        let arguments = [Passed::Int(thread.0 as i32), name];
        jni.call_static_void(&class, self.start, &arguments)
            .map_err(|thrown| threw(jni, "starting a thread", &thrown))
    }

    /// What a thread of the scenario waits for. Waiting for its turn does not count.
    pub(crate) fn rest(&self, jni: &Jni<'_>, thread: ThreadId) -> Result<Rest, Halt> {
        let class = self.worker.local(jni);
        let rest = jni.call_static_long(&class, self.rest, &[Passed::Int(thread.0 as i32)]);
        match rest.map_err(|thrown| threw(jni, "Worker.rest", &thrown))? {
            0 => Ok(Rest::None),
            1 => Ok(Rest::ForATime),
            _ => Ok(Rest::ForEver),
        }
    }

    /// Interrupts the threads of the scenario that still run.
    pub(crate) fn interrupt_threads(&self, jni: &Jni<'_>) {
        let _ = jni.call_static_void(&self.worker.local(jni), self.interrupt, &[]);
    }

    /// A class by its internal name, not initialised. Without a loader it is one of the JDK.
    pub(crate) fn class<'j>(
        &self,
        jni: &Jni<'j>,
        name: &str,
        loader: Option<&Local<'_>>,
    ) -> Result<Option<Local<'j>>, Halt> {
        let text = jni.new_string(&name.replace('/', "."))?;
        let platform = self.platform.local(jni);
        let loader = loader.unwrap_or(&platform);
        let arguments = [
            Passed::Reference(Some(text)),
            Passed::Boolean(false),
            Passed::Reference(Some(*loader)),
        ];
        let class = self.class.local(jni);
        let found = jni.static_object(&class, self.for_name, &arguments);
        found.map_err(|thrown| {
            let why = thrown_text(jni, &thrown);
            Halt::Unsupported(format!(
                "{} cannot be loaded: {why}",
                name.replace('/', ".")
            ))
        })
    }

    /// The class of a primitive type, by its letter.
    pub(crate) fn primitive<'j>(&self, jni: &Jni<'j>, letter: u8) -> Option<Local<'j>> {
        let class = match letter {
            b'V' => jni.find_class("java/lang/Void").ok()?,
            _ => {
                let (_, class, _) = self.boxes.iter().find(|(l, ..)| *l == letter)?;
                jni.reuse(class)
            }
        };
        match jni.get_static_field(&class, "TYPE", "Ljava/lang/Class;") {
            Ok(Passed::Reference(class)) => class,
            _ => None,
        }
    }

    pub(crate) fn boxed<'j>(
        &self,
        jni: &Jni<'j>,
        letter: u8,
        value: Passed<'_>,
    ) -> Result<Option<Local<'j>>, Halt> {
        let boxes = self.boxes.iter().find(|(l, ..)| *l == letter);
        let (_, class, method) =
            boxes.ok_or_else(|| Halt::Unsupported("no such boxed type".to_owned()))?;
        let class = class.local(jni);
        jni.static_object(&class, *method, &[value])
            .map_err(|thrown| threw(jni, "valueOf", &thrown))
    }

    /// Lets go of the lock of an object for a moment.
    pub(crate) fn wait_on(&self, jni: &Jni<'_>, object: &Local<'_>) -> Result<(), Halt> {
        const MOMENT: i64 = 1;
        jni.with_frame(|jni| -> Result<(), Halt> {
            let class = jni.find_class("java/lang/Object")?;
            let wait = jni.method(&class, "wait", "(J)V")?;
            // An interrupt, or a lock that is not held, is what the scenario says it is.
            let _ = jni.call_exactly(object, &class, wait, &[Passed::Long(MOMENT)], b'V');
            Ok(())
        })?
    }

    /// What ends observed code that still runs when the run is over.
    pub(crate) fn stop<'j>(&self, jni: &Jni<'j>) -> Local<'j> {
        let _ = jni.with_frame(|jni| {
            let beside = jni.find_class("culprit/runtime/Beside")?;
            let over = jni.static_method(&beside, "over", "()Ljava/lang/Object;")?;
            jni.call_static_object(&beside, over).map(|_| ())
        });
        jni.reuse(&self.stop)
    }

    /// The descriptor of a constructor of a JDK class that a stub can call: one that takes as little
    /// as possible.
    pub(crate) fn constructor(&self, jni: &Jni<'_>, name: &str) -> Option<String> {
        let plain = "()V";
        jni.with_frame(|jni| {
            let class = self.class(jni, name, None).ok()??;
            let offers = |descriptor: &str| jni.method(&class, "<init>", descriptor).is_ok();
            let candidates = [
                plain,
                "(Ljava/lang/String;)V",
                "(I)V",
                "(Ljava/io/InputStream;)V",
                "(Ljava/io/OutputStream;)V",
                "(Ljava/io/Reader;)V",
                "(Ljava/io/Writer;)V",
                "(Ljava/lang/ClassLoader;)V",
                "(Ljava/lang/String;I)V",
            ];
            let found = candidates.into_iter().find(|d| offers(d));
            found.map(str::to_owned)
        })
        .ok()
        .flatten()
    }
}
