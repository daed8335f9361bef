//! Outlines of external classes, which stand for them where a recording runs again without the
//! program. Owns which classes need one and what is kept of those that may need one later.
//!
//! A class needs an outline once its type is described, or once its name is *wanted*: an observed
//! class names it, or an outline that is needed names it as a supertype. Names are those of the
//! code, before it is linked: of classes of one name in several loaders all get theirs. An outline is
//! handed over as soon as both the need and the class are there, under one lock, so no event that
//! needs it can be handed over before it.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use culprit_classfile::{ClassFile, outline};

use crate::lock::LockSafe;
use crate::pack::{PackEntry, Packs};
use crate::recorder::{Message, OwnedClass, Recorder};

/// Packages that no loader but those of the JDK can define classes in.
const JAVA: &str = "java/";

#[derive(Default)]
pub(crate) struct Outlines(Mutex<KnownOutlines>);

#[derive(Default)]
struct KnownOutlines {
    wanted: HashSet<String>,
    /// Outlines that nobody needs yet, by the names of their classes.
    kept: HashMap<String, Vec<(u32, PackEntry)>>,
    packs: Packs,
    /// Numbers of loaders and names of the classes whose outlines were handed over.
    written: HashSet<(u32, String)>,
}

impl Outlines {
    /// An external class is loaded.
    pub(crate) fn loaded(
        &self,
        recorder: &Recorder,
        loader: u32,
        class: &ClassFile,
    ) -> Result<(), culprit_classfile::Error> {
        let name = class.name()?.into_owned();
        let outline = outline(class)?.write()?;
        let mut known = self.lock(recorder);
        if known.wanted.contains(&name) {
            known.write(recorder, loader, name, outline);
        } else if let Some(place) = known.packs.add(&outline) {
            known.kept.entry(name).or_default().push((loader, place));
        }
        Ok(())
    }

    /// An observed class or a value names these classes.
    pub(crate) fn named(&self, recorder: &Recorder, names: impl IntoIterator<Item = String>) {
        let names = names.into_iter().filter(|name| !name.starts_with(JAVA));
        let mut known = self.lock(recorder);
        names.for_each(|name| known.want(recorder, name));
    }

    /// An external class is the run-time type of a value. `make` makes its outline where nobody saw
    /// its bytes.
    pub(crate) fn described(
        &self,
        recorder: &Recorder,
        loader: u32,
        name: &str,
        make: impl FnOnce() -> Option<Vec<u8>>,
    ) {
        let mut known = self.lock(recorder);
        if known.written.contains(&(loader, name.to_owned())) {
            return;
        }
        if let Some(outline) = known.take(loader, name) {
            return known.write(recorder, loader, name.to_owned(), outline);
        }
        // The JVM is asked without the lock.
        drop(known);
        if let Some(outline) = make() {
            let mut known = self.lock(recorder);
            known.write(recorder, loader, name.to_owned(), outline);
        }
    }

    /// These loaders were collected, and with them their classes.
    pub(crate) fn forget(&self, dead: &HashSet<u32>) {
        let mut guard = self.0.lock_safe();
        let known = &mut *guard;
        known.written.retain(|(loader, _)| !dead.contains(loader));
        let packs = &mut known.packs;
        known.kept.retain(|_, kept| {
            kept.retain(|(loader, place)| {
                let lives = !dead.contains(loader);
                if !lives {
                    packs.remove(*place);
                }
                lives
            });
            !kept.is_empty()
        });
    }

    fn lock(&self, recorder: &Recorder) -> std::sync::MutexGuard<'_, KnownOutlines> {
        // Room first: whoever waits for it must not hold the lock.
        recorder.wait_for_room();
        self.0.lock_safe()
    }
}

impl KnownOutlines {
    fn want(&mut self, recorder: &Recorder, name: String) {
        if !self.wanted.insert(name.clone()) {
            return;
        }
        for (loader, place) in self.kept.remove(&name).unwrap_or_default() {
            if let Some(outline) = self.packs.take(place) {
                self.write(recorder, loader, name.clone(), outline);
            }
        }
    }

    /// The kept outline of a class.
    fn take(&mut self, loader: u32, name: &str) -> Option<Vec<u8>> {
        let kept = self.kept.get_mut(name)?;
        let at = kept.iter().position(|(l, _)| *l == loader)?;
        let (_, place) = kept.swap_remove(at);
        self.packs.take(place)
    }

