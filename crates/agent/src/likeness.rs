//! The outline of a class whose bytes nobody saw, made of what the JVM tells of it: hidden classes
//! never come through the load hook.

use culprit_classfile::{ClassFile, Member, Pool, access};
use culprit_jvmti::{Declared, Jni, Jvmti, Local};

use crate::classes::{internal_name, plain_name};

/// Java 11: the first version that knows of nests, without which private members of interfaces
/// could not be called.
const MAJOR: u16 = 55;
/// Flags of a class as they are in the file; the JVM tells those of nested classes as well.
const CLASS_FLAGS: u16 = access::PUBLIC
    | access::FINAL
    | access::INTERFACE
    | access::ABSTRACT
    | access::SYNTHETIC
    | access::ANNOTATION
    | access::ENUM;
/// `ACC_SUPER`, which every class has that is no interface.
const SUPER: u16 = access::SYNCHRONIZED;

/// Draws a class. What the JVM does not tell, since the class is not linked yet, is left out.
pub(crate) fn draw(jvmti: Jvmti, jni: &Jni<'_>, class: &Local<'_>) -> Option<Vec<u8>> {
    let name_of = |class: &Local<'_>| {
        let signature = jvmti.class_signature(class).ok()?;
        Some(plain_name(internal_name(&signature)))
    };
    let mut pool = Pool::new();
    let this_class = pool.add_class(&name_of(class)?).ok()?;
    // Interfaces have `Object` in the file and no superclass in the JVM.
    let superclass = match jni.superclass(class) {
        Some(superclass) => name_of(&superclass)?,
        None => "java/lang/Object".to_owned(),
    };
    let super_class = pool.add_class(&superclass).ok()?;
    let mut interfaces = Vec::new();
    for interface in jvmti.interfaces(jni, class).unwrap_or_default() {
        interfaces.push(pool.add_class(&name_of(&interface)?).ok()?);
    }
    let mut member = |declared: &Declared| {
        Some(Member {
            access: declared.modifiers as u16,
            name: pool.add_utf8(&declared.name).ok()?,
            descriptor: pool.add_utf8(&declared.descriptor).ok()?,
            attributes: Vec::new(),
        })
    };
    let fields = jvmti.fields(class).unwrap_or_default();
    let fields = fields.iter().filter_map(&mut member).collect();
    let methods = jvmti.methods(class).unwrap_or_default();
    let methods = methods.iter().filter_map(&mut member).collect();
    let flags = jvmti.class_modifiers(class).ok()? as u16 & CLASS_FLAGS;
    let drawn = ClassFile {
        minor: 0,
        major: MAJOR,
        access: match flags & access::INTERFACE {
            0 => flags | SUPER,
            _ => flags,
        },
        this_class,
        super_class,
        interfaces,
        fields,
        methods,
        attributes: Vec::new(),
        pool,
    };
    drawn.write().ok()
}
