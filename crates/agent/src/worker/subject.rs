//! The classes of the subject: those that run, stubs for the others, and the loaders that have
//! them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use culprit_classfile::{ClassFile, access};
use culprit_jvmti::{Global, Jni, Local};
use culprit_model::Member;
use culprit_model::observe::is_jdk_name;
use culprit_weave::library::{self, ClassRole};
use culprit_weave::statics::{self, Reset};
use culprit_weave::stub::{self, Super};
use culprit_wire::{ClassKind, Subject, SubjectClass};

use super::java::Java;
use super::opened::OpenedClasses;
use super::{Halt, natives};
use crate::lock::LockSafe;
use crate::runtime::CALLER;

#[derive(Default)]
pub(crate) struct Classes {
    /// By name, then by the number of the loader.
    classes: Mutex<HashMap<String, BTreeMap<u32, SubjectClass>>>,
    loaders: Mutex<BTreeMap<u32, Global>>,
    resets: Mutex<HashMap<String, Reset>>,
    /// Of a program that runs as it is, by one loader.
    class_path: Option<String>,
    /// The class of that loader that calls what scripts call.
    caller: Mutex<Option<Global>>,
    /// Final classes that stand-ins extend.
    pub(super) opened: OpenedClasses,
}

impl Classes {
    pub(crate) fn new(subject: Subject) -> Classes {
        let path = subject.class_path.join(":");
        let classes = Classes {
            class_path: (!path.is_empty()).then_some(path),
            ..Classes::default()
        };
        for class in subject.classes {
            classes.add(class);
        }
        classes
    }

    pub(crate) fn add(&self, class: SubjectClass) {
        if class.kind == ClassKind::Observed {
            let reset = ClassFile::parse(&class.bytes).map_or(Reset::Load, |c| statics::reset(&c));
            self.resets.lock_safe().insert(class.name.clone(), reset);
        }
        let mut classes = self.classes.lock_safe();
        let of_name = classes.entry(class.name.clone()).or_default();
        of_name.insert(class.loader, class);
        if of_name.len() > 1 {
            // Two classes of one name are more than a name can tell apart.
            let mut resets = self.resets.lock_safe();
            resets.extend(
                of_name
                    .values()
                    .map(|class| (class.name.clone(), Reset::Load)),
            );
        }
    }

    /// Whether a class can be initialised again.
    pub(crate) fn is_reset(&self, name: &str) -> bool {
        self.resets.lock_safe().get(name) == Some(&Reset::Again)
    }

    /// Whether some class can only be as it was at the start if it is loaded anew.
    pub(crate) fn must_load(&self) -> bool {
        self.resets
            .lock_safe()
            .values()
            .any(|reset| *reset == Reset::Load)
    }

    /// The methods of a class that its bytes in the recording do not have: other agents added them.
    pub(crate) fn strangers(
        &self,
        class: &ClassFile,
        bytes: &[u8],
    ) -> Result<Vec<(String, String)>, culprit_classfile::Error> {
        let classes = self.classes.lock_safe();
        let of_name = classes.get(class.name()?.as_ref());
        let of_name = of_name.into_iter().flat_map(BTreeMap::values);
        let mut known = Vec::new();
        for recorded in of_name {
            if recorded.kind != ClassKind::Observed || recorded.bytes == bytes {
                return Ok(Vec::new());
            }
            known.extend(methods(&ClassFile::parse(&recorded.bytes)?)?);
        }
        drop(classes);
        let mut strangers = methods(class)?;
        strangers.retain(|method| !known.is_empty() && !known.contains(method));
        Ok(strangers)
    }

    /// The static fields of an observed class that scenarios may change.
    pub(crate) fn variables(&self, name: &str) -> Vec<(String, String)> {
        let classes = self.classes.lock_safe();
        let class = classes
            .get(name)
            .and_then(|of_name| of_name.values().next());
        let class = class.and_then(|class| ClassFile::parse(&class.bytes).ok());
        let variables = class.and_then(|class| statics::variables(&class).ok());
        variables.unwrap_or_default()
    }

    /// Forgets the loaders: their classes are loaded anew.
    pub(crate) fn forget_loaders(&self, jni: &Jni<'_>) {
        for (_, loader) in std::mem::take(&mut *self.loaders.lock_safe()) {
            jni.delete_global(loader);
        }
        if let Some(caller) = self.caller.lock_safe().take() {
            jni.delete_global(caller);
        }
    }

