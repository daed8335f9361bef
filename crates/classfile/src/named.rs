//! Which other classes a class names: those that its code, its members or its supertypes mention by a class
//! constant or in a descriptor.

use std::collections::BTreeSet;

use crate::class::ClassFile;
use crate::error::Result;
use crate::pool::tag;

/// Internal names of the classes that a class file names, arrays by their elements. Names that stand in texts alone,
/// as for reflection, in annotations and in generic signatures, do not count.
pub fn named_classes(class: &ClassFile) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let pool = &class.pool;
    for index in 1..pool.count() {
        let index = index as u16;
        match pool.tag(index) {
            Some(tag::CLASS) => {
                let name = pool.class_name(index)?;
                match name.starts_with('[') {
                    true => in_descriptor(&name, &mut names),
                    false => drop(names.insert(name.into_owned())),
                }
            }
            Some(tag::NAME_AND_TYPE) => in_descriptor(&pool.name_and_type(index)?.1, &mut names),
            Some(tag::METHOD_TYPE) => in_descriptor(&pool.method_type(index)?, &mut names),
            _ => {}
        }
    }
    for member in class.fields.iter().chain(&class.methods) {
        in_descriptor(&pool.utf8(member.descriptor)?, &mut names);
    }
    names.remove(&*class.name()?);
    Ok(names)
}

/// The classes in a descriptor of a field or a method.
fn in_descriptor(descriptor: &str, names: &mut BTreeSet<String>) {
    let mut rest = descriptor;
    while let Some((_, from)) = rest.split_once('L') {
        let Some((name, after)) = from.split_once(';') else {
            return;
        };
        names.insert(name.to_owned());
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Member;
    use crate::pool::Pool;

    #[test]
    fn owners_class_constants_and_descriptors_are_names() {
        let mut pool = Pool::new();
        pool.add_method_ref("a/Owner", "m", "(I[[La/Argument;J)La/Result;")
            .unwrap();
        pool.add_class("[La/Element;").unwrap();
        pool.add_class("[I").unwrap();
        pool.add_string("La/Text;").unwrap();
        let class = ClassFile {
            minor: 0,
            major: 52,
            access: 0,
            this_class: pool.add_class("a/Self").unwrap(),
            super_class: pool.add_class("a/Base").unwrap(),
            interfaces: Vec::new(),
            fields: vec![Member {
                access: 0,
                name: pool.add_utf8("f").unwrap(),
                descriptor: pool.add_utf8("La/Field;").unwrap(),
                attributes: Vec::new(),
            }],
            methods: Vec::new(),
            attributes: Vec::new(),
            pool,
        };
        let names: Vec<String> = named_classes(&class).unwrap().into_iter().collect();
        assert_eq!(
            names,
            [
                "a/Argument",
                "a/Base",
                "a/Element",
                "a/Field",
                "a/Owner",
                "a/Result"
            ]
        );
    }
}
