//! What is different between two versions of a class: members that were added, removed or changed.
//! A method is changed if its code does something else; lines, and where constants stand, do not
//! count.

use std::collections::BTreeMap;

use culprit_classfile::{ClassFile, Member, Result, listing};
use culprit_model::value::{class_of_descriptor, split_descriptor};

/// A class that is not what it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassChanges {
    /// Internal name.
    pub class: String,
    /// The class was not there before.
    pub is_new: bool,
    /// Its flags, its superclass or its interfaces are others.
    pub header: bool,
    /// What became of its members, fields first.
    pub members: Vec<(Change, String)>,
}

/// What became of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Added,
    Removed,
    Changed,
}

impl Change {
    pub fn name(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Changed => "changed",
        }
    }
}

/// What makes a member the same as before: its flags, and what it does.
type Traits = (u16, Vec<String>);

/// The members of a class by name and descriptor, in the order of the file.
type Members = Vec<((String, String), Traits)>;

/// What is different; `None` if nothing is.
pub(crate) fn compare(before: &[u8], after: &[u8]) -> Result<Option<ClassChanges>> {
    let (before, after) = (ClassFile::parse(before)?, ClassFile::parse(after)?);
    let mut members = Vec::new();
    for (old, new) in [
        (fields(&before)?, fields(&after)?),
        (methods(&before)?, methods(&after)?),
    ] {
        let known: BTreeMap<_, _> = new.iter().map(|(key, traits)| (key, traits)).collect();
        let had: BTreeMap<_, _> = old.iter().map(|(key, traits)| (key, traits)).collect();
        for (key, traits) in &old {
            match known.get(key) {
                None => members.push((Change::Removed, shown(key, &before)?)),
                Some(now) if *now != traits => {
                    members.push((Change::Changed, shown(key, &after)?));
                }
                Some(_) => {}
            }
        }
        for (key, _) in new.iter().filter(|(key, _)| !had.contains_key(key)) {
            members.push((Change::Added, shown(key, &after)?));
        }
    }
    let header = before.access != after.access
        || before.super_name()? != after.super_name()?
        || before.interface_names()? != after.interface_names()?;
    if members.is_empty() && !header {
        return Ok(None);
    }
    Ok(Some(ClassChanges {
        class: after.name()?.into_owned(),
        is_new: false,
        header,
        members,
    }))
}

fn fields(class: &ClassFile) -> Result<Members> {
    let fields = class.fields.iter();
    fields
        .map(|field| Ok((key(class, field)?, (field.access, Vec::new()))))
        .collect()
}

fn methods(class: &ClassFile) -> Result<Members> {
    let methods = class.methods.iter();
    methods
        .map(|method| {
            Ok((
                key(class, method)?,
                (method.access, listing(class, method)?),
            ))
        })
        .collect()
}

fn key(class: &ClassFile, member: &Member) -> Result<(String, String)> {
    let text = |index| Ok(class.pool.utf8(index)?.into_owned());
    Ok((text(member.name)?, text(member.descriptor)?))
}

/// A member as people write it: `total`, `charge(Order, int[])`, `Till(Clock)`.
fn shown((name, descriptor): &(String, String), class: &ClassFile) -> Result<String> {
    let Some((parameters, _)) = split_descriptor(descriptor) else {
        return Ok(name.clone());
    };
    let parameters: Vec<String> = parameters.into_iter().map(simple).collect();
    let parameters = parameters.join(", ");
    Ok(match name.as_str() {
        "<clinit>" => "static initialiser".to_owned(),
        "<init>" => format!("{}({parameters})", last(&class.name()?)),
        name => format!("{name}({parameters})"),
    })
}

/// The simple name of the type of a descriptor.
fn simple(descriptor: &str) -> String {
    let element = descriptor.trim_start_matches('[');
    let name = last(class_of_descriptor(element).unwrap_or(element));
    format!("{name}{}", "[]".repeat(descriptor.len() - element.len()))
}

fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
