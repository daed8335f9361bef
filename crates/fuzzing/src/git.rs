//! The parsers of Git's output, on repositories made by others.

use std::path::Component;

use culprit_isolate::changes::git_output;

pub(crate) fn read(bytes: &[u8]) {
    drop(git_output::commits(bytes));
    drop(git_output::descriptions(bytes));
    drop(git_output::annotations(bytes));
    let listed = git_output::listed(bytes).into_keys();
    let submodules = git_output::submodules(bytes).into_iter();
    for path in listed.chain(submodules.map(|submodule| submodule.path)) {
        let mut parts = path.components();
        assert!(
            parts.all(|part| matches!(part, Component::Normal(_))),
            "{path:?} leads out of the work tree"
        );
    }
}
