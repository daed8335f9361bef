//! The event slice: the statements that share an object, directly or through others, with the
//! failing one. What a program shares in other ways, by static fields say, it does not see: ask
//! whether the slice still fails.

use std::collections::{HashMap, HashSet};

use culprit_model::ObjectId;

use crate::Script;

/// The numbers of the statements that have to do with a given one, which is among them. Takes time
/// linear in the number of objects of all statements.
pub fn slice(script: &Script, from: usize) -> Vec<usize> {
    let mut having: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    let objects: Vec<Vec<ObjectId>> = script.statements.iter().map(|s| s.objects()).collect();
    for (number, of_this) in objects.iter().enumerate() {
        for id in of_this {
            having.entry(*id).or_default().push(number);
        }
    }
    let mut met = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(number) = open.pop() {
        for id in &objects[number] {
            // Once its statements are met an object leads nowhere else.
            for other in having.remove(id).unwrap_or_default() {
                if met.insert(other) {
                    open.push(other);
                }
            }
        }
    }
    met.extend(0..script.prelude);
    let mut kept: Vec<usize> = met.into_iter().collect();
    kept.sort_unstable();
    kept
}
