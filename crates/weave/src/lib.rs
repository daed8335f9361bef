//! Which probes go where in a class. One plan for classes of the observed set, one for all other
//! classes of the program, and the hooks that report failures.
//!
//! Knows the class file and the probes of the Java runtime; knows no JVM. What it must be told
//! about other classes comes through [`World`].
#![forbid(unsafe_code)]

pub mod ahead;
mod calls;
pub mod change;
pub mod coupling;
mod detour;
pub mod follow;
mod fresh;
mod given;
mod handback;
pub mod hook;
mod identity;
pub mod library;
pub mod lines;
mod loading;
mod locks;
mod method;
mod observed;
pub mod outline;
mod outside;
pub mod probe;
mod raise;
mod reference;
mod reflection;
pub mod stand_in;
pub mod statics;
mod strings;
pub mod stub;
pub mod trace;

pub use outline::Outline;
pub use reference::{Reference, References};

use std::sync::atomic::{AtomicU32, Ordering};

use culprit_classfile::{ClassFile, access};
use culprit_model::observe::is_jdk_name;
use culprit_model::options::Arrays;
use culprit_model::{Member, Site, SiteId, SiteKind};

/// The field that carries an object's id; the same name is in `ClassInfo.java`.
pub const ID_FIELD: &str = "$culprit$id";

/// Why a class could not be woven.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    ClassFile(#[from] culprit_classfile::Error),
    #[error("descriptor `{0}` is malformed")]
    Descriptor(String),
    #[error("there is no probe `{0}`")]
    NoProbe(String),
    #[error("{0}")]
    Ahead(&'static str),
    #[error("cannot be answered on replay: {0}")]
    Detour(&'static str),
    #[error("method references: {0}")]
    References(&'static str),
    #[error("cannot be traced: {0}")]
    Trace(&'static str),
}

/// What weaving needs to know about other classes of the program.
pub trait World {
    /// Whether a class, by its internal name, belongs to the observed set.
    fn is_observed(&self, class: &str) -> bool;

    /// Whether a class belongs to the JDK, so that the lists of [`library`] say what it is to a
    /// recording. Every other class that is not observed is external. Code of the JDK outside of
    /// `java` packages, such as that of its compiler, may be observed.
    fn is_library(&self, class: &str) -> bool {
        is_jdk_name(class) && (class.starts_with("java/") || !self.is_observed(class))
    }

    /// Whether a class is initialised again for each scenario.
    fn is_reset(&self, _class: &str) -> bool {
        false
    }

    /// Whether some loader has a class. A replay has those that were loaded when it was recorded.
    fn can_load(&self, _class: &str) -> bool {
        true
    }

    /// The class that declares a member, looked for from `class` upwards. `None` where the search
    /// comes to a class that is not loaded yet. A class of the JDK ends it.
    fn declaring(
        &self,
        class: &str,
        kind: MemberKind,
        name: &str,
        descriptor: &str,
    ) -> Option<String>;
}

/// What kind of member is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberKind {
    Field,
    Method,
}

/// What classes are woven for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purpose {
    /// The program runs, and what crosses the border is recorded.
    #[default]
    Record,
    /// The observed code runs alone: what leaves it is recorded as ever, but answered.
    Replay,
}

/// How to weave one class.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    pub purpose: Purpose,
    pub arrays: Arrays,
    /// No superclass carries the id field, so this class gets it.
    pub id_field: bool,
    /// Related by inheritance to an observed class without being observed: all its methods are
    /// watched from inside.
    pub kin: bool,
    pub references: References<'a>,
    /// Where lines are counted, if they are.
    pub lines: Option<&'a lines::LineCounters>,
    /// Names and descriptors of methods that other agents have added. They stay as they are: what
    /// they do is none of the program's doing.
    pub strangers: &'a [(String, String)],
}

/// Numbers for sites, unique in a JVM.
#[derive(Debug)]
pub struct SiteNumbers(AtomicU32);

impl Default for SiteNumbers {
    fn default() -> SiteNumbers {
        SiteNumbers(AtomicU32::new(1))
    }
}

impl SiteNumbers {
    /// Numbers from `first` on.
    pub(crate) fn starting_at(first: u32) -> SiteNumbers {
        SiteNumbers(AtomicU32::new(first))
    }

    fn next(&self) -> SiteId {
        SiteId(self.0.fetch_add(1, Ordering::Relaxed))
    }

    /// A site for accesses to a field by reflection, which no code names.
    pub fn reflective_site(&self, target: Member, is_static: bool) -> Site {
        Site {
            id: self.next(),
            kind: SiteKind::Field,
            class: "java/lang/reflect/Field".to_owned(),
            method: String::new(),
            descriptor: String::new(),
            line: None,
            source: None,
            target,
            is_static,
        }
    }
}

/// A woven class.
#[derive(Debug)]
pub struct Woven {
    pub bytes: Vec<u8>,
    pub sites: Vec<Site>,
    /// The method references that were given bodies.
    pub references: Vec<Reference>,
    /// Methods that stay as they were, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Weaves a class of the observed set.
pub fn observed(
    class: ClassFile,
    world: &dyn World,
    settings: Settings<'_>,
    numbers: &SiteNumbers,
) -> Result<Woven, Error> {
    let own = class.name()?.into_owned();
    let natives = method::natives(&class)?;
    method::weave_class(
        class,
        settings,
        numbers,
        |opcode, target| {
            target.name == "<init>" && world.is_observed(target.owner)
                || calls::may_leave(opcode, target, &own, &natives, world)
        },
        |weaver| observed::weave(weaver, world, settings),
        |class| {
            if settings.purpose == Purpose::Record {
                return Ok(());
            }
            locks::gate_methods(class)?;
            statics::prepare(class, world)
        },
    )
}

/// Weaves any other class of the program.
pub fn outside(
    class: ClassFile,
    world: &dyn World,
    settings: Settings<'_>,
    numbers: &SiteNumbers,
) -> Result<Woven, Error> {
    let own = class.name()?.into_owned();
    // Whatever a reference names: run by live library code it is a call on behalf of observed code.
    // The code of a lambda is a method already.
    method::weave_class(
        class,
        settings,
        numbers,
        |_, target| !(target.owner == own && target.name.starts_with("lambda$")),
        |weaver| outside::weave(weaver, world, settings),
        |_| Ok(()),
    )
}

/// Adds the members that weaving added, and nothing else.
pub fn add_members(
    mut class: ClassFile,
    id_field: bool,
    references: &[Reference],
) -> Result<Vec<u8>, Error> {
    if id_field {
        let field = method::id_field(&mut class.pool)?;
        class.fields.push(field);
        identity::add_hash(&mut class)?;
    }
    reference::add_bodies(&mut class, references)?;
    Ok(class.write()?)
}

/// Whether instances of the class can carry the id field.
pub fn can_carry_id(class: &ClassFile) -> bool {
    class.access & (access::INTERFACE | access::MODULE) == 0
}
