//! The dependences between the links of a chain.

use culprit_slice::How;
use serde::{Deserialize, Serialize};

/// The way in which the link before, or the failure, depended on a link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LinkDependence {
    /// The kind of dependence.
    pub kind: LinkDependenceKind,
    /// The variable, the field or the method; null for the other kinds.
    pub name: Option<String>,
}

/// The kind of a dependence between links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum LinkDependenceKind {
    /// It used a variable that was assigned there.
    Variable,
    /// It used an argument that was computed there.
    Argument,
    /// It read a field that was written there.
    Field,
    /// It read a static field that was written there.
    StaticField,
    /// It read an element of an array that was written there.
    Element,
    /// It used the result of a method, which ended or was called there.
    Result,
    /// It used a value that was computed there.
    Value,
    /// It reached into an object from there.
    Object,
    /// It was given an exception from there, or ran because of it.
    Exception,
    /// It ran because of a branch there.
    Branch,
    /// It ran because of a call there.
    Call,
    /// It depended on the link through code of a library.
    Library,
    /// It depended on the link through calls of the test.
    Test,
    /// It depended on the link through lines of the program that are not in the chain.
    Indirect,
}

impl LinkDependence {
    pub(super) fn of(dependence: &culprit_pinpoint::LinkDependence) -> LinkDependence {
        use culprit_pinpoint::LinkDependence as Found;
        let named = |kind, name: &str| (kind, Some(name.to_owned()));
        let (kind, name) = match dependence {
            Found::Direct(how) => match how {
                How::Variable(name) => named(LinkDependenceKind::Variable, name),
                How::Field(name) => named(LinkDependenceKind::Field, name),
                How::Static(name) => named(LinkDependenceKind::StaticField, name),
                How::Element => (LinkDependenceKind::Element, None),
                How::Result(name) => named(LinkDependenceKind::Result, name),
                How::Value => (LinkDependenceKind::Value, None),
                How::Object => (LinkDependenceKind::Object, None),
                How::Exception => (LinkDependenceKind::Exception, None),
                How::Branch => (LinkDependenceKind::Branch, None),
                How::Call => (LinkDependenceKind::Call, None),
                How::Library => (LinkDependenceKind::Library, None),
            },
            Found::Argument => (LinkDependenceKind::Argument, None),
            Found::Test => (LinkDependenceKind::Test, None),
            Found::Library => (LinkDependenceKind::Library, None),
            Found::Indirect => (LinkDependenceKind::Indirect, None),
        };
        LinkDependence { kind, name }
    }

    /// The dependence as a few words: `field total`.
    pub(super) fn words(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        match self.kind {
            LinkDependenceKind::Variable => format!("variable {name}"),
            LinkDependenceKind::Argument => "argument".to_owned(),
            LinkDependenceKind::Field => format!("field {name}"),
            LinkDependenceKind::StaticField => format!("static field {name}"),
            LinkDependenceKind::Element => "element of an array".to_owned(),
            LinkDependenceKind::Result if name == "<init>" => "new object".to_owned(),
            LinkDependenceKind::Result => format!("result of {name}"),
            LinkDependenceKind::Value => "value".to_owned(),
            LinkDependenceKind::Object => "object".to_owned(),
            LinkDependenceKind::Exception => "exception".to_owned(),
            LinkDependenceKind::Branch => "branch".to_owned(),
            LinkDependenceKind::Call => "call".to_owned(),
            LinkDependenceKind::Library => "through a library".to_owned(),
            LinkDependenceKind::Test => "through calls of the test".to_owned(),
            LinkDependenceKind::Indirect => "through other lines".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use culprit_pinpoint::LinkDependence as Found;

    use super::*;

    #[test]
    fn dependences_are_named_as_in_the_source() {
        let words = |found| LinkDependence::of(&found).words();
        let field = Found::Direct(How::Field("total".to_owned()));
        assert_eq!(words(field), "field total");
        let made = Found::Direct(How::Result("<init>".to_owned()));
        assert_eq!(words(made), "new object");
        assert_eq!(words(Found::Argument), "argument");
        assert_eq!(words(Found::Indirect), "through other lines");
    }
}
