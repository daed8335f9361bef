//! Consistency of recordings: calls and their ends nest, events refer to what is defined, and their values are
//! those that their sites take.
//!
//! An event may be less deep than calls are open: then the inner ones ended unseen.

use std::collections::BTreeMap;

use culprit_model::value::Shape;
use culprit_model::{EventKind, Reference, Scenario, SiteId, Step, Tables, ThreadId, Value};

/// Checks a recording as a scenario; the first problem found.
pub(crate) fn check(scenario: &Scenario) -> Result<(), String> {
    let threads = scenario.tables.threads.iter();
    let mut checker = Checker {
        tables: &scenario.tables,
        open: threads.map(|(id, _)| (*id, Vec::new())).collect(),
    };
    for (number, step) in scenario.steps.iter().enumerate() {
        let checked = checker.nesting(step).and_then(|()| checker.values(step));
        checked.map_err(|problem| format!("step {number}: {problem}"))?;
    }
    Ok(())
}

struct Checker<'t> {
    tables: &'t Tables,
    /// The open calls of each thread, by the kind and the site of the step that opened them.
    open: BTreeMap<ThreadId, Vec<(EventKind, SiteId)>>,
}

impl Checker<'_> {
    fn nesting(&mut self, step: &Step) -> Result<(), String> {
        let (kind, depth) = (step.kind, step.depth);
        let open = self.open.get_mut(&step.thread);
        let open = open.ok_or_else(|| format!("thread {} is not defined", step.thread))?;
        if depth as usize > open.len() {
            let calls = open.len();
            return Err(format!(
                "depth {depth}, but only {calls} calls of the thread are open"
            ));
        }
        // Calls that are deeper ended unseen.
        open.truncate(depth as usize);
        // The state of an object is recorded on the side from which somebody looks at it.
        let either = matches!(
            kind,
            EventKind::ObjectState | EventKind::Held | EventKind::Born
        );
        if !either && depth % 2 != u32::from(is_inside(kind)) {
            let side = ["external", "observed"][depth as usize % 2];
            let kind = kind.name();
            return Err(format!("{kind} at depth {depth}, where {side} code runs"));
        }
        if kind.opens() {
            open.push((kind, step.site));
        } else if let Some(opened_by) = kind.opened_by() {
            match open.pop() {
                Some(innermost) if innermost == (opened_by, step.site) => {}
                Some((_, site)) => {
                    return Err(format!("the innermost open call is that of {site}"));
                }
                None => return Err("no call of the thread is open".to_owned()),
            }
        }
        Ok(())
    }

    fn values(&self, step: &Step) -> Result<(), String> {
        for value in &step.values {
            let checked = self.tables.check(value);
            checked.map_err(|problem| problem.to_string())?;
        }
        if step.kind.is_aside() && step.site == SiteId(0) {
            // Recorded before the first call, or of no place.
            return Ok(());
        }
        let site = self.tables.site(step.site);
        let site = site.ok_or_else(|| format!("{} is not defined", step.site))?;
        let kind = step.kind.name();
        let shapes = site.shapes(step.kind);
        let mut shapes = shapes.ok_or_else(|| format!("{} cannot have a step {kind}", site.id))?;
        if step.kind.is_list() {
            // As many as it takes.
            shapes.resize(step.values.len().max(1), Shape::Reference);
        }
        if shapes.len() != step.values.len() {
            let (found, wanted) = (step.values.len(), shapes.len());
            return Err(format!("{found} values, but its site takes {wanted}"));
        }
        for (place, (value, shape)) in step.values.iter().zip(shapes).enumerate() {
            // The instructions of byte arrays serve boolean arrays as well.
            let boolean = shape == Shape::Byte && self.accesses_booleans(step);
            let shape = if boolean { Shape::Boolean } else { shape };
            if value.shape() != shape {
                let shape = shape.code();
                return Err(format!("value {place} is not of the shape {shape}"));
            }
        }
        Ok(())
    }

    fn accesses_booleans(&self, step: &Step) -> bool {
        let access = matches!(step.kind, EventKind::ArrayRead | EventKind::ArrayWrite);
        match step.values.first() {
            Some(Value::Reference(Reference::Array { class, .. })) if access => {
                self.tables.class_name(*class) == "[Z"
            }
            _ => false,
        }
    }
}

/// Events of observed code, as opposed to external code.
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

#[track_caller]
fn expect(steps: &str, expect: &str) {
    let scenario: Scenario = format!("{TABLES}{steps}").parse().unwrap();
    assert_eq!(
        check(&scenario).err().unwrap_or_default(),
        expect,
        "{steps}"
    );
}

#[test]
fn a_consistent_recording_passes() {
    expect(
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
    expect(
        "t1 <= @1 = 5L",
        "step 0: incoming-return at depth 0, where external code runs",
    );
    expect(
        "t1 depth 1 <= @1 = 5L",
        "step 0: depth 1, but only 0 calls of the thread are open",
    );
    expect(
        "t1 -> @2(null)",
        "step 0: outgoing-call at depth 0, where external code runs",
    );
    expect(
        "t1 => new A@6()
         t1 => get @5 on #1:A = 1",
        "step 1: incoming-read at depth 1, where observed code runs",
    );
    expect(
        "t1 => new A@6()
         t1   -> @2(null)
         t1 <= @6 = #1:A",
        "step 2: incoming-return at depth 2, where external code runs",
    );
    expect(
        "t1 => new A@6()
         t1 <= @1 = 5L",
        "step 1: the innermost open call is that of site 6",
    );
    expect("t3 => new A@6()", "step 0: thread t3 is not defined");
}

#[test]
fn calls_may_end_unseen() {
    expect(
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
    expect("t1 => @9()", "step 0: site 9 is not defined");
    expect(
        "t1 => @2(null)",
        "step 0: site 2 cannot have a step incoming-call",
    );
    expect("t1 => @1(5)", "step 0: 1 values, but its site takes 3");
    expect(
        "t1 => @1(5L, null) on #1:A",
        "step 0: value 1 is not of the shape I",
    );
    expect(
        "t1 => new A@6()
         t1   -> get[] @4(0) on #4:boolean[]{1 unknown} = 1b",
        "step 1: value 2 is not of the shape Z",
    );
}