    /// Hands an outline over, and those of its supertypes.
    fn write(&mut self, recorder: &Recorder, loader: u32, name: String, outline: Vec<u8>) {
        if !self.written.insert((loader, name.clone())) {
            return;
        }
        let supertypes = supertypes(&outline).unwrap_or_default();
        recorder.push(Message::Class(OwnedClass {
            name,
            loader,
            origin: None,
            observed: false,
            ahead: false,
            outline: true,
            bytes: outline,
        }));
        // Names may form a circle; each is wanted once.
        for name in supertypes {
            if !name.starts_with(JAVA) {
                self.want(recorder, name);
            }
        }
    }
}

fn supertypes(outline: &[u8]) -> Result<Vec<String>, culprit_classfile::Error> {
    let class = ClassFile::parse(outline)?;
    let interfaces = class.interface_names()?.into_iter();
    let names = interfaces.chain(class.super_name()?);
    Ok(names.map(|name| name.into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::Pool;

    fn class(name: &str, superclass: &str) -> ClassFile {
        let mut pool = Pool::new();
        ClassFile {
            minor: 0,
            major: 52,
            access: 0,
            this_class: pool.add_class(name).unwrap(),
            super_class: pool.add_class(superclass).unwrap(),
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            attributes: Vec::new(),
            pool,
        }
    }

    struct Bench {
        outlines: Outlines,
        recorder: Recorder,
    }

    impl Bench {
        fn new() -> Bench {
            Bench {
                outlines: Outlines::default(),
                recorder: Recorder::new(None).unwrap(),
            }
        }

        fn load(&self, loader: u32, name: &str, superclass: &str) {
            let class = class(name, superclass);
            self.outlines
                .loaded(&self.recorder, loader, &class)
                .unwrap();
        }

        fn name(&self, name: &str) {
            self.outlines.named(&self.recorder, [name.to_owned()]);
        }

        fn describe(&self, loader: u32, name: &str) {
            let make = || class(name, "a/Made").write().ok();
            self.outlines.described(&self.recorder, loader, name, make);
        }

        /// What was handed over since this was asked last.
        fn written(&self) -> Vec<(u32, String)> {
            let messages = self.recorder.handed_over();
            let classes = messages.into_iter().map(|message| match message {
                Message::Class(class) => (class.loader, class.name),
                _ => panic!("not a class"),
            });
            classes.collect()
        }

        #[track_caller]
        fn check(&self, expect: &[(u32, &str)]) {
            let expect: Vec<_> = expect.iter().map(|(l, n)| (*l, (*n).to_owned())).collect();
            assert_eq!(self.written(), expect);
        }
    }

    #[test]
    fn a_class_is_written_once_it_is_loaded_and_named_in_either_order() {
        let bench = Bench::new();
        bench.load(1, "a/Early", "java/lang/Object");
        bench.load(1, "a/Nobody", "java/lang/Object");
        bench.check(&[]);
        bench.name("a/Early");
        bench.name("a/Early");
        bench.check(&[(1, "a/Early")]);
        bench.name("a/Late");
        bench.load(1, "a/Late", "java/lang/Object");
        bench.check(&[(1, "a/Late")]);
    }

    #[test]
    fn supertypes_follow_also_in_a_circle_and_in_other_loaders() {
        let bench = Bench::new();
        bench.load(1, "a/Base", "a/Root");
        bench.load(2, "a/Base", "a/Sub");
        bench.load(2, "a/Sub", "a/Base");
        bench.name("a/Sub");
        bench.check(&[(2, "a/Sub"), (1, "a/Base"), (2, "a/Base")]);
        bench.load(3, "a/Root", "java/lang/Object");
        bench.check(&[(3, "a/Root")]);
    }

    #[test]
    fn the_type_of_a_value_is_that_of_its_loader() {
        let bench = Bench::new();
        bench.load(1, "a/Twin", "java/lang/Object");
        bench.load(2, "a/Twin", "java/lang/Object");
        bench.describe(2, "a/Twin");
        bench.describe(2, "a/Twin");
        bench.check(&[(2, "a/Twin")]);
        bench.describe(3, "a/Hidden");
        bench.check(&[(3, "a/Hidden")]);
        bench.load(3, "a/Made", "java/lang/Object");
        bench.check(&[(3, "a/Made")]);
    }

    #[test]
    fn what_is_kept_for_dead_loaders_is_forgotten() {
        let bench = Bench::new();
        bench.load(1, "a/Script", "java/lang/Object");
        bench.load(2, "a/Script", "java/lang/Object");
        bench.outlines.forget(&HashSet::from([1]));
        bench.name("a/Script");
        bench.check(&[(2, "a/Script")]);
    }
}
