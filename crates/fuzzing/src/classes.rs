//! Class files: read, listed, edited and woven for every purpose.

use culprit_classfile::{ClassFile, listing, named_classes, outline};
use culprit_model::options::Arrays;
use culprit_weave::{
    MemberKind, Purpose, References, Settings, SiteNumbers, World, follow, hook, statics, stub,
};

/// A world in which classes are observed whose name has an `a`, so that calls lead into the observed set
/// and out of it.
struct Any;

impl World for Any {
    fn is_observed(&self, class: &str) -> bool {
        class.contains('a') && !class.starts_with("java/")
    }

    fn declaring(&self, class: &str, _: MemberKind, name: &str, _: &str) -> Option<String> {
        (name.len() % 2 == 0).then(|| class.to_owned())
    }
}

pub(crate) fn read(bytes: &[u8]) {
    let Ok(class) = ClassFile::parse(bytes) else {
        return;
    };
    assert!(
        class.write().is_ok_and(|written| written == bytes),
        "what is not edited is written as it was"
    );
    for method in &class.methods {
        drop(listing(&class, method));
    }
    drop(named_classes(&class));
    if let Ok(outline) = outline(&class) {
        drop(stub::stub(outline, &stub::Super::Stub));
    }
    drop(stub::opened(bytes));
    for purpose in [Purpose::Record, Purpose::Replay] {
        drop(hook::hook(class.clone(), purpose));
        let settings = Settings {
            purpose,
            arrays: Arrays::default(),
            id_field: true,
            kin: purpose == Purpose::Record,
            references: References::Chosen,
            lines: None,
            strangers: &[],
        };
        let numbers = SiteNumbers::default();
        let observed = culprit_weave::observed(class.clone(), &Any, settings, &numbers);
        let outside = culprit_weave::outside(class.clone(), &Any, settings, &numbers);
        for woven in [observed, outside].into_iter().flatten() {
            assert!(
                ClassFile::parse(&woven.bytes).is_ok(),
                "what is woven is a class"
            );
        }
    }
    drop(statics::variables(&class));
    if let Ok(Some(followed)) = follow::followed(class, 1, follow::MethodChoice::default()) {
        assert!(
            ClassFile::parse(&followed.bytes).is_ok(),
            "what is followed is a class"
        );
    }
}
