//! The result of `culprit slice`: lines of the program with their dependences, as text, JSON and a graph of Graphviz.

mod dot;
mod text;

use std::collections::BTreeSet;

use culprit_slice::{How, LineOrigin, LineSlice, Place, SliceDirection, SlicedLine};
use serde::{Deserialize, Serialize};

use crate::document::Content;

/// A slice and everything that its documents need besides.
pub struct SliceReport<'a> {
    /// The criterion, as the user writes it.
    pub from: String,
    /// The direction of the slice.
    pub direction: SliceDirection,
    /// The exception that ended the run, in one line; none if the run ended without.
    pub failure: Option<String>,
    /// The lines.
    pub slice: &'a LineSlice,
    /// The calls of the script in words, by their numbers.
    pub calls: &'a dyn Fn(u32) -> String,
    /// The text of a line, where its source file is found.
    pub code: &'a dyn Fn(&Place) -> Option<String>,
    /// The reason why the trace is not complete.
    pub partial: Option<String>,
    /// Methods of the program that ran and could not be traced.
    pub not_traced: Vec<String>,
}

/// Lines that a value or a failure depended on, or that depended on a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SliceDocument {
    /// The criterion that the slice starts from: `failure`, `result`, or a line such as `Order:25`.
    pub from: String,
    /// The direction of the slice.
    pub direction: DirectionEntry,
    /// The exception that ended the run, in one line; null if the run ended without.
    pub failure: Option<String>,
    /// The calls of the test in the slice.
    pub calls: Vec<CallEntry>,
    /// The lines of the program in the slice.
    pub lines: Vec<LineEntry>,
    /// Lines of the program that ran.
    pub lines_run: usize,
    /// The reason why the trace of the run is not complete; null if it is. Dependences are missing then.
    pub partial: Option<String>,
    /// Methods of the program that ran and could not be traced; dependences through them are missing.
    pub not_traced: Vec<String>,
}

impl Content for SliceDocument {
    const NAME: &'static str = "slice";
}

/// The direction of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DirectionEntry {
    /// To everything that the criterion depended on.
    Backward,
    /// To everything that depended on the criterion.
    Forward,
}

/// A call of the test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallEntry {
    /// Its id, which no line has.
    pub id: usize,
    /// The number of the call in the test, from 1.
    pub number: u32,
    /// The called method, or the operation.
    pub call: String,
    /// The calls and lines that it depended on.
    pub dependences: Vec<DependenceEntry>,
}

/// A line of the program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LineEntry {
    /// Its id, which no call has.
    pub id: usize,
    /// Its class.
    pub class: String,
    /// Its method.
    pub method: String,
    /// The descriptor of the method in the class file.
    pub descriptor: String,
    /// The name of the source file; null if the class does not have it.
    pub file: Option<String>,
    /// The line; null if the class has no line numbers. Then the entry stands for the method.
    pub line: Option<u16>,
    /// The text of the line; null if the source file was not found.
    pub code: Option<String>,
    /// True for a line of the criterion.
    pub is_criterion: bool,
    /// The calls and lines that it depended on.
    pub dependences: Vec<DependenceEntry>,
}

/// A dependence on a line or on a call of the test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DependenceEntry {
    /// The id of the line or of the call.
    pub on: usize,
    /// The kind of dependence.
    pub kind: DependenceKind,
    /// The variable, the field or the method; null for the other kinds.
    pub name: Option<String>,
}

/// The way in which a line depended on another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DependenceKind {
    /// It used a variable that was assigned there.
    Variable,
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
    /// It depended on the other line through code of a library.
    Library,
}

