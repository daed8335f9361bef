//! Annotations: as much of them as is asked for.

use crate::reader::Reader;
use crate::{Error, Member, Pool, Result};

/// How deep annotation values may nest before we call them malformed.
const MAX_NESTING: u32 = 64;

/// The class, by its descriptor, that an annotation of a member gives for an element.
pub fn annotated_class(
    member: &Member,
    pool: &Pool,
    annotation: &str,
    element: &str,
) -> Option<String> {
    let attribute = member.attribute(pool, "RuntimeVisibleAnnotations")?;
    let found = class_in(&attribute.bytes, pool, annotation, element);
    found.ok().flatten()
}

/// Whether a method or field has an annotation.
pub fn is_annotated(member: &Member, pool: &Pool, annotation: &str) -> bool {
    let attribute = member.attribute(pool, "RuntimeVisibleAnnotations");
    attribute.is_some_and(|attribute| has(&attribute.bytes, pool, annotation).unwrap_or(false))
}

fn has(bytes: &[u8], pool: &Pool, annotation: &str) -> Result<bool> {
    let mut reader = Reader::new(bytes);
    for _ in 0..reader.u16()? {
        if pool.utf8(reader.clone().u16()?)? == annotation {
            return Ok(true);
        }
        skip_annotation(&mut reader, 0)?;
    }
    Ok(false)
}

fn class_in(bytes: &[u8], pool: &Pool, annotation: &str, element: &str) -> Result<Option<String>> {
    let mut reader = Reader::new(bytes);
    for _ in 0..reader.u16()? {
        let is_wanted = pool.utf8(reader.u16()?)? == annotation;
        for _ in 0..reader.u16()? {
            let name = reader.u16()?;
            let mut value = reader.clone();
            if is_wanted && pool.utf8(name)? == element && value.u8()? == b'c' {
                return Ok(Some(pool.utf8(value.u16()?)?.into_owned()));
            }
            skip_value(&mut reader, 0)?;
        }
    }
    Ok(None)
}

pub(crate) fn skip_annotation(reader: &mut Reader<'_>, depth: u32) -> Result<()> {
    reader.u16()?;
    for _ in 0..reader.u16()? {
        reader.u16()?;
        skip_value(reader, depth)?;
    }
    Ok(())
}

fn skip_value(reader: &mut Reader<'_>, depth: u32) -> Result<()> {
    if depth > MAX_NESTING {
        return Err(Error::BadAttribute("annotations"));
    }
    match reader.u8()? {
        b'e' => drop(reader.take(4)?),
        b'@' => skip_annotation(reader, depth + 1)?,
        b'[' => {
            for _ in 0..reader.u16()? {
                skip_value(reader, depth + 1)?;
            }
        }
        _ => drop(reader.take(2)?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_of_an_element_is_found_behind_other_elements() {
        let mut pool = Pool::default();
        let mut text = |text: &str| pool.add_utf8(text).unwrap();
        let (other, test) = (text("La/Other;"), text("Lorg/junit/Test;"));
        let (timeout, expected) = (text("timeout"), text("expected"));
        let (number, class) = (text("unused"), text("La/Bad;"));
        let mut bytes = vec![0, 2];
        // @Other(expected = {Bad.class}) @Test(timeout = .., expected = Bad.class)
        let words = |bytes: &mut Vec<u8>, words: &[u16]| {
            bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        };
        words(&mut bytes, &[other, 1, expected]);
        bytes.push(b'[');
        words(&mut bytes, &[1]);
        bytes.push(b'c');
        words(&mut bytes, &[class, test, 2, timeout]);
        bytes.push(b'J');
        words(&mut bytes, &[number, expected]);
        bytes.push(b'c');
        words(&mut bytes, &[class]);
        let found = |annotation, element| class_in(&bytes, &pool, annotation, element);
        let bad = Some("La/Bad;".to_owned());
        assert_eq!(found("Lorg/junit/Test;", "expected"), Ok(bad));
        assert_eq!(found("Lorg/junit/Test;", "timeout"), Ok(None));
        assert_eq!(found("La/Other;", "expected"), Ok(None));
        for end in 0..bytes.len() {
            assert!(class_in(&bytes[..end], &pool, "Lorg/junit/Test;", "expected").is_err());
        }
    }
}
