//! What the agent knows of the program's classes: which are observed, which carry an id, and the
//! numbers of loaders and types.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use culprit_classfile::ClassFile;
use culprit_jvmti::{Jni, Jvmti, Local};
use culprit_model::observe::{ClassOrigin, is_jdk_name, is_tool_name};
use culprit_model::site::TypeDef;
use culprit_model::value::{Shape, class_of_descriptor};
use culprit_model::{Member, Owner, Selection, TypeId};
use culprit_trace::LoaderDef;
use culprit_weave::library::{self, ClassRole};
use culprit_weave::{MemberKind, Outline, Reference, World, outline};

use crate::likeness;
use crate::lock::LockSafe;
use crate::outlines::Outlines;
use crate::recorder::{Message, Recorder};
use crate::roots::{Origin, Roots};
use crate::worker::worker;

/// What was decided about a class when it was loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ClassDecision {
    pub(crate) observed: bool,
    /// Instances carry an id: the class has the field, or inherits it.
    pub(crate) has_id: bool,
    /// The class itself has the field.
    pub(crate) owns_id: bool,
}

/// A class loader: its number, and what it loads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Loader {
    pub(crate) number: u32,
    pub(crate) is_jdk: bool,
    /// The JVM's own for the class path.
    pub(crate) is_of_class_path: bool,
    /// One of those by which a worker loads its subject.
    pub(crate) is_worker: bool,
}

/// The boot loader.
const BOOT: Loader = Loader {
    number: 0,
    is_jdk: true,
    is_of_class_path: false,
    is_worker: false,
};
pub(crate) const PLATFORM_LOADER: &str = "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;";
const CLASS_PATH_LOADER: &str = "Ljdk/internal/loader/ClassLoaders$AppClassLoader;";
const WORKER_LOADER: &str = "Lculprit/runtime/Loader;";

#[derive(Default)]
struct KnownClasses {
    /// What loaded classes declare, with the numbers of their loaders.
    outlines: HashMap<String, (u32, Outline)>,
    /// External classes that an observed class extends.
    kin: HashSet<String>,
    /// Whether the classes of a loader, by its number, can call the runtime.
    reach: HashMap<u32, bool>,
    facts: HashMap<(u32, String), ClassDecision>,
    /// Method references that were given bodies, for classes that have any.
    references: HashMap<(u32, String), Vec<Reference>>,
    /// Observed classes by name alone: how code refers to them before it is linked.
    observed: HashSet<String>,
    types: HashMap<(u32, String), TypeDef>,
    next_type: u32,
    loaders: Vec<Loader>,
    /// Names seen while nothing was observed, for "the nearest names".
    seen: BTreeSet<String>,
}

/// Observed classes with a superclass or interface of the program, from their loading until they
/// are linked.
#[derive(Default)]
pub(crate) struct Heirs {
    names: Mutex<HashSet<String>>,
    any: AtomicBool,
}

impl Heirs {
    pub(crate) fn add(&self, class: &str) {
        self.names.lock_safe().insert(class.to_owned());
        self.any.store(true, Ordering::Release);
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    pub(crate) fn take(&self, class: &str) -> bool {
        let mut names = self.names.lock_safe();
        let found = names.remove(class);
        self.any.store(!names.is_empty(), Ordering::Release);
        found
    }
}

pub(crate) struct Classes {
    pub(crate) selection: Selection,
    roots: Mutex<Roots>,
    known: Mutex<KnownClasses>,
    pub(crate) outlines: Outlines,
    /// Loaders that were collected, and are still to be forgotten. No JVM function is called under
    /// this lock: the collector may be waiting for it.
    dead: Mutex<Vec<u32>>,
    /// Bytes of the code that was kept of classes that are not observed.
    kept: AtomicUsize,
}

/// The most bytes of code that are kept of classes that are not observed.
const MOST_KEPT: usize = 64 << 20;

/// So many loaders are forgotten at once.
const DEAD_AT_ONCE: usize = 64;

impl World for Classes {
    fn is_reset(&self, class: &str) -> bool {
        worker().is_some_and(|worker| worker.is_reset(class))
    }

    fn can_load(&self, class: &str) -> bool {
        is_jdk_name(class) || worker().is_none_or(|worker| worker.has_class(class))
    }

