//! Overload resolution: the rules of the Java Language Specification, 15.12.2, without type arguments.

use crate::hierarchy::Hierarchy;
use crate::types::Type;

/// A method that a call could mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    pub(crate) parameters: Vec<Type>,
    pub(crate) is_varargs: bool,
}

/// The manner in which the chosen method takes the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    AsTheyAre,
    /// The last ones become the elements of an array.
    Spread,
}

/// The place of the method that the compiler takes, if it takes one.
pub(crate) fn choose(
    hierarchy: &Hierarchy<'_>,
    candidates: &[Candidate],
    arguments: &[Type],
) -> Option<(usize, Manner)> {
    let strict = |from: &Type, to: &Type| hierarchy.is_subtype(from, to);
    let loose = |from: &Type, to: &Type| converts(hierarchy, from, to);
    let fixed = |fits: &dyn Fn(&Type, &Type) -> bool| {
        pick(
            hierarchy,
            candidates,
            arguments.len(),
            Manner::AsTheyAre,
            |all| {
                all.len() == arguments.len() && arguments.iter().zip(all).all(|(a, p)| fits(a, p))
            },
        )
    };
    // Each phase ends the search where it finds anything, be it ambiguous.
    fixed(&strict)
        .or_else(|| fixed(&loose))
        .or_else(|| {
            pick(
                hierarchy,
                candidates,
                arguments.len(),
                Manner::Spread,
                |all| arguments.iter().zip(all).all(|(a, p)| loose(a, p)),
            )
        })
        .flatten()
}

/// `None` where nothing applies, `Some(None)` where too much does.
#[expect(
    clippy::option_option,
    reason = "the two answers differ for the caller"
)]
fn pick(
    hierarchy: &Hierarchy<'_>,
    candidates: &[Candidate],
    count: usize,
    manner: Manner,
    applies: impl Fn(&[Type]) -> bool,
) -> Option<Option<(usize, Manner)>> {
    let shaped: Vec<(usize, Vec<Type>)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(place, candidate)| match manner {
            Manner::AsTheyAre => Some((place, candidate.parameters.clone())),
            Manner::Spread => Some((place, spread(candidate, count)?)),
        })
        .filter(|(_, parameters)| applies(parameters))
        .collect();
    if shaped.is_empty() {
        return None;
    }
    let below = |one: &[Type], other: &[Type]| {
        one.iter()
            .zip(other)
            .all(|(one, other)| hierarchy.is_subtype(one, other))
    };
    let best = shaped.iter().find(|(_, one)| {
        let rivals = shaped.iter().filter(|(_, other)| other != one);
        rivals.into_iter().all(|(_, other)| below(one, other))
    });
    Some(best.map(|(place, _)| (*place, manner)))
}

/// The parameters as if there were as many as arguments.
fn spread(candidate: &Candidate, count: usize) -> Option<Vec<Type>> {
    let (last, fixed) = candidate.parameters.split_last()?;
    let Type::Array(element) = last else {
        return None;
    };
    if !candidate.is_varargs || count < fixed.len() {
        return None;
    }
    let mut all = fixed.to_vec();
    all.resize(count.max(fixed.len()), (**element).clone());
    Some(all)
}

/// A value can be used where the type is wanted, boxed or unboxed if need be.
pub(crate) fn converts(hierarchy: &Hierarchy<'_>, from: &Type, to: &Type) -> bool {
    hierarchy.is_subtype(from, to)
        || match (from, to) {
            (Type::Primitive(_), Type::Primitive(_)) => false,
            (Type::Primitive(shape), to) => hierarchy.is_subtype(&Type::boxed(*shape), to),
            (from, Type::Primitive(_)) => from
                .unboxed()
                .is_some_and(|from| hierarchy.is_subtype(&from, to)),
            _ => false,
        }
}
