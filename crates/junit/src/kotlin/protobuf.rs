//! Messages in the encoding of Protocol Buffers, as far as the metadata of Kotlin needs it.

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The fields of a message, in order, with their numbers.
pub(crate) struct Message<'b> {
    pub(crate) fields: Vec<(u64, Field<'b>)>,
}

impl<'b> Message<'b> {
    /// `None` if the bytes are no message.
    pub(crate) fn parse(mut bytes: &'b [u8]) -> Option<Message<'b>> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = number(&mut bytes)?;
            let value = match key & 7 {
                0 => Field::Number(number(&mut bytes)?),
                1 => Field::Bytes(take(&mut bytes, 8)?),
                2 => Field::Bytes(delimited(&mut bytes)?),
                5 => Field::Bytes(take(&mut bytes, 4)?),
                _ => return None,
            };
            fields.push((key >> 3, value));
        }
        Some(Message { fields })
    }

    pub(crate) fn number(&self, field: u64) -> Option<u64> {
        self.fields.iter().find_map(|(number, value)| match value {
            Field::Number(value) if *number == field => Some(*value),
            _ => None,
        })
    }

    /// The messages of a field.
    pub(crate) fn messages(&self, field: u64) -> impl Iterator<Item = Message<'b>> + '_ {
        let fields = self.fields.iter();
        fields.filter_map(move |(number, value)| match value {
            Field::Bytes(bytes) if *number == field => Message::parse(bytes),
            _ => None,
        })
    }

    pub(crate) fn message(&self, field: u64) -> Option<Message<'b>> {
        self.messages(field).next()
    }

    pub(crate) fn text(&self, field: u64) -> Option<String> {
        self.fields.iter().find_map(|(number, value)| match value {
            Field::Bytes(bytes) if *number == field => String::from_utf8(bytes.to_vec()).ok(),
            _ => None,
        })
    }

    /// The numbers of a field, packed or not.
    pub(crate) fn numbers(&self, field: u64) -> Vec<u64> {
        let mut all = Vec::new();
        for (_, value) in self.fields.iter().filter(|(number, _)| *number == field) {
            match value {
                Field::Number(value) => all.push(*value),
                Field::Bytes(bytes) => {
                    let mut bytes = *bytes;
                    while let Some(value) = number(&mut bytes) {
                        all.push(value);
                    }
                }
            }
        }
        all
    }
}

/// A part of a message that begins with its length.
pub(crate) fn delimited<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = number(bytes)?;
    take(bytes, usize::try_from(length).ok()?)
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let taken = bytes.get(..count)?;
    *bytes = &bytes[count..];
    Some(taken)
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << (7 * place);
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_numbers_and_parts() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 0x02, 0x08, 0x05, 0x1a, 0x02, 1, 2];
        let message = Message::parse(&bytes).unwrap();
        assert_eq!(message.number(1), Some(150));
        assert_eq!(message.message(2).unwrap().number(1), Some(5));
        assert_eq!(message.numbers(3), [1, 2]);
        assert!(Message::parse(&bytes[..2]).is_none());
    }
}