    fn is_observed(&self, class: &str) -> bool {
        let is_nested = {
            let known = self.known.lock_safe();
            if known.observed.contains(class) {
                return true;
            }
            // One that is compiled in memory is in no root.
            let outer = class.rsplit_once('$');
            outer.is_some_and(|(outer, _)| known.observed.contains(outer))
        };
        let origin = if is_nested || self.roots.lock_safe().has(class) {
            ClassOrigin::Program
        } else {
            ClassOrigin::Library
        };
        self.selection.selects(class, origin)
    }

    fn declaring(
        &self,
        class: &str,
        kind: MemberKind,
        name: &str,
        descriptor: &str,
    ) -> Option<String> {
        let known = self.known.lock_safe();
        outline::declaring(class, kind, name, descriptor, |class| {
            known.outlines.get(class).map(|(_, outline)| outline)
        })
    }
}

/// The world as code was woven in it: the same in a JVM that records, and what it was then in one
/// that replays.
pub(crate) struct AsWhenWoven<'c> {
    classes: &'c Classes,
    external: HashSet<String>,
}

impl World for AsWhenWoven<'_> {
    fn is_reset(&self, class: &str) -> bool {
        self.classes.is_reset(class)
    }

    fn can_load(&self, class: &str) -> bool {
        self.classes.can_load(class)
    }

    fn is_observed(&self, class: &str) -> bool {
        !self.external.contains(class) && self.classes.is_observed(class)
    }

    fn declaring(
        &self,
        class: &str,
        kind: MemberKind,
        name: &str,
        descriptor: &str,
    ) -> Option<String> {
        self.classes.declaring(class, kind, name, descriptor)
    }
}

