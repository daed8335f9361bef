//! Lambdas and method references.

use crate::TypeId;

/// A lambda or method reference, as its call site makes it. Its captured values are those the statement is
/// given, boxed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lambda {
    /// The method that is the body: its class, name and descriptor, and how it is called.
    pub body_class: TypeId,
    pub body_name: String,
    pub body_descriptor: String,
    pub kind: HandleKind,
    /// The class whose code has the call site, from which the body is accessible.
    pub written_in: TypeId,
    pub interface: TypeId,
    /// The method of the interface: its name, its descriptor, and the same with the types of this use.
    pub method: String,
    pub erased: String,
    pub exact: String,
}

macro_rules! handle_kinds {
    ($($(#[$doc:meta])* $variant:ident $code:literal $name:literal;)*) => {
        /// The kinds of method handles that a lambda can be made of; the numbers are those of class files.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum HandleKind { $($variant = $code),* }

        impl HandleKind {
            pub const ALL: &'static [HandleKind] = &[$(HandleKind::$variant),*];

            /// The word for it in the text of a script.
            pub fn name(self) -> &'static str {
                match self { $(HandleKind::$variant => $name),* }
            }
        }
    };
}

handle_kinds! {
    Virtual 5 "virtual";
    Static 6 "static";
    Special 7 "special";
    Constructor 8 "new";
    Interface 9 "interface";
}

impl HandleKind {
    pub fn from_code(code: u8) -> Option<HandleKind> {
        HandleKind::ALL
            .iter()
            .copied()
            .find(|kind| *kind as u8 == code)
    }
}
