//! Manifests of jars: attributes, and the class path that they name.

use std::path::Path;

use culprit_program::manifest;

pub(crate) fn read(bytes: &[u8]) {
    let jar = Path::new("/folder/all.jar");
    for wanted in ["class-path", "main-class", "multi-release"] {
        let Some(value) = manifest::attribute(bytes, wanted) else {
            continue;
        };
        for path in manifest::resolve(jar, &value) {
            let mut parts = path.components();
            assert!(path.is_absolute(), "{path:?}");
            assert!(
                parts.all(|part| part != std::path::Component::ParentDir),
                "{path:?}"
            );
        }
    }
}
