//! Checks that a value is whole: it refers to what the tables define, and arrays have the contents that
//! their classes and lengths take.

use super::Problem;
use crate::site::TypeDef;
use crate::value::{Contents, Shape};
use crate::{BlobId, Reference, Tables, TypeId, Value};

impl Tables {
    /// Checks a value of a step or statement. A name fits every shape, since a primitive value may have one.
    pub fn check(&self, value: &Value) -> Result<(), Problem> {
        let Value::Reference(reference) = value else {
            return Ok(());
        };
        match reference {
            Reference::Null
            | Reference::String(_)
            | Reference::Redacted
            | Reference::Unknown
            | Reference::Piece(_) => Ok(()),
            Reference::Object { class, .. }
            | Reference::Class(class)
            | Reference::Constant { class, .. } => self.defined(*class).map(drop),
            Reference::Structure { class, fields } => {
                if self.defined(*class)?.fields.len() != fields.len() {
                    return Err(Problem::Fields(*class));
                }
                fields.iter().try_for_each(|field| self.check(field))
            }
            Reference::StringBlob(blob) => match self.blob_length(*blob)? % 2 {
                0 => Ok(()),
                _ => Err(Problem::HalfUnit(*blob)),
            },
            Reference::Enum { class, ordinal } => {
                match self.defined(*class)?.constants.get(*ordinal as usize) {
                    Some(_) => Ok(()),
                    None => Err(Problem::Constant(*class, *ordinal)),
                }
            }
            Reference::Boxed(value) => match value.shape() {
                Shape::Reference => Err(Problem::Boxed),
                _ => Ok(()),
            },
            Reference::Array {
                class,
                length,
                contents,
                ..
            } => {
                let element = self.defined(*class)?.name.strip_prefix('[');
                let shape = element.and_then(Shape::of);
                let shape = shape.ok_or(Problem::NoArray(*class))?;
                self.check_contents(contents, shape, *length)
            }
        }
    }

    fn defined(&self, id: TypeId) -> Result<&TypeDef, Problem> {
        self.class(id).ok_or(Problem::UnknownType(id))
    }

    fn blob_length(&self, id: BlobId) -> Result<usize, Problem> {
        let blob = self.blobs.get(&id).ok_or(Problem::UnknownBlob(id))?;
        Ok(blob.len())
    }

    fn check_contents(
        &self,
        contents: &Contents,
        shape: Shape,
        length: u32,
    ) -> Result<(), Problem> {
        let (from, known) = match contents {
            Contents::Part { from, known } => (Some(*from), &**known),
            whole => (None, whole),
        };
        let told = match known {
            Contents::Unknown => return Ok(()),
            Contents::Part { .. } => return Err(Problem::Length(length)),
            Contents::Elements(elements) => {
                for element in elements {
                    let is_name = matches!(element, Value::Reference(Reference::Object { .. }));
                    if element.shape() != shape && !is_name {
                        return Err(Problem::Element(shape));
                    }
                    self.check(element)?;
                }
                elements.len()
            }
            Contents::Blob(blob) => match (self.blob_length(*blob)?, shape.width()) {
                (bytes, Some(width)) if bytes % width == 0 => bytes / width,
                _ => return Err(Problem::Length(length)),
            },
        };
        let (told, length_told) = (told as u64, u64::from(length));
        let fits = match from {
            None => told == length_told,
            Some(from) => u64::from(from) + told <= length_told,
        };
        if fits {
            Ok(())
        } else {
            Err(Problem::Length(length))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Script;

    const TABLES: &str = "\
        script 1
        type 1 a/A
        type 2 a/Color {RED, GREEN}
        type 3 int[]
        type 5 java/lang/Object[]
        site 1 entry a/A.f(Ljava/lang/Object;)V
        blob 1 \"even\"
        blob 2 hex 00112233445566
";

    #[test]
    fn values_must_be_whole() {
        for (value, expect) in [
            ("#1:@9", "type 9 is not defined"),
            ("@9.class", "type 9 is not defined"),
            ("Color.2", "type 2 has no constant 2"),
            ("blob 9", "blob 9 is not defined"),
            ("blob 2", "blob 2 has half a character at its end"),
            ("box null", "a boxed value is not primitive"),
            ("#2:A{1}", "type 1 is not one of arrays"),
            (
                "#2:int[]{3: 1, 2}",
                "an array of length 3 has other contents",
            ),
            (
                "#2:int[]{3 from 2: 1, 2}",
                "an array of length 3 has other contents",
            ),
            (
                "#2:int[]{3 from 0 from 0: 1, 2}",
                "an array of length 3 has other contents",
            ),
            (
                "#2:int[]{1 in blob 2}",
                "an array of length 1 has other contents",
            ),
            (
                "#2:Object[]{4 in blob 1}",
                "an array of length 4 has other contents",
            ),
            (
                "#2:int[]{1L}",
                "an element of an array is not of the shape I",
            ),
            (
                "#2:Object[]{#3:int[]{null}}",
                "an element of an array is not of the shape I",
            ),
        ] {
            let text = format!("{TABLES}=> @1({value}) on #1:A");
            let script: Script = text.parse().unwrap();
            let found = script.check().unwrap_err().to_string();
            assert_eq!(found, format!("statement 0: {expect}"), "{value}");
        }
    }
}
