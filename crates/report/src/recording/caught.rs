//! Exceptions that were caught, in a line each.

use culprit_model::{Caught, Evidence, clean};
use culprit_signature::{Signature, Thrown};

/// An exception that was caught: its class and message, where it was thrown, what caught it, and how often.
pub fn caught_line(caught: &Caught) -> String {
    let failure = &caught.failure;
    let thrown = Thrown::parse(&failure.stack);
    let what = match thrown {
        Some(thrown) => Signature::of(&thrown).to_string(),
        None => failure.class.clone(),
    };
    clean::line(&format!("{what}; {}", fate(caught))).into_owned()
}

/// What became of an exception: the code that caught it, how often, and whether its trace was printed.
pub(super) fn fate(caught: &Caught) -> String {
    let mut words = Vec::new();
    if !caught.failure.place.is_empty() {
        words.push(format!("caught by {}", caught.failure.place));
    }
    if caught.evidence() == Evidence::Printed {
        words.push("printed".to_owned());
    }
    words.push(match caught.count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    });
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use culprit_model::{Catcher, Failure, FailureKind, ThreadId};

    use super::*;

    #[test]
    fn a_line_has_what_was_thrown_where_and_what_became_of_it() {
        let caught = Caught {
            number: 1,
            failure: Failure {
                kind: FailureKind::Caught,
                thread: ThreadId(1),
                place: "shop.Main.main".to_owned(),
                class: "shop.Empty".to_owned(),
                message: Some("no item".to_owned()),
                stack: "shop.Empty: no item\n\tat shop.Cart.last(Cart.java:3)\n".to_owned(),
                exceptions: Vec::new(),
            },
            catcher: Catcher::Program,
            printed: 1,
            count: 3,
            ordinal: 0,
        };
        assert_eq!(
            caught_line(&caught),
            "Empty \"no item\" at Cart.last (Cart.java:3); \
             caught by shop.Main.main, printed, 3 times"
        );
    }
}
