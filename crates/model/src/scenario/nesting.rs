//! Which steps belong together: a call, what happens in it, and its end. Steps of several threads
//! may stand between each other; the depth of a step says where it belongs in its thread.

use super::{Actor, Step};

/// The step that ends a call. `None` if nobody saw it end, or the step is no call.
pub fn end_of(steps: &[Step], call: usize) -> Option<usize> {
    let first = steps.get(call).filter(|step| step.kind.opens())?;
    let ended = |step: &Step| step.kind.closes() && step.depth == first.depth + 1;
    within(steps, call).find(|place| ended(&steps[*place]))
}

/// The steps directly within a call: not those of calls within it, and not its end.
pub fn children(steps: &[Step], call: usize) -> impl Iterator<Item = usize> {
    let depth = steps
        .get(call)
        .map_or(0, |step| step.depth.saturating_add(1));
    within(steps, call).filter(move |place| {
        let step = &steps[*place];
        step.depth == depth && !step.kind.closes()
    })
}

/// The steps that begin something from outside any call: what a test would write down.
pub fn statements(steps: &[Step]) -> impl Iterator<Item = usize> {
    let outermost = |step: &Step| step.depth == 0 && step.part() == Actor::Drive;
    (0..steps.len()).filter(move |place| outermost(&steps[*place]))
}

/// The steps of a call after its beginning, up to its end. Nothing for steps that are no call.
fn within(steps: &[Step], call: usize) -> impl Iterator<Item = usize> {
    let first = steps.get(call).filter(|step| step.kind.opens());
    let after = first.map_or(steps.len(), |_| call + 1)..steps.len();
    let mut open = true;
    after
        .filter(move |place| first.is_some_and(|first| steps[*place].thread == first.thread))
        .take_while(move |place| {
            let (step, depth) = (&steps[*place], first.map_or(0, |first| first.depth));
            let inside = open && step.depth > depth;
            open = inside && !(step.kind.closes() && step.depth == depth + 1);
            inside
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    /// Two threads, a callback, a call that nobody saw end, one that is open.
    const STEPS: &str = "\
        scenario 1
        thread 1 main
        thread 2 pool
        t1 => @1()
        t1   -> @2()
        t2 => @1()
        t1     => @1()
        t2   -> get @3 = 1
        t1     <= @1
        t1   <- @2
        t1   -> set @3 = 2
        t2 <= @1
        t1 <=! @1 = null
        t1 => get @4 = 5
        t1 => @1()
        t1   -> @2()
        t1 depth 1 -> @2()
        t1 depth 0 => @1()
        t1   -> @2()";

    fn steps() -> Vec<Step> {
        STEPS.parse::<Scenario>().unwrap().steps
    }

    #[test]
    fn a_call_ends_at_the_step_of_its_thread_that_is_as_deep() {
        let steps = steps();
        let ends: Vec<Option<usize>> = (0..steps.len()).map(|call| end_of(&steps, call)).collect();
        let mut expect = vec![None; steps.len()];
        for (call, end) in [(0, 9), (1, 6), (2, 8), (3, 5)] {
            expect[call] = Some(end);
        }
        assert_eq!(ends, expect);
        assert_eq!(end_of(&steps, 99), None);
    }

    #[test]
    fn children_are_one_deeper_and_of_the_same_thread() {
        let steps = steps();
        let of = |call| children(&steps, call).collect::<Vec<usize>>();
        assert_eq!(of(0), [1, 7]);
        assert_eq!(of(1), [3]);
        assert_eq!(of(2), [4]);
        assert_eq!(of(3), []);
        assert_eq!(
            of(11),
            [12, 13],
            "a call that nobody saw end goes on until the next outermost one"
        );
        assert_eq!(of(14), [15], "an open call goes on to the last step");
        assert_eq!(of(4), [], "no call");
        assert_eq!(of(99), []);
    }

    #[test]
    fn statements_are_what_outside_code_begins() {
        assert_eq!(
            statements(&steps()).collect::<Vec<usize>>(),
            [0, 2, 10, 11, 14]
        );
    }
}
