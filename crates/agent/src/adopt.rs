//! Classes that were woven ahead of time, by `culprit instrument`: the jar has decided what they
//! are, the agent takes them over as they are.

use culprit_classfile::ClassFile;
use culprit_jvmti::Jni;
use culprit_model::observe::is_jdk_name;
use culprit_weave::ahead::Settled;

use crate::agent::Agent;
use crate::classes::{ClassDecision, Loader};
use crate::load::{Loading, code_source};
use crate::recorder::{Message, OwnedClass};

impl Agent {
    pub(crate) fn adopt(
        &self,
        jni: &Jni<'_>,
        loading: &Loading<'_>,
        loader: Loader,
        settled: Settled,
    ) -> Result<Vec<u8>, culprit_weave::Error> {
        let Settled {
            woven,
            part,
            original,
        } = settled;
        let class = ClassFile::parse(&original)?;
        self.classes.outline(loader.number, &class)?;
        let inherits = class
            .super_name()?
            .into_iter()
            .chain(class.interface_names()?)
            .any(|name| !is_jdk_name(&name));
        if part.kin {
            self.classes.add_kin(loading.name);
        }
        if part.observed && inherits && !loading.again {
            self.heirs.add(loading.name);
        }
        for (method, why) in woven.skipped {
            self.recorder.not_woven(method.replace('/', "."), why);
        }
        let facts = ClassDecision {
            observed: part.observed,
            // The class file has the field already; nobody is to add it.
            owns_id: false,
            has_id: part.has_id,
        };
        self.classes.remember(loader.number, loading.name, facts);
        if !loading.again {
            self.note_outline(loader, &class, facts);
        }
        if !woven.sites.is_empty() {
            self.recorder.send(Message::Sites(woven.sites));
        }
        if part.observed && !loading.again {
            self.recorder.send(Message::Class(OwnedClass {
                name: loading.name.to_owned(),
                loader: loader.number,
                origin: code_source(jni, loading),
                observed: true,
                ahead: true,
                outline: false,
                bytes: original,
            }));
        }
        Ok(woven.bytes)
    }
}
