//! The plans under test, each with a world that makes it insert as much as it can.

use std::collections::HashMap;

use culprit_classfile::ClassFile;
use culprit_model::options::Arrays;
use culprit_verifier::Class;
use culprit_weave::statics::{self, Reset};
use culprit_weave::{
    MemberKind, Purpose, References, Settings, SiteNumbers, World, Woven, can_carry_id, hook,
};

/// What is observed, seen from the class that is woven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plan {
    /// Everything.
    Together,
    /// The class and no other; every other one is external, and none is the JDK's.
    Alone,
    /// Its module, as if that were a program; what other modules have is the JDK's.
    Module,
    /// Everything but the class, whose methods are all watched.
    Outside,
    /// The class and no other, to be replayed.
    Replay,
    /// The class and no other, with some kinds of probes only.
    Part(Part),
}

/// Kinds of probes, each besides those at entries, returns and handlers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Entries,
    Calls,
    Fields,
    Elements,
}

/// Weaves classes and numbers their sites.
pub(crate) struct Loom {
    numbers: SiteNumbers,
    modules: HashMap<String, String>,
}

impl Loom {
    pub(crate) fn new(classes: &[Class]) -> Loom {
        let modules = classes
            .iter()
            .map(|c| (c.name().to_owned(), c.module.clone()))
            .collect();
        Loom {
            numbers: SiteNumbers::default(),
            modules,
        }
    }

    /// Weaves a class of a module. One that is outside also gets the hooks it may have.
    pub(crate) fn weave(&self, plan: Plan, module: &str, class: ClassFile) -> Woven {
        let name = class.name().unwrap().into_owned();
        let world = Seen {
            plan,
            class: &name,
            reset: statics::reset(&class) == Reset::Again,
            module,
            modules: &self.modules,
        };
        // A superclass other than `Object` may have the field already, and in `Object` itself
        // arrays would have it too.
        let carries = class
            .super_name()
            .unwrap()
            .is_some_and(|s| s == "java/lang/Object");
        let settings = Settings {
            lines: None,
            strangers: &[],
            purpose: match plan {
                Plan::Replay => Purpose::Replay,
                _ => Purpose::Record,
            },
            arrays: match plan {
                Plan::Module | Plan::Part(Part::Entries | Part::Calls | Part::Fields) => {
                    Arrays::Contents
                }
                _ => Arrays::Accesses,
            },
            id_field: carries && can_carry_id(&class) && !matches!(plan, Plan::Part(_)),
            kin: plan == Plan::Outside,
            references: References::Chosen,
        };
        if plan != Plan::Outside {
            return culprit_weave::observed(class, &world, settings, &self.numbers).unwrap();
        }
        let mut woven = culprit_weave::outside(class, &world, settings, &self.numbers).unwrap();
        if hook::is_hooked(&name, Purpose::Record) {
            let class = ClassFile::parse(&woven.bytes).unwrap();
            let hooked = hook::hook(class, Purpose::Record).unwrap();
            woven.bytes = hooked.unwrap_or_else(|| panic!("{name} lost the methods to hook"));
        }
        woven
    }
}

/// The class, set to another version if need be.
pub(crate) fn aged(class: &Class, major: Option<u16>) -> ClassFile {
    let mut file = ClassFile::parse(&class.bytes).unwrap();
    if let Some(major) = major {
        (file.major, file.minor) = (major, 3);
    }
    file
}

/// The world as the class being woven sees it.
struct Seen<'a> {
    plan: Plan,
    class: &'a str,
    /// It can be initialised again.
    reset: bool,
    module: &'a str,
    modules: &'a HashMap<String, String>,
}

/// Stands for some other class that is not observed.
const ELSEWHERE: &str = "elsewhere/Class";

impl World for Seen<'_> {
    fn is_reset(&self, class: &str) -> bool {
        class == self.class && self.reset
    }

    fn is_observed(&self, class: &str) -> bool {
        match self.plan {
            Plan::Together => true,
            Plan::Alone | Plan::Replay | Plan::Part(Part::Calls) => class == self.class,
            Plan::Module => self.modules.get(class).is_some_and(|m| m == self.module),
            Plan::Outside => class != self.class,
            Plan::Part(_) => class != ELSEWHERE,
        }
    }

    fn is_library(&self, _class: &str) -> bool {
        matches!(self.plan, Plan::Together | Plan::Module)
    }

    fn declaring(
        &self,
        _class: &str,
        kind: MemberKind,
        _name: &str,
        _descriptor: &str,
    ) -> Option<String> {
        match (self.plan, kind) {
            // Inherited by a class of threads.
            (Plan::Together, MemberKind::Method) => Some("java/lang/Thread".to_owned()),
            (Plan::Part(Part::Fields), MemberKind::Field) => Some(ELSEWHERE.to_owned()),
            (Plan::Part(_), _) => Some(self.class.to_owned()),
            _ => None,
        }
    }
}
