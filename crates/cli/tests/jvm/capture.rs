//! What crosses the border is captured; the fixtures say what that is.

use crate::stage::check;

/// One test a fixture; the name is the fact, the fixture shows it.
macro_rules! facts {
    ($($fact:ident: $fixture:literal,)*) => {$(
        #[test]
        fn $fact() {
            check(concat!("capture/", $fixture));
        }
    )*};
}

facts! {
    the_nine_events_of_scarpe: "nine",
    constructor_calls_also_within_arguments_of_this_and_super: "constructors",
    exceptions_out_of_super_constructors: "supers",
    fields_in_both_directions: "fields",
    arrays_with_contents_inward_and_after_calls_that_received_them: "arrays",
    class_initialisers_from_outside_and_inside: "initialisers",
    callbacks_nest: "callbacks",
    exceptions_in_both_directions: "exceptions",
    values_of_every_type_at_their_limits: "scalars",
    as_many_arguments_as_the_jvm_allows: "many",
}