    /// The class that calls what scripts call, in the loader of a program that runs as it is.
    pub(crate) fn caller<'j>(&self, jni: &Jni<'j>, java: &Java) -> Result<Local<'j>, Halt> {
        if let Some(caller) = &*self.caller.lock_safe() {
            return Ok(jni.reuse(caller));
        }
        let loader = self.loader(jni, java, 0)?;
        let (name, bytes) = CALLER;
        let made = jni.define_class(name, Some(&loader), bytes)?;
        jni.register_natives(&made, &natives::caller())?;
        *self.caller.lock_safe() = Some(jni.global(&made)?);
        Ok(made)
    }

    /// The loader that stands for one of the recorded program.
    pub(crate) fn loader<'j>(
        &self,
        jni: &Jni<'j>,
        java: &Java,
        number: u32,
    ) -> Result<Local<'j>, Halt> {
        let number = self.class_path.as_ref().map_or(number, |_| 0);
        let mut loaders = self.loaders.lock_safe();
        if let Some(loader) = loaders.get(&number) {
            return Ok(jni.reuse(loader));
        }
        let made = match &self.class_path {
            Some(path) => java.plain_loader(jni, path)?,
            None => java.make_loader(jni, number)?,
        };
        loaders.insert(number, jni.global(&made)?);
        Ok(made)
    }

    /// The number of a loader that has a class of this name: this one if it does.
    pub(crate) fn loader_of(&self, number: u32, name: &str) -> Option<u32> {
        let classes = self.classes.lock_safe();
        let of_name = classes.get(name)?;
        if of_name.contains_key(&number) {
            return Some(number);
        }
        of_name.keys().next().copied()
    }

    /// The bytes by which a loader defines a class: those of the program, or a stub.
    pub(crate) fn bytes(
        &self,
        jni: &Jni<'_>,
        java: &Java,
        number: u32,
        name: &str,
    ) -> Result<Vec<u8>, culprit_weave::Error> {
        let (kind, bytes) = {
            let classes = self.classes.lock_safe();
            let class = classes.get(name).and_then(|of_name| of_name.get(&number));
            class.map_or((ClassKind::Observed, Vec::new()), |class| {
                (class.kind, class.bytes.clone())
            })
        };
        match kind {
            ClassKind::Observed if is_jdk_name(name) => stub::opened(&bytes),
            ClassKind::Observed => Ok(bytes),
            ClassKind::Outline => self.stub(jni, java, &bytes),
        }
    }

    fn stub(
        &self,
        jni: &Jni<'_>,
        java: &Java,
        outline: &[u8],
    ) -> Result<Vec<u8>, culprit_weave::Error> {
        let class = ClassFile::parse(outline)?;
        let superclass = class.super_name()?.map(|name| name.into_owned());
        let above = match superclass {
            Some(name) if is_jdk_name(&name) => match java.constructor(jni, &name) {
                Some(descriptor) => Super::Jdk(descriptor),
                None => Super::None,
            },
            Some(name) if self.is_outline(&name) => Super::Stub,
            _ => Super::None,
        };
        stub::stub(class, &above)
    }

    /// Whether a class of the recording stands in for the JDK's class of the same name: code of the JDK, such as that
    /// of its compiler, is observed like any other, and classes around it are external. Live ones remain the JDK's.
    pub(crate) fn is_over_jdk(&self, name: &str) -> bool {
        let is_possible = is_jdk_name(name) && !name.starts_with("java/");
        is_possible
            && match self.classes.lock_safe().get(name) {
                Some(of_name) => of_name.values().any(|class| {
                    class.kind == ClassKind::Observed || library::role(name) == ClassRole::External
                }),
                None => false,
            }
    }

    /// True if a member is named by an observed class that does not declare it.
    pub(crate) fn inherits(&self, member: &Member) -> bool {
        let classes = self.classes.lock_safe();
        let mut of_name = classes
            .get(&member.owner)
            .into_iter()
            .flat_map(BTreeMap::values);
        let Some(class) = of_name.find(|class| class.kind == ClassKind::Observed) else {
            return false;
        };
        let Ok(class) = ClassFile::parse(&class.bytes) else {
            return false;
        };
        let is_it = |(name, descriptor): (u16, u16)| {
            let text = |index| class.pool.utf8(index).ok();
            text(name).as_deref() == Some(member.name.as_str())
                && text(descriptor).as_deref() == Some(member.descriptor.as_str())
        };
        let all = class.fields.iter().chain(&class.methods);
        !all.map(|it| (it.name, it.descriptor)).any(is_it)
    }

    /// Whether the recording has a class of this name, observed or external.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.classes.lock_safe().contains_key(name)
    }

    /// Whether several loaders have a class of this name.
    pub(crate) fn has_several(&self, name: &str) -> bool {
        let classes = self.classes.lock_safe();
        classes.get(name).is_some_and(|of_name| of_name.len() > 1)
    }

    /// Whether a class is external.
    pub(crate) fn is_outline(&self, name: &str) -> bool {
        let classes = self.classes.lock_safe();
        let mut of_name = classes.get(name).into_iter().flat_map(BTreeMap::values);
        of_name.any(|class| class.kind == ClassKind::Outline)
    }

    /// The names of the constants of an external enum, by ordinal.
    pub(crate) fn constants(&self, name: &str) -> Option<Vec<String>> {
        let classes = self.classes.lock_safe();
        let class = classes.get(name)?.values().next()?;
        if class.kind != ClassKind::Outline {
            return None;
        }
        let class = ClassFile::parse(&class.bytes).ok()?;
        let constants = class.fields.iter();
        let constants = constants.filter(|field| field.access & access::ENUM != 0);
        constants
            .map(|field| Some(class.pool.utf8(field.name).ok()?.into_owned()))
            .collect()
    }
}

/// Names and descriptors of the methods of a class.
fn methods(class: &ClassFile) -> Result<Vec<(String, String)>, culprit_classfile::Error> {
    let methods = class.methods.iter().map(|method| {
        let name = class.pool.utf8(method.name)?.into_owned();
        Ok((name, class.pool.utf8(method.descriptor)?.into_owned()))
    });
    methods.collect()
}