impl SliceReport<'_> {
    /// The slice for programs; the other forms are made of it.
    pub fn document(&self) -> SliceDocument {
        let (mut calls, mut lines) = (Vec::new(), Vec::new());
        for (id, line) in self.slice.lines.iter().enumerate() {
            let dependences = dependences(line);
            match &line.origin {
                LineOrigin::Statement(number) => calls.push(CallEntry {
                    id,
                    number: number + 1,
                    call: (self.calls)(*number),
                    dependences,
                }),
                LineOrigin::Line(place) => lines.push(LineEntry {
                    id,
                    class: place.class.replace('/', "."),
                    method: place.method.clone(),
                    descriptor: place.descriptor.clone(),
                    file: place.source.clone(),
                    line: place.line,
                    code: (self.code)(place),
                    is_criterion: self.slice.criterion.contains(&id),
                    dependences,
                }),
            }
        }
        SliceDocument {
            from: self.from.clone(),
            direction: match self.direction {
                SliceDirection::Backward => DirectionEntry::Backward,
                SliceDirection::Forward => DirectionEntry::Forward,
            },
            failure: self.failure.clone(),
            calls,
            lines,
            lines_run: self.slice.lines_run,
            partial: self.partial.clone(),
            not_traced: self.not_traced.clone(),
        }
    }
}

fn dependences(line: &SlicedLine) -> Vec<DependenceEntry> {
    let named = |kind, name: &str| (kind, Some(name.to_owned()));
    let entries = line.depends.iter().map(|it| {
        let (kind, name) = match &it.how {
            How::Variable(name) => named(DependenceKind::Variable, name),
            How::Field(name) => named(DependenceKind::Field, name),
            How::Static(name) => named(DependenceKind::StaticField, name),
            How::Element => (DependenceKind::Element, None),
            How::Result(name) => named(DependenceKind::Result, name),
            How::Value => (DependenceKind::Value, None),
            How::Object => (DependenceKind::Object, None),
            How::Exception => (DependenceKind::Exception, None),
            How::Branch => (DependenceKind::Branch, None),
            How::Call => (DependenceKind::Call, None),
            How::Library => (DependenceKind::Library, None),
        };
        DependenceEntry {
            on: it.on,
            kind,
            name,
        }
    });
    entries.collect()
}

impl DependenceEntry {
    /// The dependence in words, which the place follows.
    fn words(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        match self.kind {
            DependenceKind::Variable => format!("{name} from"),
            DependenceKind::Field => format!("field {name} from"),
            DependenceKind::StaticField => format!("static field {name} from"),
            DependenceKind::Element => "element from".to_owned(),
            DependenceKind::Result if name == "<init>" => "new object from".to_owned(),
            DependenceKind::Result => format!("result of {name} from"),
            DependenceKind::Value => "value from".to_owned(),
            DependenceKind::Object => "object from".to_owned(),
            DependenceKind::Exception => "exception from".to_owned(),
            DependenceKind::Branch => "branch at".to_owned(),
            DependenceKind::Call => "called at".to_owned(),
            DependenceKind::Library => "through libraries from".to_owned(),
        }
    }
}

impl LineEntry {
    /// The source file, or else the class.
    fn file(&self) -> &str {
        self.file.as_deref().unwrap_or(&self.class)
    }

    /// The class without its package, and the method.
    fn method(&self) -> String {
        let class = self.class.rsplit('.').next().unwrap_or_default();
        match self.method.as_str() {
            "<init>" => format!("new {class}"),
            "<clinit>" => format!("static initialiser of {class}"),
            method => format!("{class}.{method}"),
        }
    }

    /// The line with its file, or the method.
    fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file()),
            None => self.method(),
        }
    }
}

impl SliceDocument {
    /// The line of an id.
    fn line(&self, id: usize) -> Option<&LineEntry> {
        self.lines.iter().find(|it| it.id == id)
    }

    /// The call of an id.
    fn call(&self, id: usize) -> Option<&CallEntry> {
        self.calls.iter().find(|it| it.id == id)
    }

    /// Classes in the slice without line numbers.
    fn without_lines(&self) -> BTreeSet<&str> {
        let lines = self.lines.iter().filter(|it| it.line.is_none());
        lines.map(|it| it.class.as_str()).collect()
    }
}

#[cfg(test)]
mod tests;
