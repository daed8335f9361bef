//! Tables of a large program are within what reading may take.

use culprit_model::site::TypeDef;
use culprit_model::{Member, Site, SiteId, SiteKind, TypeId};
use culprit_trace::{Recording, Start, Writer};

/// A recording of a large program is no bomb, well as it compresses.
#[test]
fn large_tables_of_a_program_are_read() {
    const COUNT: u32 = 200_000;
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.start(&Start::default()).unwrap();
    let class = |n: u32| format!("com/acme/product/component{}/Implementation{n}", n / 100);
    let types = (1..COUNT).map(|n| TypeDef {
        id: TypeId(n),
        name: class(n),
        loader: 3,
        constants: Vec::new(),
        fields: Vec::new(),
    });
    writer.types(&types.collect::<Vec<_>>()).unwrap();
    let sites = (1..COUNT).map(|n| Site {
        id: SiteId(n),
        kind: SiteKind::Call,
        class: class(n),
        method: "getAttribute".to_owned(),
        descriptor: "(Ljava/lang/String;)Ljava/lang/Object;".to_owned(),
        line: Some(n as u16),
        source: Some(format!("Implementation{n}.java")),
        target: Member {
            owner: class(n / 2),
            name: "getAttributeOrDefault".to_owned(),
            descriptor: "(Ljava/lang/String;Ljava/lang/Object;)Ljava/lang/Object;".to_owned(),
        },
        is_static: false,
    });
    writer.sites(&sites.collect::<Vec<_>>()).unwrap();
    let bytes = writer.into_store().unwrap();
    let recording = Recording::from_bytes("large", bytes).unwrap();
    assert_eq!(recording.sites().len(), COUNT as usize - 1);
}
