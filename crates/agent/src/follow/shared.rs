//! Objects that the tests of a driver share, such as a cache in a static field: those that its class initialisers made,
//! and what was put into these or taken out of them.

use std::collections::HashSet;

use culprit_model::script::{Action, Mark};
use culprit_model::{ObjectId, Statement, Tables};

/// For each statement, whether a test that runs later may depend on it: it is made on a shared object, or makes one.
/// `initialises` tells the statements of class initialisers.
pub(super) fn concern_shared(
    statements: &[Statement],
    tables: &Tables,
    initialises: &dyn Fn(usize) -> bool,
) -> Vec<bool> {
    let mut shared: HashSet<ObjectId> = HashSet::new();
    let is_on_shared = |statement: &Statement, shared: &HashSet<ObjectId>| {
        let objects = match statement.action {
            Action::Mark(Mark::Same) => statement.objects(),
            _ => Vec::from_iter(statement.receiver(tables)),
        };
        objects.iter().any(|object| shared.contains(object))
    };
    for (number, statement) in statements.iter().enumerate() {
        if initialises(number) || is_on_shared(statement, &shared) {
            shared.extend(statement.objects());
        }
    }
    let mut concern = vec![false; statements.len()];
    for (concerns, statement) in concern.iter_mut().zip(statements).rev() {
        let makes_shared = statement
            .defines()
            .is_some_and(|made| shared.contains(&made));
        if makes_shared || is_on_shared(statement, &shared) {
            *concerns = true;
            shared.extend(statement.objects());
        }
    }
    concern
}

#[cfg(test)]
mod tests {
    use culprit_model::Script;

    use super::*;

    const SCRIPT: &str = "\
script 1
type 1 java/util/ArrayList
type 2 java/util/HashMap
type 3 shop/Cart
site 1 entry java/util/ArrayList.<init>()V
site 2 entry java/util/HashMap.<init>()V
site 3 entry java/util/HashMap.put(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;
site 4 entry java/util/ArrayList.add(Ljava/lang/Object;)Z
site 5 entry java/util/ArrayList.get(I)Ljava/lang/Object;
site 6 entry shop/Cart.<init>()V
site 7 entry shop/Cart.add(I)V
=> @1()
<= @1 = #1:@1
=> @2()
<= @2 = #2:@2
=> @3(\"a\", \"b\") on #2:@2
<= @3 = null
=> @6()
<= @6 = #3:@3
=> @7(1) on #3:@3
<= @7
=> @4(#2:@2) on #1:@1
<= @4 = true
=> @5(0) on #1:@1
<= @5 = #4:@2
=> @3(\"c\", \"d\") on #4:@2
<= @3 = null
";

    #[test]
    fn what_is_done_to_a_static_list_and_its_elements_stays() {
        let script: Script = SCRIPT.parse().unwrap();
        let concern = concern_shared(&script.statements, &script.tables, &|number| number == 0);
        // All but the cart, which is the test's own.
        let expected = [true, true, true, false, false, true, true, true];
        assert_eq!(concern, expected);
    }
}
