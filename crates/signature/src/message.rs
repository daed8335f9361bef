//! Comparison of two messages, by what the runs of a command have shown about them.

use std::collections::BTreeSet;

use crate::mask::{mask, mask_literals, normalise};

/// The part of a message that counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum MessageRule {
    /// All of it, apart from what depends on how the program is run.
    #[default]
    Whole,
    /// All but what differs from run to run: these of its numbers, and what [`mask`] masks.
    Except(BTreeSet<usize>),
    /// Its kind.
    Kind,
}

/// The degree to which two messages agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Agreement {
    None,
    Kind,
    Whole,
}

impl MessageRule {
    /// Compares the message of a failure with another. Values are what a failed assertion tells.
    pub(crate) fn compare(
        &self,
        own: Option<&str>,
        other: Option<&str>,
        is_assertion: bool,
    ) -> Agreement {
        let (Some(own), Some(other)) = (own, other) else {
            return match (own.is_none() && other.is_none(), self) {
                (false, _) => Agreement::None,
                (true, MessageRule::Kind) => Agreement::Kind,
                (true, _) => Agreement::Whole,
            };
        };
        let is_whole = match self {
            MessageRule::Whole => own == other || normalise(own) == normalise(other),
            MessageRule::Except(differing) => {
                let found = numbers_that_differ(&mask(own), &mask(other));
                found.is_some_and(|found| found.is_subset(differing))
            }
            MessageRule::Kind => false,
        };
        let is_kind = || match is_assertion {
            true => mask(own) == mask(other),
            false => mask_literals(own) == mask_literals(other),
        };
        match is_whole {
            true => Agreement::Whole,
            false if is_kind() => Agreement::Kind,
            false => Agreement::None,
        }
    }

    /// The rule by which a message agrees with that of another run as well.
    #[must_use]
    pub(crate) fn allowing(&self, own: Option<&str>, other: Option<&str>) -> MessageRule {
        let (Some(own), Some(other)) = (own, other) else {
            return match own == other {
                true => self.clone(),
                false => MessageRule::Kind,
            };
        };
        let known = match self {
            MessageRule::Kind => return MessageRule::Kind,
            MessageRule::Whole if normalise(own) == normalise(other) => return MessageRule::Whole,
            MessageRule::Whole => BTreeSet::new(),
            MessageRule::Except(known) => known.clone(),
        };
        match numbers_that_differ(&mask(own), &mask(other)) {
            Some(found) => MessageRule::Except(known.union(&found).copied().collect()),
            None => MessageRule::Kind,
        }
    }
}

/// The numbers, in their order, in which two texts differ, or `None` if they differ in anything else. A number is a
/// word with a digit in it.
fn numbers_that_differ(one: &str, other: &str) -> Option<BTreeSet<usize>> {
    let (one, other) = (words(one), words(other));
    if one.len() != other.len() {
        return None;
    }
    let mut differing = BTreeSet::new();
    let mut number = 0;
    for (one, other) in one.into_iter().zip(other) {
        let are_numbers = is_number(one) && is_number(other);
        if one != other {
            are_numbers.then_some(())?;
            differing.insert(number);
        }
        number += usize::from(are_numbers);
    }
    Some(differing)
}

fn is_number(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

/// The words of a text, and what is between them.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric();
    let bytes = text.as_bytes();
    for at in 1..=bytes.len() {
        let ends = at == bytes.len() || is_part(bytes[at]) != is_part(bytes[at - 1]);
        if ends {
            found.push(&text[from..at]);
            from = at;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The agreement of a message with another one after these runs.
    #[track_caller]
    fn check(runs: &[&str], other: &str, expect: Agreement) {
        let rule = runs[1..].iter().fold(MessageRule::default(), |rule, run| {
            rule.allowing(Some(runs[0]), Some(run))
        });
        let found = rule.compare(Some(runs[0]), Some(other), true);
        assert_eq!(found, expect, "{rule:?} {other}");
    }

    #[test]
    fn a_message_counts_as_a_whole_until_a_run_differs() {
        check(&["at 7"], "at 7", Agreement::Whole);
        check(&["at 7"], "at 8", Agreement::None);
        check(&["at 7", "at 7"], "at 8", Agreement::None);
        check(&["was Cart@1b2c3d"], "was Cart@4e5f60", Agreement::Whole);
    }

    #[test]
    fn only_the_numbers_that_differ_from_run_to_run_are_masked() {
        let runs = ["job 17 of 3 failed", "job 18 of 3 failed"];
        check(&runs, "job 99 of 3 failed", Agreement::Whole);
        check(&runs, "job 99 of 4 failed", Agreement::None);
        check(&runs, "job 99 of 3 passed", Agreement::None);
        let third = ["job 17 of 3", "job 18 of 3", "job 17 of x4"];
        check(&third, "job 1 of 2", Agreement::Whole);
    }

    #[test]
    fn a_message_that_differs_in_words_is_known_by_its_kind() {
        check(&["no a at 7", "no b at 7"], "no a at 7", Agreement::Kind);
        let rule = MessageRule::Whole.allowing(None, Some("x"));
        assert_eq!(rule, MessageRule::Kind);
        assert_eq!(rule.compare(None, None, false), Agreement::Kind);
    }

    #[test]
    fn times_are_masked_as_soon_as_they_differ() {
        let runs = ["late at 10:20:30, day 3", "late at 10:20:31, day 3"];
        check(&runs, "late at 11:59:00, day 3", Agreement::Whole);
        check(&runs, "late at 11:59:00, day 4", Agreement::None);
        check(&runs[..1], "late at 11:59:00, day 3", Agreement::Kind);
    }
}