impl Classes {
    /// The world in which the code of an observed class is woven.
    pub(crate) fn as_when_woven(&self, class: &str) -> AsWhenWoven<'_> {
        let taken = worker().map(|worker| worker.taken_for_external(class));
        AsWhenWoven {
            classes: self,
            external: taken.unwrap_or_default(),
        }
    }

    pub(crate) fn new(selection: Selection, roots: Roots) -> Classes {
        Classes {
            selection,
            roots: Mutex::new(roots),
            known: Mutex::default(),
            outlines: Outlines::default(),
            dead: Mutex::default(),
            kept: AtomicUsize::default(),
        }
    }

    /// Whether so many more bytes of code may be kept.
    pub(crate) fn may_keep(&self, bytes: usize) -> bool {
        self.kept.fetch_add(bytes, Ordering::Relaxed) < MOST_KEPT
    }

    /// A loader was collected, and with it its classes. Called within a collection.
    pub(crate) fn loader_died(&self, loader: u32) {
        self.dead.lock_safe().push(loader);
    }

    fn forget_dead(&self) {
        let dead: HashSet<u32> = {
            let mut dead = self.dead.lock_safe();
            if dead.len() < DEAD_AT_ONCE {
                return;
            }
            dead.drain(..).collect()
        };
        self.outlines.forget(&dead);
        let mut known = self.known.lock_safe();
        known
            .outlines
            .retain(|_, (loader, _)| !dead.contains(loader));
        known.facts.retain(|(loader, _), _| !dead.contains(loader));
        known.types.retain(|(loader, _), _| !dead.contains(loader));
        known.reach.retain(|loader, _| !dead.contains(loader));
        known
            .references
            .retain(|(loader, _), _| !dead.contains(loader));
    }

    /// True if a class that is being loaded is that of an agent written in Java.
    pub(crate) fn is_of_java_agent(&self, url: impl FnOnce() -> Option<String>) -> bool {
        // No method of the program is called under the lock.
        let may_be = self.roots.lock_safe().have_java_agents();
        let url = may_be.then(url).flatten();
        url.is_some_and(|url| self.roots.lock_safe().is_java_agent(&url))
    }

    /// Whether a class that is being loaded is selected by itself.
    pub(crate) fn selects(&self, class: &str, origin: impl FnOnce() -> Origin) -> bool {
        let by_name = self.selection.selects(class, ClassOrigin::Library);
        let needs_origin = self.selection.app || self.selection.observe.is_empty();
        if by_name || !needs_origin || is_jdk_name(class) || is_tool_name(class) {
            return by_name;
        }
        let is_known = self.roots.lock_safe().has(class);
        let program = is_known || {
            let origin = origin();
            self.roots.lock_safe().is_program(class, &origin)
        };
        self.selection.selects(
            class,
            if program {
                ClassOrigin::Program
            } else {
                ClassOrigin::Library
            },
        )
    }

    /// Whether a class is the program's own, as far as its name tells: it is observed. Where the places that the
    /// program is loaded from are not known, it is everybody's whose code may fail.
    pub(crate) fn is_own(&self, class: &str) -> bool {
        let by_origin = self.selection.app || self.selection.observe.is_empty();
        let may_be = || by_origin && self.roots.lock_safe().are_unknown();
        let owner = Owner::of(class);
        self.is_observed(class) || !owner.is_tool() && owner.may_be_subject() && may_be()
    }

    /// Notes that a class which is not woven is the program's own.
    pub(crate) fn add_observed(&self, class: &str) {
        self.known.lock_safe().observed.insert(class.to_owned());
    }

    pub(crate) fn remember(&self, loader: u32, class: &str, facts: ClassDecision) {
        let mut known = self.known.lock_safe();
        if facts.observed {
            known.observed.insert(class.to_owned());
        }
        if known.seen.len() < 50_000 {
            known.seen.insert(class.to_owned());
        }
        known.facts.insert((loader, class.to_owned()), facts);
    }

    /// Notes what a class declares; before it is woven, so that it finds itself.
    pub(crate) fn outline(
        &self,
        loader: u32,
        class: &ClassFile,
    ) -> Result<(), culprit_weave::Error> {
        self.forget_dead();
        let mut outline = Outline::default();
        outline.add(class)?;
        let name = class.name()?.into_owned();
        let mut known = self.known.lock_safe();
        known.outlines.insert(name, (loader, outline));
        Ok(())
    }

    /// Notes that an observed class extends an external one; whether that is news.
    pub(crate) fn add_kin(&self, class: &str) -> bool {
        self.known.lock_safe().kin.insert(class.to_owned())
    }

    pub(crate) fn reaches_runtime(&self, loader: u32) -> Option<bool> {
        self.known.lock_safe().reach.get(&loader).copied()
    }

    pub(crate) fn set_reaches_runtime(&self, loader: u32, reaches: bool) {
        self.known.lock_safe().reach.insert(loader, reaches);
    }

    pub(crate) fn is_kin(&self, class: &str) -> bool {
        self.known.lock_safe().kin.contains(class)
    }

    pub(crate) fn facts(&self, loader: u32, class: &str) -> Option<ClassDecision> {
        self.known
            .lock_safe()
            .facts
            .get(&(loader, class.to_owned()))
            .copied()
    }

    /// Notes which method references of a class were given bodies.
    pub(crate) fn remember_references(&self, loader: u32, class: &str, given: Vec<Reference>) {
        let key = (loader, class.to_owned());
        let mut known = self.known.lock_safe();
        if given.is_empty() {
            known.references.remove(&key);
        } else {
            known.references.insert(key, given);
        }
    }

    /// The method references of a class that were given bodies.
    pub(crate) fn references(&self, loader: u32, class: &str) -> Vec<Reference> {
        let known = self.known.lock_safe();
        let given = known.references.get(&(loader, class.to_owned()));
        given.cloned().unwrap_or_default()
    }

    /// The classes seen, if none of them was observed.
    pub(crate) fn unmatched(&self) -> Option<Vec<String>> {
        let known = self.known.lock_safe();
        known
            .observed
            .is_empty()
            .then(|| known.seen.iter().cloned().collect())
    }

    /// The number of a loader, given when it is first seen.
    pub(crate) fn loader(
        &self,
        jvmti: Jvmti,
        jni: &Jni<'_>,
        recorder: &Recorder,
        loader: Option<&Local<'_>>,
    ) -> Loader {
        let Some(object) = loader else { return BOOT };
        // One lock around look and set: two threads must not number a loader twice.
        let mut known = self.known.lock_safe();
        let tag = jvmti.tag(object).unwrap_or(0);
        if let Some(loader) = usize::try_from(tag - 1)
            .ok()
            .and_then(|i| known.loaders.get(i))
        {
            return *loader;
        }
        let number = known.loaders.len() as u32 + 1;
        let class = jvmti
            .class_signature(&jni.object_class(object))
            .unwrap_or_default();
        let loader = Loader {
            number,
            is_jdk: class == PLATFORM_LOADER,
            is_of_class_path: class == CLASS_PATH_LOADER,
            is_worker: class == WORKER_LOADER,
        };
        known.loaders.push(loader);
        let _ = jvmti.set_tag(object, i64::from(number));
        recorder.push(Message::Loader(LoaderDef {
            id: number,
            class: internal_name(&class).to_owned(),
            name: jni
                .with_frame(|jni| loader_name(jni, object))
                .ok()
                .flatten(),
        }));
        loader
    }

    /// Describes a run-time class to the Java runtime, packed as `ClassInfo` unpacks it.
    pub(crate) fn describe(
        &self,
        jvmti: Jvmti,
        jni: &Jni<'_>,
        recorder: &Recorder,
        class: &Local<'_>,
    ) -> i64 {
        let signature = jvmti.class_signature(class).unwrap_or_default();
        let loader_object = jvmti.class_loader(class).ok().flatten();
        let loader = self.loader(jvmti, jni, recorder, loader_object.as_ref());
        let name = &plain_name(internal_name(&signature));
        let modifiers = jvmti.class_modifiers(class).unwrap_or(0);
        let (form, code) = form(&signature, name, modifiers);
        let facts = self.facts_of(loader, name);
        let role = if signature.starts_with('[') {
            ClassRole::Live
        } else if loader.is_jdk || (is_jdk_name(name) && !facts.observed) {
            library::role(host(name))
        } else if facts.observed {
            ClassRole::Observed
        } else {
            ClassRole::External
        };
        // Before the type itself, which events may name from then on.
        if let Some(element) = element_class(&signature) {
            self.outlines.named(recorder, [plain_name(element)]);
        } else if (!loader.is_jdk || host(name) != name) && !facts.observed {
            // A JDK has its classes again, but none that were made at run time.
            let make = || likeness::draw(jvmti, jni, class);
            self.outlines.described(recorder, loader.number, name, make);
        }
        let id = self.define(recorder, loader.number, name);
        let packed = u64::from(id.0 & 0xff_ffff)
            | (form as u64) << 24
            | (role as u64) << 28
            | u64::from(code) << 32
            | u64::from(facts.has_id) << 40
            | u64::from(role != ClassRole::Observed && library::is_immutable(host(name))) << 41;
        packed as i64
    }

    /// What is known of a class; one made at run time for another (a lambda) goes with its host.
    fn facts_of(&self, loader: Loader, name: &str) -> ClassDecision {
        if let Some(facts) = self.facts(loader.number, name) {
            return facts;
        }
        let host = host(name);
        let observed = host != name
            && self
                .facts(loader.number, host)
                .is_some_and(|facts| facts.observed);
        ClassDecision {
            observed,
            ..ClassDecision::default()
        }
    }

    fn define(&self, recorder: &Recorder, loader: u32, name: &str) -> TypeId {
        let mut known = self.known.lock_safe();
        let next = TypeId(known.next_type + 1);
        let mut new = None;
        let known = &mut *known;
        let id = known
            .types
            .entry((loader, name.to_owned()))
            .or_insert_with(|| {
                let definition = TypeDef {
                    id: next,
                    name: name.to_owned(),
                    loader,
                    constants: Vec::new(),
                    fields: Vec::new(),
                };
                new = Some(definition.clone());
                definition
            })
            .id;
        // Before the lock is given back: nobody may use a number that is not defined.
        if let Some(definition) = new {
            known.next_type = next.0;
            recorder.push(Message::Type(definition));
        }
        id
    }

    /// Lists the fields of a class: the type is defined again, with them.
    pub(crate) fn fields(&self, recorder: &Recorder, class: TypeId, fields: Vec<Member>) {
        let mut known = self.known.lock_safe();
        if let Some(definition) = known.types.values_mut().find(|t| t.id == class) {
            definition.fields = fields;
            recorder.push(Message::Type(definition.clone()));
        }
    }

    /// Names a constant of an enum: the type is defined again, with the name.
    pub(crate) fn constant(
        &self,
        recorder: &Recorder,
        class: TypeId,
        ordinal: usize,
        name: String,
    ) {
        let mut known = self.known.lock_safe();
        let Some(definition) = known.types.values_mut().find(|t| t.id == class) else {
            return;
        };
        if definition.constants.len() <= ordinal {
            definition.constants.resize(ordinal + 1, String::new());
        }
        if let Some(constant) = definition.constants.get_mut(ordinal) {
            *constant = name;
        }
        recorder.push(Message::Type(definition.clone()));
    }
}

