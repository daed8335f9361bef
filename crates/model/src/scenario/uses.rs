//! What steps refer to. A recording has tables of everything that was loaded; a scenario of a few
//! steps needs little of them.

use std::collections::BTreeSet;

use super::{Scenario, Step, Tables};
use crate::{BlobId, Reference, SiteId, ThreadId, TypeId, Value};

/// The entries of the tables that some steps refer to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    pub types: BTreeSet<TypeId>,
    pub sites: BTreeSet<SiteId>,
    pub threads: BTreeSet<ThreadId>,
    pub blobs: BTreeSet<BlobId>,
}

impl Uses {
    /// Takes note of a step.
    pub fn note(&mut self, step: &Step) {
        self.sites.insert(step.site);
        self.threads.insert(step.thread);
        step.values.iter().for_each(|value| self.value(value));
    }

    /// Takes note of a value.
    pub fn value(&mut self, value: &Value) {
        value.each_reference(&mut |reference| self.reference(reference));
    }

    fn reference(&mut self, reference: &Reference) {
        match reference {
            Reference::Object { class, .. }
            | Reference::Class(class)
            | Reference::Enum { class, .. }
            | Reference::Structure { class, .. }
            | Reference::Constant { class, .. } => {
                self.types.insert(*class);
            }
            Reference::StringBlob(blob) => {
                self.blobs.insert(*blob);
            }
            Reference::Array {
                class, contents, ..
            } => {
                self.types.insert(*class);
                self.blobs.extend(contents.blob());
            }
            Reference::Null
            | Reference::String(_)
            | Reference::Redacted
            | Reference::Unknown
            | Reference::Piece(_)
            | Reference::Boxed(_) => {}
        }
    }
}

impl Tables {
    /// Forgets what is not used.
    pub fn keep(&mut self, uses: &Uses) {
        self.types.retain(|class| uses.types.contains(&class.id));
        self.sites.retain(|site| uses.sites.contains(&site.id));
        self.threads.retain(|(id, _)| uses.threads.contains(id));
        self.blobs.retain(|id, _| uses.blobs.contains(id));
    }
}

impl Scenario {
    /// What the steps refer to.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        self.steps.iter().for_each(|step| uses.note(step));
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pruned_scenario_has_what_its_steps_refer_to_and_nothing_else() {
        let text = "\
scenario 1
type 1 a/A
type 3 java/lang/Object[]
type 4 a/Color {RED}
type 5 byte[]
thread 1 \"main\"
site 1 entry a/A.f(Ljava/lang/Object;)V
blob 1 \"long\"
blob 2 hex 0000ff

=> A.f@1(#2:Object[]{null, box 1, Color.RED, blob 1, #5:byte[]{9 from 2 in blob 2}}) on #1:A
";
        let unused = "type 2 a/B\nthread 2 \"pool\"\nsite 9 entry a/A.g()V\nblob 3 \"\"\n";
        let (head, steps) = text.split_once("\n\n").unwrap();
        let more = format!("{head}\n{unused}\n{steps}");
        let mut scenario: Scenario = more.parse().unwrap();
        scenario.tables.keep(&scenario.uses());
        assert_eq!(scenario.to_string(), text);
    }
}
