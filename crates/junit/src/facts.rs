//! Declarations of classes and members, from class files that the caller provides: access, overloads, exceptions,
//! nesting.

use culprit_classfile::{Attribute, ClassFile, Code, Error, Member, Pool, access};

/// The source of declarations. Names are internal: `java/util/Map$Entry`.
pub trait Classes {
    /// The facts of a class, or `None` where it cannot be found.
    fn class(&self, name: &str) -> Option<ClassFacts>;

    /// Its class file, for the bodies of lambdas. Without it, those are called by reflection.
    fn bytes(&self, _name: &str) -> Option<Vec<u8>> {
        None
    }
}

/// Classes whose bytes a function gives.
#[derive(Clone, Copy, Debug)]
pub struct ClassBytes<F>(pub F);

impl<F: Fn(&str) -> Option<Vec<u8>>> Classes for ClassBytes<F> {
    fn class(&self, name: &str) -> Option<ClassFacts> {
        ClassFacts::parse(&self.0(name)?).ok()
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.0(name)
    }
}

/// One class or interface.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassFacts {
    /// Internal name.
    pub name: String,
    /// Flags as in the class file; for a nested class those of the source.
    pub access: u16,
    pub superclass: Option<String>,
    pub interfaces: Vec<String>,
    /// Its place in another class; `None` for classes at the top level.
    pub nesting: Option<Nesting>,
    /// The generic signature, where it has one.
    pub signature: Option<String>,
    pub is_deprecated: bool,
    pub methods: Vec<MethodFacts>,
    pub fields: Vec<FieldFacts>,
}

/// The place of a class in another one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Nesting {
    /// The class around it; `None` for local and anonymous classes.
    pub outer: Option<String>,
    /// Its name in the source; `None` for anonymous classes.
    pub name: Option<String>,
}

/// A method or constructor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MethodFacts {
    pub access: u16,
    pub name: String,
    pub descriptor: String,
    pub signature: Option<String>,
    /// Internal names of what its `throws` names.
    pub exceptions: Vec<String>,
    /// Names of the parameters in the source, where the class file has them, otherwise empty.
    pub parameters: Vec<String>,
    pub is_deprecated: bool,
}

/// A field.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FieldFacts {
    pub access: u16,
    pub name: String,
    pub descriptor: String,
    pub signature: Option<String>,
    pub is_deprecated: bool,
}

impl ClassFacts {
    /// Reads a class file.
    pub fn parse(bytes: &[u8]) -> Result<ClassFacts, Error> {
        let file = ClassFile::parse(bytes)?;
        let name = file.name()?.into_owned();
        let mut access = file.access;
        let nesting = nesting(&file, &name).map(|(nesting, flags)| {
            access = flags;
            nesting
        });
        Ok(ClassFacts {
            access,
            superclass: file.super_name()?.map(|name| name.into_owned()),
            interfaces: file
                .interface_names()?
                .into_iter()
                .map(|name| name.into_owned())
                .collect(),
            nesting,
            signature: file
                .attribute("Signature")
                .and_then(|signature| text(&file.pool, signature, 0)),
            is_deprecated: file.attribute("Deprecated").is_some(),
            methods: file
                .methods
                .iter()
                .map(|method| method_facts(&file.pool, method))
                .collect::<Result<_, _>>()?,
            fields: file
                .fields
                .iter()
                .map(|field| field_facts(&file.pool, field))
                .collect::<Result<_, _>>()?,
            name,
        })
    }

    pub(crate) fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    pub(crate) fn is_interface(&self) -> bool {
        self.is(access::INTERFACE)
    }

    /// It declares type variables.
    pub(crate) fn is_generic(&self) -> bool {
        self.signature
            .as_ref()
            .is_some_and(|signature| signature.starts_with('<'))
    }

    /// The class whose instance every instance has around it.
    pub(crate) fn enclosing(&self) -> Option<&str> {
        let outer = self.nesting.as_ref()?.outer.as_deref()?;
        (!self.is(access::STATIC) && !self.is_interface()).then_some(outer)
    }
}