/// The name of a class loader, if it has one. Read from the field, since the method may be the
/// program's own.
fn loader_name(jni: &Jni<'_>, loader: &Local<'_>) -> Option<String> {
    let class = jni.find_class("java/lang/ClassLoader").ok()?;
    let name = jni.get_field(loader, &class, "name", "Ljava/lang/String;");
    Some(jni.string(&name.ok()?.reference()?))
}

/// `Lcom/acme/Order;` without its wrapping; arrays stay as they are, primitive types get the name
/// that no class can have.
pub(crate) fn internal_name(signature: &str) -> &str {
    match signature {
        "V" => "void",
        other => class_of_descriptor(other).unwrap_or(other),
    }
}

/// The class of the elements of an array, by the array's signature.
fn element_class(signature: &str) -> Option<&str> {
    let element = signature.strip_prefix('[')?.trim_start_matches('[');
    element.strip_prefix('L')?.strip_suffix(';')
}

/// A hidden class has a suffix that no other name can have (`Main$$Lambda.0x01`); here it becomes
/// part of the name.
pub(crate) fn plain_name(name: &str) -> String {
    match name.rfind(['.', '/']) {
        Some(at) if name[at + 1..].starts_with("0x") => {
            format!("{}${}", &name[..at], &name[at + 1..])
        }
        _ => name.to_owned(),
    }
}

