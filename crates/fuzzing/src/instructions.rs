//! Instruction traces, which confined workers write: read, replayed and sliced.

use culprit_slice::{Criterion, replay};
use culprit_trace::instructions::{InstructionTrace, write};

pub(crate) fn read(bytes: &[u8]) {
    let Ok(trace) = InstructionTrace::read(bytes) else {
        return;
    };
    let mut written = Vec::new();
    if write(&mut written, &trace).is_ok() {
        let again = InstructionTrace::read(&written);
        assert!(again.is_ok_and(|it| it == trace), "what is written is read");
    }
    let Ok(replayed) = replay(&trace, &[]) else {
        return;
    };
    for node in replayed.graph.nodes() {
        let mut parents = replayed.graph.parents(node);
        assert!(
            parents.all(|(parent, _)| parent < node),
            "a dependence is on something earlier"
        );
    }
    let last = replayed.graph.nodes().next_back();
    let last = Criterion::Nodes(last.into_iter().collect());
    for criterion in [Criterion::Exception, Criterion::Result, last] {
        let slice = replayed.backward(&criterion);
        drop(replayed.lines(&slice));
        drop(replayed.edges(&slice));
        drop(replayed.forward(&criterion));
    }
}
