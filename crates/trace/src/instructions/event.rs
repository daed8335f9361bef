//! The events of a stream, and their words.

/// The largest operand of an event: 27 bits.
pub const MAX_OPERAND: u32 = (1 << 27) - 1;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal, $words:literal;)*) => {
        /// The kind of an event. The Java runtime has the same numbers in `Trace.java`.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum EventKind { $($(#[doc = $doc])+ $name = $value),* }

        impl EventKind {
            /// All kinds, with the number of words that follow the first.
            pub const ALL: &[(EventKind, usize)] = &[$((EventKind::$name, $words)),*];

            /// The kind of a number, and the number of words that follow the first.
            pub fn of(number: u8) -> Option<(EventKind, usize)> {
                match number {
                    $($value => Some((EventKind::$name, $words)),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    /// A block begins. Operand: its number.
    Block = 1, 0;
    /// A method begins. Operand: the number of its first block. Then: the depth of the activation.
    Enter = 2, 1;
    /// An argument of one slot. Then: its value.
    ArgumentInt = 3, 1;
    /// An argument of two slots. Then: its low and its high half.
    ArgumentLong = 4, 2;
    /// An object as argument, or the receiver. Operand: its id.
    ArgumentObject = 5, 0;
    /// A field was read or written. Operand: the object, 0 for a static field. Then: the value.
    FieldInt = 6, 1;
    /// The same with a value of two slots.
    FieldLong = 7, 2;
    /// An element was read or written. Operand: the array. Then: the index, the value.
    ElementInt = 8, 2;
    /// The same with a value of two slots.
    ElementLong = 9, 3;
    /// A call has returned without a value. Operand: the depth of the caller.
    Result = 10, 0;
    /// A call has returned a value of one slot.
    ResultInt = 11, 1;
    /// A call has returned a value of two slots.
    ResultLong = 12, 2;
    /// A method returns without a value. Operand: its depth.
    Return = 13, 0;
    /// A method returns a value of one slot.
    ReturnInt = 14, 1;
    /// A method returns a value of two slots.
    ReturnLong = 15, 2;
    /// An exception leaves a method. Operand: the depth of the method. Then: the exception.
    Left = 16, 1;
    /// A handler begins. Operand: the number of its block. Then: the depth, the exception.
    Caught = 17, 2;
    /// `System.arraycopy` is done, before the result of its call. Operand: the source. Then: the position in it, the
    /// destination, the position in that, the length.
    Copied = 18, 4;
    /// `clone` is done, before the result of its call. Operand: the original. Then: the copy.
    Cloned = 19, 1;
    /// An instruction is done that has nothing else to report.
    Done = 20, 0;
    /// An array was made. Operand: its id.
    MadeArray = 21, 0;
    /// The object that a constructor call initialised, after the result of the call. Operand: its id.
    Initialised = 22, 0;
    /// Another thread had the events before this one. Then: the number of the turn.
    Turn = 23, 1;
    /// A statement of the script begins. Operand: its number.
    Statement = 24, 0;
}

/// An event of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event<'a> {
    /// What happened.
    pub kind: EventKind,
    /// Its operand.
    pub operand: u32,
    /// The words after the first, as many as the kind has.
    pub words: &'a [u32],
}

impl Event<'_> {
    /// A word after the first, 0 if the kind has fewer.
    pub fn word(&self, index: usize) -> u32 {
        self.words.get(index).copied().unwrap_or(0)
    }
}

/// The events in the words of a thread, up to the first that is none.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    words: &'a [u32],
}

impl<'a> Events<'a> {
    /// The events in some words.
    pub fn new(words: &'a [u32]) -> Events<'a> {
        Events { words }
    }

    /// The words that are no whole event, once the iterator has ended.
    pub fn rest(&self) -> &'a [u32] {
        self.words
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        let (first, rest) = self.words.split_first()?;
        let (kind, length) = EventKind::of((first >> 27) as u8)?;
        let (words, rest) = rest.split_at_checked(length)?;
        self.words = rest;
        Some(Event {
            kind,
            operand: first & MAX_OPERAND,
            words,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_has_the_same_kinds() {
        let source = include_str!("../../../../java/runtime/src/culprit/runtime/Trace.java");
        for (kind, _) in EventKind::ALL {
            let mut name = String::new();
            for (at, c) in format!("{kind:?}").char_indices() {
                if c.is_uppercase() && at > 0 {
                    name.push('_');
                }
                name.push(c.to_ascii_uppercase());
            }
            let line = format!(" {name} = {} << 27", *kind as u8);
            assert!(source.contains(&line), "{line}");
        }
    }

    #[test]
    fn words_that_are_no_event_end_the_stream() {
        let block = 1 << 27 | 5;
        let words = [block, 2 << 27, 3, 31 << 27, block];
        let mut events = Events::new(&words);
        let found: Vec<Event<'_>> = events.by_ref().collect();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].kind, found[0].operand), (EventKind::Block, 5));
        assert_eq!(
            (found[1].kind, found[1].words),
            (EventKind::Enter, &[3][..])
        );
        assert_eq!(events.rest().len(), 2);
        assert_eq!(Events::new(&[2 << 27]).count(), 0);
    }
}