/// The class in whose name a class was made: the part before `$$Lambda`, or the class itself.
fn host(name: &str) -> &str {
    name.find("$$Lambda").map_or(name, |at| &name[..at])
}

const ACC_ENUM: i32 = 0x4000;

/// How values of a class are written, and the descriptor character that goes with it; the numbers
/// are those of `ClassInfo.java`.
fn form(signature: &str, name: &str, modifiers: i32) -> (u8, u8) {
    const OBJECT: u8 = 0;
    const STRING: u8 = 1;
    const CLASS: u8 = 2;
    const ENUM: u8 = 3;
    const BOXED: u8 = 4;
    const ARRAY: u8 = 5;
    if let Some(element) = signature.strip_prefix('[') {
        let code = match element.as_bytes().first() {
            Some(b'L' | b'[') | None => b'L',
            Some(code) => *code,
        };
        return (ARRAY, code);
    }
    match name {
        "java/lang/String" => (STRING, 0),
        "java/lang/Class" => (CLASS, 0),
        _ if modifiers & ACC_ENUM != 0 => (ENUM, 0),
        other => Shape::boxed_by(other).map_or((OBJECT, 0), |it| (BOXED, it.code() as u8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_dead_loaders_is_forgotten_and_their_numbers_are_not_used_again() {
        let classes = Classes::new(Selection::default(), Roots::default());
        let recorder = Recorder::new(None).unwrap();
        let count = 2 * DEAD_AT_ONCE as u32;
        for loader in 1..=count {
            classes.remember(loader, "Script", ClassDecision::default());
            classes.set_reaches_runtime(loader, true);
            assert_eq!(classes.define(&recorder, loader, "Script").0, loader);
        }
        (1..count).for_each(|loader| classes.loader_died(loader));
        classes.forget_dead();
        assert_eq!(classes.facts(1, "Script"), None);
        assert_eq!(classes.reaches_runtime(1), None);
        assert!(classes.facts(count, "Script").is_some());
        assert_eq!(classes.define(&recorder, count, "Script").0, count);
        assert_eq!(classes.define(&recorder, 1, "Script").0, count + 1);
    }
}
