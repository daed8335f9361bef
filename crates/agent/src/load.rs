//! The class-load hook: decides what a class is and weaves it. A class that cannot be woven runs
//! as it is, and the recording names it.

use std::cell::RefCell;

use culprit_classfile::{ClassFile, named_classes};
use culprit_jvmti::{Jni, Jvmti, Local};
use culprit_model::observe::{is_jdk_name, is_own_name, is_tool_name};
use culprit_weave::ahead;
use culprit_weave::probe::PROBE;
use culprit_weave::{Purpose, References, Settings, World, Woven, can_carry_id, hook};

use crate::agent::{Agent, Trouble};
use crate::classes::{ClassDecision, Loader, internal_name};
use crate::recorder::{Message, OwnedClass};
use crate::roots::{Origin, is_file, is_lasting};
use crate::tracing::tracing;
use crate::worker::worker;

/// A class of the runtime, to know its module by.
const NATIVE: &str = "culprit/runtime/Native";

/// A class on its way into the JVM.
pub(crate) struct Loading<'a> {
    pub(crate) name: &'a str,
    pub(crate) loader: Option<Local<'a>>,
    pub(crate) protection_domain: Option<Local<'a>>,
    pub(crate) bytes: &'a [u8],
    /// The class exists already and is being transformed or redefined.
    pub(crate) again: bool,
}

