//! The filters of `culprit show` as they are typed.

use culprit_model::EventKind;
use culprit_report::recording::EventRange;

/// A range of events.
pub(super) fn range(text: &str) -> Result<EventRange, String> {
    let number = |text: &str, default: u64| match text {
        "" => Some(default),
        text => text.trim_start_matches('@').parse().ok(),
    };
    let range = match text.split_once("..") {
        Some((start, end)) => number(start, 0).zip(number(end, u64::MAX)),
        None if text.is_empty() => None,
        None => number(text, 0).map(|n| (n, n.saturating_add(1))),
    };
    match range {
        Some((start, end)) if start <= end => Ok(EventRange { start, end }),
        _ => Err("write numbers of events, such as 10..20, 10.., ..20 or 10".to_owned()),
    }
}

/// A thread as `show` prints it, or its bare number.
pub(super) fn thread(text: &str) -> Result<u32, String> {
    text.trim_start_matches('t')
        .parse()
        .map_err(|_| "write the number of a thread, such as 1 or t1".to_owned())
}

/// A kind of event by its name.
pub(super) fn kind(text: &str) -> Result<EventKind, String> {
    EventKind::ALL
        .into_iter()
        .find(|kind| kind.name() == text)
        .ok_or_else(|| {
            let names = EventKind::ALL.map(EventKind::name);
            format!("the kinds are {}", names.join(", "))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_in_four_forms() {
        for (text, start, end) in [
            ("10..20", 10, 20),
            ("10..", 10, u64::MAX),
            ("..20", 0, 20),
            ("10", 10, 11),
            ("@10..@20", 10, 20),
        ] {
            assert_eq!(range(text), Ok(EventRange { start, end }), "{text}");
        }
        for text in ["", "a", "3..1", "1-2", "-1"] {
            assert!(range(text).is_err(), "{text}");
        }
    }

    #[test]
    fn kinds_and_threads_are_named_as_they_are_printed() {
        for name in EventKind::ALL {
            assert_eq!(kind(name.name()), Ok(name));
        }
        assert!(
            kind("call")
                .unwrap_err()
                .contains("incoming-call, incoming-return")
        );
        assert_eq!((thread("t3"), thread("3")), (Ok(3), Ok(3)));
        assert!(thread("main").is_err());
    }
}
