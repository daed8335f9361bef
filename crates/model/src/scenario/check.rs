//! Whether a scenario makes sense: calls and their ends nest, steps refer to what is there, and
//! their values are those that their sites ask for. Editing a scenario can break each of these, and
//! an executor relies on all of them.
//!
//! A step may be less deep than calls are open: then the inner ones ended unseen, as they can in a
//! recording. So who takes the end of a call out of a scenario must take out the call as well.

use std::collections::BTreeMap;
use std::fmt;

use super::{Scenario, Step, Tables};
use crate::site::TypeDef;
use crate::value::{Contents, Shape};
use crate::{BlobId, EventKind, Reference, SiteId, ThreadId, TypeId, Value};

/// Something in a scenario does not fit the rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inconsistency {
    /// The step, from 0; `None` where the tables are wrong.
    pub step: Option<usize>,
    pub problem: Problem,
}

/// What does not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    UnknownSite(SiteId),
    UnknownThread(ThreadId),
    UnknownType(TypeId),
    UnknownBlob(BlobId),
    /// A site cannot have steps of this kind.
    Kind(EventKind, SiteId),
    /// The depth of the step, and the calls of its thread that are open, which are fewer.
    Depth(u32, u32),
    /// Observed code runs at odd depths, other code at even ones; the step belongs to the others.
    Side(EventKind, u32),
    /// The end of a call that is not the innermost open one, which is this if there is any.
    End(Option<SiteId>),
    /// So many values, where the site asks for so many.
    Count(usize, usize),
    /// The value with this number, from 0, is not of this shape.
    Shape(usize, Shape),
    /// An element of an array is not of this shape.
    Element(Shape),
    /// The class of an array is not one of arrays.
    NoArray(TypeId),
    /// An array of this length has other contents.
    Length(u32),
    /// A string in a blob has half a unit at its end.
    HalfUnit(BlobId),
    /// The enum has no such constant.
    Constant(TypeId, u32),
    /// A boxed value is not primitive.
    Boxed,
    /// A state has other fields than its class.
    Fields(TypeId),
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = self.step {
            write!(f, "step {step}: ")?;
        }
        match &self.problem {
            Problem::UnknownSite(id) => write!(f, "{id} is not defined"),
            Problem::UnknownThread(id) => write!(f, "thread {id} is not defined"),
            Problem::UnknownType(id) => write!(f, "{id} is not defined"),
            Problem::UnknownBlob(id) => write!(f, "{id} is not defined"),
            Problem::Kind(kind, id) => write!(f, "{id} cannot have a step {}", kind.name()),
            Problem::Depth(depth, open) => {
                write!(
                    f,
                    "depth {depth}, but only {open} calls of the thread are open"
                )
            }
            Problem::Side(kind, depth) => write!(
                f,
                "{} at depth {depth}, where {} code runs",
                kind.name(),
                if depth % 2 == 0 {
                    "external"
                } else {
                    "observed"
                }
            ),
            Problem::End(Some(open)) => write!(f, "the innermost open call is that of {open}"),
            Problem::End(None) => write!(f, "no call of the thread is open"),
            Problem::Count(found, asked) => {
                write!(f, "{found} values, but its site asks for {asked}")
            }
            Problem::Shape(place, shape) => {
                write!(f, "value {place} is not of the shape {}", shape.code())
            }
            Problem::Element(shape) => {
                write!(
                    f,
                    "an element of an array is not of the shape {}",
                    shape.code()
                )
            }
            Problem::NoArray(id) => write!(f, "{id} is not one of arrays"),
            Problem::Length(length) => {
                write!(f, "an array of length {length} has other contents")
            }
            Problem::HalfUnit(id) => write!(f, "{id} has half a character at its end"),
            Problem::Constant(id, ordinal) => write!(f, "{id} has no constant {ordinal}"),
            Problem::Fields(id) => write!(f, "a state has other fields than {id}"),
            Problem::Boxed => write!(f, "a boxed value is not primitive"),
        }
    }
}

impl std::error::Error for Inconsistency {}