thread_local! {
    /// Classes whose superclass this thread is asking for: a class file can name itself as its
    /// ancestor, and must get its error from the JVM.
    static ASKING: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

impl Agent {
    /// The new bytes of a class, or `None` to leave it as it is.
    pub(crate) fn load(&self, jni: &Jni<'_>, loading: &Loading<'_>) -> Option<Vec<u8>> {
        if is_own_name(loading.name) {
            return None;
        }
        if let Some(opened) = worker().and_then(|worker| worker.opened(loading.name, loading.bytes))
        {
            return Some(opened);
        }
        if let Some(woven) = tracing().and_then(|tracing| tracing.load(loading)) {
            return Some(woven);
        }
        let loaded = self.load_as_usual(jni, loading)?;
        let renamed = self.names.write(loaded);
        renamed
            .inspect_err(|error| {
                let name = loading.name.replace('/', ".");
                self.recorder.not_woven(name, error.to_string());
            })
            .ok()
    }

    fn load_as_usual(&self, jni: &Jni<'_>, loading: &Loading<'_>) -> Option<Vec<u8>> {
        let is_hooked = hook::is_hooked(loading.name, self.purpose);
        if is_hooked && is_jdk_name(loading.name) {
            return self.hook(loading);
        }
        let loader = self
            .classes
            .loader(self.jvmti, jni, &self.recorder, loading.loader.as_ref());
        if is_hooked {
            let reaches = self.reaches_runtime(jni, loading, loader);
            return reaches.then(|| self.hook(loading)).flatten();
        }
        // What else is loaded into a worker belongs to other agents in it.
        if loader.is_jdk || self.purpose == Purpose::Replay && !loader.is_worker {
            return None;
        }
        // But a class that was woven ahead of time needs its sites.
        let is_prepared = || ClassFile::parse(loading.bytes).is_ok_and(|c| ahead::is_prepared(&c));
        if !self.weaves && !is_prepared() {
            self.note_plain(jni, loading, loader);
            return None;
        }
        if self.classes.is_of_java_agent(|| code_source(jni, loading)) {
            return None;
        }
        if !self.reaches_runtime(jni, loading, loader) {
            if let (false, Ok(class)) = (loading.again, ClassFile::parse(loading.bytes)) {
                self.note_outline(loader, &class, ClassDecision::default());
            }
            return None;
        }
        // Probes that are not ours cannot be called.
        let foreign = ahead::foreign(loading.bytes);
        if foreign.is_some() {
            self.recorder
                .lost("classes instrumented by another version, woven anew");
        }
        let loading = &Loading {
            bytes: foreign.as_deref().unwrap_or(loading.bytes),
            ..*loading
        };
        let woven = if self.recorder.is_stopped() {
            self.keep_shape(loading, loader)
                .map(|kept| kept.or(foreign.clone()))
        } else {
            self.weave(jni, loading, loader)
        };
        match woven {
            Ok(woven) => woven,
            Err(error) => {
                self.recorder
                    .not_woven(loading.name.replace('/', "."), error.to_string());
                if !loading.again {
                    self.classes
                        .remember(loader.number, loading.name, ClassDecision::default());
                }
                foreign
            }
        }
    }

    /// Notes a class that is not woven: whether it is the program's own, which may be loaded from other places than the
    /// class path (a server unpacks a war file). Keeps the code of a class that no class path has, or that cannot be read
    /// again once the program has ended, such as one that was compiled in memory: whoever runs the program's code again
    /// needs it.
    fn note_plain(&self, jni: &Jni<'_>, loading: &Loading<'_>, loader: Loader) {
        let Loading {
            name, bytes, again, ..
        } = *loading;
        if again || is_jdk_name(name) || is_tool_name(name) {
            return;
        }
        let origin = code_source(jni, loading);
        let own = || Origin {
            url: origin.clone(),
            source: ClassFile::parse(bytes)
                .ok()
                .and_then(|class| class.source_file()),
        };
        if self.classes.selects(name, own) {
            self.classes.add_observed(name);
        }
        // A loader of the program may have several classes of one name, and files that change.
        let is_elsewhere = !loader.is_of_class_path && is_file(origin.as_deref());
        let is_of_agent = || self.classes.is_of_java_agent(|| origin.clone());
        let is_kept = !is_lasting(origin.as_deref()) || is_elsewhere && !is_of_agent();
        if is_kept && self.classes.may_keep(bytes.len()) {
            self.recorder.send(Message::Class(OwnedClass {
                name: name.to_owned(),
                loader: loader.number,
                origin,
                observed: false,
                ahead: false,
                outline: false,
                bytes: bytes.to_vec(),
            }));
        }
    }

    /// Whether classes of a loader can call the runtime. Loaders of plugin systems may hide every
    /// package they do not know; their classes run as they are.
    fn reaches_runtime(&self, jni: &Jni<'_>, loading: &Loading<'_>, loader: Loader) -> bool {
        let Some(object) = &loading.loader else {
            return true;
        };
        if let Some(reaches) = self.classes.reaches_runtime(loader.number) {
            return reaches;
        }
        let ask = |jni: &Jni<'_>| ask_for_class(jni, object, &self.names.class(PROBE)).is_some();
        let reaches = jni.with_frame(ask).unwrap_or(false);
        self.classes.set_reaches_runtime(loader.number, reaches);
        if !reaches {
            let first = loading.name.replace('/', ".");
            let why =
                "its class loader does not find culprit.runtime, so none of its classes is woven";
            self.recorder.not_woven(first, why.to_owned());
        }
        reaches
    }

    /// Capture has ended; a class must keep the members that were added to it, or it could not be
    /// transformed again by others.
    fn keep_shape(
        &self,
        loading: &Loading<'_>,
        loader: Loader,
    ) -> Result<Option<Vec<u8>>, culprit_weave::Error> {
        let facts = self.classes.facts(loader.number, loading.name);
        let owns_id = facts.is_some_and(|facts| facts.owns_id);
        let references = self.classes.references(loader.number, loading.name);
        if !loading.again || !owns_id && references.is_empty() {
            return Ok(None);
        }
        let class = ClassFile::parse(loading.bytes)?;
        culprit_weave::add_members(class, owns_id, &references).map(Some)
    }

    fn hook(&self, loading: &Loading<'_>) -> Option<Vec<u8>> {
        let hooked = ClassFile::parse(loading.bytes)
            .map_err(Into::into)
            .and_then(|class| hook::hook(class, self.purpose));
        match hooked {
            Ok(bytes) => bytes,
            Err(error) => {
                self.recorder
                    .not_woven(loading.name.replace('/', "."), error.to_string());
                None
            }
        }
    }

    fn weave(
        &self,
        jni: &Jni<'_>,
        loading: &Loading<'_>,
        loader: Loader,
    ) -> Result<Option<Vec<u8>>, culprit_weave::Error> {
        let class = ClassFile::parse(loading.bytes)?;
        let settled = ahead::settle(&class, &self.numbers).inspect_err(|error| {
            // Its probes would name sites that do not exist.
            self.recorder.stop(format!("{}: {error}", loading.name));
        })?;
        if let Some(settled) = settled {
            return self.adopt(jni, loading, loader, settled).map(Some);
        }
        self.classes.outline(loader.number, &class)?;
        let mut inherits = false;
        let mut inherits_id = false;
        let mut kin = false;
        let super_name = class.super_name()?.map(|name| name.into_owned());
        if let Some(name) = super_name.as_deref().filter(|name| !is_jdk_name(name)) {
            let facts = self.facts_of_supertype(jni, loading, name);
            inherits = true;
            inherits_id = facts.has_id;
            kin |= facts.observed;
        }
        for name in class.interface_names()? {
            if !is_jdk_name(&name) {
                inherits = true;
                kin |= self.facts_of_supertype(jni, loading, &name).observed;
            }
        }
        let origin = || Origin {
            url: code_source(jni, loading),
            source: class.source_file(),
        };
        let stub = worker().is_some_and(|worker| worker.is_stub(loading.name));
        let observed = !stub
            && (kin || self.classes.selects(loading.name, origin))
            && !self.classes.selection.excludes(loading.name);
        if observed && inherits && !loading.again {
            self.heirs.add(loading.name);
        }
        // A class that exists already keeps its shape.
        let id_field = match self.classes.facts(loader.number, loading.name) {
            Some(facts) if loading.again => facts.owns_id,
            None if loading.again => false,
            _ => can_carry_id(&class) && !inherits_id,
        };
        let kept = self.classes.references(loader.number, loading.name);
        let strangers = match worker() {
            Some(worker) => worker.strangers(&class, loading.bytes)?,
            None => Vec::new(),
        };
        let settings = Settings {
            lines: self.lines.as_ref(),
            strangers: &strangers,
            purpose: self.purpose,
            arrays: self.arrays,
            id_field,
            kin: !observed && (kin || self.classes.is_kin(loading.name)),
            references: if loading.again {
                References::Kept(&kept)
            } else {
                References::Chosen
            },
        };
        let facts = ClassDecision {
            observed,
            owns_id: id_field,
            has_id: id_field || inherits_id,
        };
        if !loading.again {
            self.note_outline(loader, &class, facts);
        }
        let Woven {
            bytes,
            sites,
            references,
            skipped,
        } = if observed {
            let world = self.classes.as_when_woven(loading.name);
            culprit_weave::observed(class, &world, settings, &self.numbers)?
        } else {
            culprit_weave::outside(class, &self.classes, settings, &self.numbers)?
        };
        for (method, why) in skipped {
            self.recorder.not_woven(method.replace('/', "."), why);
        }
        self.classes.remember(loader.number, loading.name, facts);
        if !loading.again {
            self.classes
                .remember_references(loader.number, loading.name, references);
        }
        if !sites.is_empty() {
            self.recorder.send(Message::Sites(sites));
        }
        if observed && !loading.again {
            self.recorder.send(Message::Class(OwnedClass {
                name: loading.name.to_owned(),
                loader: loader.number,
                origin: code_source(jni, loading),
                observed: true,
                ahead: false,
                outline: false,
                bytes: loading.bytes.to_vec(),
            }));
        }
        Ok(Some(bytes))
    }

    /// Sees to the outlines that a replay needs: of an external class its own, of an observed one
    /// those of the classes it names.
    pub(crate) fn note_outline(&self, loader: Loader, class: &ClassFile, facts: ClassDecision) {
        if self.recorder.is_stopped() {
            return;
        }
        let outlines = &self.classes.outlines;
        let noted = if facts.observed {
            named_classes(class).map(|names| outlines.named(&self.recorder, names))
        } else {
            outlines.loaded(&self.recorder, loader.number, class)
        };
        if noted.is_err() {
            self.recorder
                .lost("classes whose outline could not be made");
        }
    }

    /// A class is linked and none of its code has run. Methods that an observed class inherits
    /// from external ones are called on observed objects without a call site that shows it; those
    /// classes are woven anew and watched from inside. Not in the load hook: verifying a superclass
    /// may load the class that is being loaded.
    pub(crate) fn prepared(&self, jni: &Jni<'_>, class: &Local<'_>) {
        let _ =
            jni.with_frame(|jni| open_module(self.jvmti, jni, class, &self.names.class(NATIVE)));
        if !self.heirs.is_waiting() {
            return;
        }
        let Ok(signature) = self.jvmti.class_signature(class) else {
            return;
        };
        if self.heirs.take(internal_name(&signature)) {
            let _ = jni.with_frame(|jni| self.watch_supertypes(jni, class));
        }
    }

    fn watch_supertypes(&self, jni: &Jni<'_>, class: &Local<'_>) {
        let mut supertypes = self.jvmti.interfaces(jni, class).unwrap_or_default();
        supertypes.extend(jni.superclass(class));
        for supertype in supertypes {
            let signature = self.jvmti.class_signature(&supertype).unwrap_or_default();
            let name = internal_name(&signature);
            if is_jdk_name(name) || self.classes.is_observed(name) {
                continue;
            }
            if self.classes.add_kin(name) && self.jvmti.retransform(&[supertype]).is_err() {
                let why = "an observed class inherits from it".to_owned();
                self.recorder.not_woven(name.replace('/', "."), why);
            }
            self.watch_supertypes(jni, &supertype);
        }
    }

    /// What is known of a superclass or interface. The JVM loads it right after this hook, by the
    /// same loader; asking for it a little earlier changes nothing for the program.
    fn facts_of_supertype(
        &self,
        jni: &Jni<'_>,
        loading: &Loading<'_>,
        name: &str,
    ) -> ClassDecision {
        let Some(loader) = &loading.loader else {
            return ClassDecision::default();
        };
        if ASKING.with_borrow(|asking| asking.iter().any(|n| n == name)) {
            return ClassDecision::default();
        }
        ASKING.with_borrow_mut(|asking| asking.push(loading.name.to_owned()));
        let facts = jni.with_frame(|jni| self.ask_loader(jni, loader, name));
        ASKING.with_borrow_mut(|asking| asking.pop());
        facts.ok().flatten().unwrap_or_default()
    }

    fn ask_loader(&self, jni: &Jni<'_>, loader: &Local<'_>, name: &str) -> Option<ClassDecision> {
        let class = ask_for_class(jni, loader, name)?;
        let defining = self.jvmti.class_loader(&class).ok()?;
        let number = self
            .classes
            .loader(self.jvmti, jni, &self.recorder, defining.as_ref())
            .number;
        self.classes.facts(number, name)
    }
}

/// The URL a class comes from.
pub(crate) fn code_source(jni: &Jni<'_>, loading: &Loading<'_>) -> Option<String> {
    let domain = loading.protection_domain.as_ref()?;
    let read = |jni: &Jni<'_>| {
        let get = |object: &Local<'_>, name: &str, descriptor: &str| {
            let class = jni.object_class(object);
            let method = jni.method(&class, name, descriptor).ok()?;
            jni.call_object(object, method, &[]).ok()?
        };
        let source = get(domain, "getCodeSource", "()Ljava/security/CodeSource;")?;
        let location = get(&source, "getLocation", "()Ljava/net/URL;")?;
        let text = get(&location, "toString", "()Ljava/lang/String;")?;
        Some(jni.string(&text))
    };
    jni.with_frame(read).ok().flatten()
}