impl MethodFacts {
    pub(crate) fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// The compiler made it: source code cannot name it.
    pub(crate) fn is_synthetic(&self) -> bool {
        self.is(access::SYNTHETIC)
    }
}

fn method_facts(pool: &Pool, method: &Member) -> Result<MethodFacts, Error> {
    let exceptions = method
        .attribute(pool, "Exceptions")
        .map_or_else(Vec::new, |attribute| {
            let count = usize::from(u16_at(attribute, 0).unwrap_or(0));
            (0..count)
                .filter_map(|place| u16_at(attribute, 2 + 2 * place))
                .filter_map(|class| Some(pool.class_name(class).ok()?.into_owned()))
                .collect()
        });
    let descriptor = pool.utf8(method.descriptor)?.into_owned();
    Ok(MethodFacts {
        access: method.access,
        name: pool.utf8(method.name)?.into_owned(),
        signature: signature(pool, method),
        exceptions,
        parameters: parameters(pool, method, &descriptor).unwrap_or_default(),
        is_deprecated: method.attribute(pool, "Deprecated").is_some(),
        descriptor,
    })
}

fn field_facts(pool: &Pool, field: &Member) -> Result<FieldFacts, Error> {
    Ok(FieldFacts {
        access: field.access,
        name: pool.utf8(field.name)?.into_owned(),
        descriptor: pool.utf8(field.descriptor)?.into_owned(),
        signature: signature(pool, field),
        is_deprecated: field.attribute(pool, "Deprecated").is_some(),
    })
}

fn signature(pool: &Pool, member: &Member) -> Option<String> {
    text(pool, member.attribute(pool, "Signature")?, 0)
}

/// The entry of `InnerClasses` about the class itself, and its flags there.
fn nesting(file: &ClassFile, name: &str) -> Option<(Nesting, u16)> {
    let attribute = file.attribute("InnerClasses")?;
    let count = usize::from(u16_at(attribute, 0)?);
    (0..count).map(|entry| 2 + 8 * entry).find_map(|at| {
        let inner = file.pool.class_name(u16_at(attribute, at)?).ok()?;
        if inner != name {
            return None;
        }
        let outer = file.pool.class_name(u16_at(attribute, at + 2)?).ok();
        Some((
            Nesting {
                outer: outer.map(|outer| outer.into_owned()),
                name: text(&file.pool, attribute, at + 4),
            },
            u16_at(attribute, at + 6)?,
        ))
    })
}

/// Names of the parameters: from `MethodParameters`, or from the table of local variables.
fn parameters(pool: &Pool, method: &Member, descriptor: &str) -> Option<Vec<String>> {
    let (types, _) = culprit_model::value::split_descriptor(descriptor)?;
    if let Some(attribute) = method.attribute(pool, "MethodParameters") {
        let count = usize::from(*attribute.bytes.first()?);
        let names = (0..count).map(|place| text(pool, attribute, 1 + 4 * place));
        let names = names.collect::<Option<Vec<_>>>()?;
        return (names.len() == types.len()).then_some(names);
    }
    let code = Code::parse(method.attribute(pool, "Code")?, pool).ok()?;
    let locals = code
        .attributes
        .iter()
        .find(|attribute| attribute.is(pool, "LocalVariableTable"))?;
    let count = usize::from(u16_at(locals, 0)?);
    let mut slot = u16::from(method.access & access::STATIC == 0);
    types
        .iter()
        .map(|kind| {
            let name = (0..count).map(|entry| 2 + 10 * entry).find_map(|at| {
                let here = u16_at(locals, at)? == 0 && u16_at(locals, at + 8)? == slot;
                here.then(|| text(pool, locals, at + 4)).flatten()
            });
            slot += if matches!(*kind, "J" | "D") { 2 } else { 1 };
            name
        })
        .collect()
}

fn text(pool: &Pool, attribute: &Attribute, at: usize) -> Option<String> {
    Some(pool.utf8(u16_at(attribute, at)?).ok()?.into_owned())
}

fn u16_at(attribute: &Attribute, at: usize) -> Option<u16> {
    let bytes = attribute.bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}