impl Scenario {
    /// Whether everything fits together; the first thing that does not.
    pub fn check(&self) -> Result<(), Inconsistency> {
        let mut checker = Checker::with_blobs(&self.tables);
        self.steps.iter().try_for_each(|step| checker.step(step))
    }
}

/// Checks steps, one after the other.
#[derive(Debug)]
pub struct Checker<'t> {
    tables: &'t Tables,
    threads: BTreeMap<ThreadId, Vec<OpenCall>>,
    /// `None` where they are kept elsewhere, and then not looked at.
    blobs: Option<&'t BTreeMap<BlobId, Vec<u8>>>,
    /// Scalars may have names, as in scripts.
    names_scalars: bool,
    steps: usize,
}

/// A call that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OpenCall {
    kind: EventKind,
    site: SiteId,
}

impl<'t> Checker<'t> {
    /// A checker of steps that refer to these tables, and to blobs that are elsewhere.
    pub fn new(tables: &'t Tables) -> Checker<'t> {
        let threads = tables.threads.iter();
        Checker {
            tables,
            threads: threads.map(|(id, _)| (*id, Vec::new())).collect(),
            blobs: None,
            names_scalars: false,
            steps: 0,
        }
    }

    /// A checker of steps that refer to these tables and their blobs.
    pub fn with_blobs(tables: &'t Tables) -> Checker<'t> {
        Checker {
            blobs: Some(&tables.blobs),
            ..Checker::new(tables)
        }
    }

    /// A checker of values in statements of a script.
    pub fn of_script(tables: &'t Tables) -> Checker<'t> {
        Checker {
            names_scalars: true,
            ..Checker::with_blobs(tables)
        }
    }

    /// Checks the next step.
    pub fn step(&mut self, step: &Step) -> Result<(), Inconsistency> {
        let place = self.steps;
        self.steps += 1;
        let checked = self.nesting(step).and_then(|()| self.values(step));
        checked.map_err(|problem| Inconsistency {
            step: Some(place),
            problem,
        })
    }

    fn nesting(&mut self, step: &Step) -> Result<(), Problem> {
        let Some(open) = self.threads.get_mut(&step.thread) else {
            return Err(Problem::UnknownThread(step.thread));
        };
        if step.depth as usize > open.len() {
            return Err(Problem::Depth(step.depth, open.len() as u32));
        }
        // Calls that are deeper ended unseen.
        open.truncate(step.depth as usize);
        // The state of an object is told on the side from which somebody looks at it.
        let either = matches!(
            step.kind,
            EventKind::ObjectState | EventKind::Held | EventKind::Born
        );
        if !either && step.depth % 2 != u32::from(is_inside(step.kind)) {
            return Err(Problem::Side(step.kind, step.depth));
        }
        let (kind, site) = (step.kind, step.site);
        if kind.opens() {
            open.push(OpenCall { kind, site });
        } else if let Some(kind) = kind.opened_by() {
            let innermost = open.pop();
            if innermost != Some(OpenCall { kind, site }) {
                return Err(Problem::End(innermost.map(|open| open.site)));
            }
        }
        Ok(())
    }

    fn values(&self, step: &Step) -> Result<(), Problem> {
        if step.kind.is_aside() && step.site == SiteId(0) {
            // Told before the first call, or of no place.
            return step.values.iter().try_for_each(|value| self.value(value));
        }
        let site = self.tables.site(step.site);
        let site = site.ok_or(Problem::UnknownSite(step.site))?;
        let mut shapes = site
            .shapes(step.kind)
            .ok_or(Problem::Kind(step.kind, step.site))?;
        if step.kind.is_list() {
            // As many as it takes.
            shapes.resize(step.values.len().max(1), Shape::Reference);
        }
        if shapes.len() != step.values.len() {
            return Err(Problem::Count(step.values.len(), shapes.len()));
        }
        for (place, (value, shape)) in step.values.iter().zip(shapes).enumerate() {
            // The instructions of byte arrays serve boolean arrays as well.
            let boolean = shape == Shape::Byte && self.accesses_booleans(step);
            let shape = if boolean { Shape::Boolean } else { shape };
            if value.shape() != shape {
                return Err(Problem::Shape(place, shape));
            }
            self.value(value)?;
        }
        Ok(())
    }

    fn accesses_booleans(&self, step: &Step) -> bool {
        let access = matches!(step.kind, EventKind::ArrayRead | EventKind::ArrayWrite);
        match step.values.first() {
            Some(Value::Reference(Reference::Array { class, .. })) if access => {
                self.element(*class) == Ok(Shape::Boolean)
            }
            _ => false,
        }
    }

    fn class(&self, id: TypeId) -> Result<&'t TypeDef, Problem> {
        self.tables.class(id).ok_or(Problem::UnknownType(id))
    }

    /// The shape of the elements of an array class.
    fn element(&self, class: TypeId) -> Result<Shape, Problem> {
        let name = &self.class(class)?.name;
        let element = name.strip_prefix('[').and_then(Shape::of);
        element.ok_or(Problem::NoArray(class))
    }

    /// Length of a blob; `None` where blobs are elsewhere.
    fn blob(&self, id: BlobId) -> Result<Option<usize>, Problem> {
        let Some(blobs) = self.blobs else {
            return Ok(None);
        };
        let blob = blobs.get(&id).ok_or(Problem::UnknownBlob(id))?;
        Ok(Some(blob.len()))
    }

    pub(crate) fn value(&self, value: &Value) -> Result<(), Problem> {
        let Value::Reference(reference) = value else {
            return Ok(());
        };
        match reference {
            Reference::Null | Reference::String(_) | Reference::Redacted | Reference::Unknown => {
                Ok(())
            }
            Reference::Object { class, .. }
            | Reference::Class(class)
            | Reference::Constant { class, .. } => self.class(*class).map(drop),
            Reference::Piece(_) => Ok(()),
            Reference::Structure { class, fields } => {
                let declared = &self.class(*class)?.fields;
                if declared.len() != fields.len() {
                    return Err(Problem::Fields(*class));
                }
                fields.iter().try_for_each(|field| self.value(field))
            }
            Reference::StringBlob(blob) => match self.blob(*blob)? {
                Some(length) if length % 2 != 0 => Err(Problem::HalfUnit(*blob)),
                _ => Ok(()),
            },
            Reference::Enum { class, ordinal } => {
                match self.class(*class)?.constants.get(*ordinal as usize) {
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
                let shape = self.element(*class)?;
                self.contents(contents, shape, *length)
            }
        }
    }

    fn contents(&self, contents: &Contents, shape: Shape, length: u32) -> Result<(), Problem> {
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
                    if element.shape() != shape && !(is_name && self.names_scalars) {
                        return Err(Problem::Element(shape));
                    }
                    self.value(element)?;
                }
                elements.len()
            }
            Contents::Blob(blob) => match (self.blob(*blob)?, shape.width()) {
                (None, Some(_)) => return Ok(()),
                (Some(bytes), Some(width)) if bytes % width == 0 => bytes / width,
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

/// Whether observed code runs while it does this.
fn is_inside(kind: EventKind) -> bool {
    match kind {
        EventKind::IncomingReturn
        | EventKind::IncomingThrow
        | EventKind::OutgoingCall
        | EventKind::OutgoingRead
        | EventKind::OutgoingWrite
        | EventKind::ArrayRead
        | EventKind::ArrayWrite
        | EventKind::Constructed
        | EventKind::IdentityHash
        | EventKind::ObjectState
        | EventKind::Held
        | EventKind::Born
        | EventKind::Apart => true,
        EventKind::IncomingCall
        | EventKind::IncomingRead
        | EventKind::IncomingWrite
        | EventKind::OutgoingReturn
        | EventKind::OutgoingThrow
        | EventKind::ArrayContents => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "\
        scenario 1
        type 1 a/A
        type 2 a/Color {RED, GREEN}
        type 3 int[]
        type 4 boolean[]
        type 5 java/lang/Object[]
        thread 1 main
        thread 2 pool
        site 1 entry a/A.f(ILjava/lang/Object;)J
        site 2 call static b/B.g(Ljava/lang/Object;)V in a/A.f(ILjava/lang/Object;)J
        site 3 field b/B.x:I in a/A.f(ILjava/lang/Object;)J
        site 4 array :B in a/A.f(ILjava/lang/Object;)J
        site 5 field a/A.y:I in b/B.main()V
        site 6 entry a/A.<init>()V
        blob 1 \"even\"
        blob 2 hex 00112233445566
";

    /// What the check says of these steps.
    #[track_caller]
    fn check(steps: &str, expect: &str) {
        let scenario: Scenario = format!("{TABLES}{steps}").parse().unwrap();
        let found = scenario.check().err().map(|error| error.to_string());
        assert_eq!(found.unwrap_or_default(), expect, "{steps}");
    }

    #[test]
    fn what_makes_sense_passes() {
        check(
            "t1 => new A@6()
             t1   == this @6 = #1:A
             t1 <= new A@6 = #1:A
             t1 => A.f@1(5, \"x\") on #1:A
             t1   -> B.g@2(#2:int[]{2 unknown})
             t2 => get A.y@5 on #1:A = 7
             t1     == array @2 = #2:int[]{2 from 1: 9}
             t1     => set A.y@5 on #1:A = 8
             t1   <- B.g@2
             t1   == hash @2 on #1:A = 77
             t1   -> get B.x@3 on #3:A = 1
             t1   -> set[] @4(0) on #4:boolean[]{1 unknown} = true
             t1   -> B.g@2(Color.GREEN)
             t1   <-! B.g@2 = #5:A
             t1   -> B.g@2(#6:Object[]{blob 1, box 'x', #7:int[]{1, 2}})
             t1   <- B.g@2
             t1 <= A.f@1 = 5L",
            "",
        );
    }

    #[test]
    fn nesting_that_is_broken_is_found_at_its_step() {
        check(
            "t1 <= @1 = 5L",
            "step 0: incoming-return at depth 0, where external code runs",
        );
        check(
            "t1 depth 1 <= @1 = 5L",
            "step 0: depth 1, but only 0 calls of the thread are open",
        );
        check(
            "t1 -> @2(null)",
            "step 0: outgoing-call at depth 0, where external code runs",
        );
        check(
            "t1 => new A@6()
             t1 => get @5 on #1:A = 1",
            "step 1: incoming-read at depth 1, where observed code runs",
        );
        check(
            "t1 => new A@6()
             t1   -> @2(null)
             t1 <= @6 = #1:A",
            "step 2: incoming-return at depth 2, where external code runs",
        );
        check(
            "t1 => new A@6()
             t1 <= @1 = 5L",
            "step 1: the innermost open call is that of site 6",
        );
        check("t3 => new A@6()", "step 0: thread t3 is not defined");
    }

    #[test]
    fn calls_may_end_unseen() {
        check(
            "t1 => new A@6()
             t1   -> @2(null)
             t1     => @1(5, null) on #1:A
             t1 depth 1 <= @6 = #1:A
             t1 => new A@6()",
            "",
        );
    }

    #[test]
    fn sites_must_be_known_and_fit() {
        check("t1 => @9()", "step 0: site 9 is not defined");
        check(
            "t1 => @2(null)",
            "step 0: site 2 cannot have a step incoming-call",
        );
        check("t1 => @1(5)", "step 0: 1 values, but its site asks for 3");
        check(
            "t1 => @1(5L, null) on #1:A",
            "step 0: value 1 is not of the shape I",
        );
        check(
            "t1 => new A@6()
             t1   -> get[] @4(0) on #4:boolean[]{1 unknown} = 1b",
            "step 1: value 2 is not of the shape Z",
        );
    }

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
            check(
                &format!("t1 => @1(5, {value}) on #1:A"),
                &format!("step 0: {expect}"),
            );
        }
    }
}