/// Woven code calls the runtime, so its module must read that of the runtime. Modules of the
/// boot layer do since the start; those of layers that the program makes get it here.
pub(crate) fn open_module(
    jvmti: Jvmti,
    jni: &Jni<'_>,
    class: &Local<'_>,
    runtime: &str,
) -> Option<()> {
    jvmti.class_loader(class).ok()??;
    let class_class = jni.object_class(class);
    let get_module = jni
        .method(&class_class, "getModule", "()Ljava/lang/Module;")
        .ok()?;
    let module = jni.call_object(class, get_module, &[]).ok()??;
    if jvmti.tag(&module).ok()? != 0 {
        return None;
    }
    // Loaders have positive tags.
    jvmti.set_tag(&module, -1).ok()?;
    let ours = jni.find_class(runtime).ok()?;
    let runtime = jni.call_object(&ours, get_module, &[]).ok()??;
    // An unnamed module reads every other and refuses.
    jvmti.add_module_reads(&module, &runtime).ok()
}

/// Connects the module of the runtime, to which `class` belongs: the runtime may use internal packages of
/// the JDK, reflectively those in `opened`, and all modules may use the runtime.
pub(crate) fn connect_module(
    jvmti: Jvmti,
    jni: &Jni<'_>,
    class: &Local<'_>,
    opened: &[&str],
) -> Result<(), Trouble> {
    let class_class = jni.object_class(class);
    let get_module = jni.method(&class_class, "getModule", "()Ljava/lang/Module;")?;
    let runtime = jni.call_object(class, get_module, &[])?;
    let runtime = runtime.ok_or("the runtime has no module")?;
    let base = jni.call_object(&class_class, get_module, &[])?;
    let base = base.ok_or("java.base has no module")?;
    jvmti.add_module_exports(&base, "jdk.internal.misc", &runtime)?;
    for package in opened {
        jvmti.add_module_opens(&base, package, &runtime)?;
    }
    for named in jvmti.all_modules(jni)? {
        // Unnamed modules read every module already and refuse.
        let _ = jvmti.add_module_reads(&named, &runtime);
    }
    Ok(())
}

/// The class that a loader finds under a name.
pub(crate) fn ask_for_class<'j>(
    jni: &Jni<'j>,
    loader: &Local<'_>,
    name: &str,
) -> Option<Local<'j>> {
    let text = jni.new_string(&name.replace('/', ".")).ok()?;
    let class_loader = jni.object_class(loader);
    let load = jni
        .method(
            &class_loader,
            "loadClass",
            "(Ljava/lang/String;)Ljava/lang/Class;",
        )
        .ok()?;
    jni.call_object(loader, load, &[&text]).ok()?
}
