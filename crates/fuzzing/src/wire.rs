//! Messages between Culprit and its workers, in both directions. A worker runs code that nobody knows, so
//! whatever arrives from it may be meant to harm.

use culprit_wire::{FromWorker, Inbox, Message, ToWorker};

pub(crate) fn read(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    match first & 1 {
        0 => message::<FromWorker>(rest),
        _ => message::<ToWorker>(rest),
    }
    match first & 1 {
        0 => stream::<FromWorker>(rest, usize::from(first >> 1) + 1),
        _ => stream::<ToWorker>(rest, usize::from(first >> 1) + 1),
    }
}

/// One message. What was understood says the same when it is written and read again.
fn message<M: Message>(bytes: &[u8]) {
    let Ok(message) = M::decode(bytes) else {
        return;
    };
    let mut once = Vec::new();
    message.encode(&mut once);
    let again = M::decode(&once).expect("a message that was encoded");
    let mut twice = Vec::new();
    again.encode(&mut twice);
    assert_eq!(once, twice, "a message changed on its way");
}

/// A stream that arrives in pieces is the same as one that is there as a whole.
fn stream<M: Message>(bytes: &[u8], piece: usize) {
    let mut inbox = Inbox::default();
    let mut pieces = 0;
    'arriving: for piece in bytes.chunks(piece) {
        inbox.feed(piece);
        loop {
            match inbox.take::<M>() {
                Ok(Some(_)) => pieces += 1,
                Ok(None) => break,
                Err(_) => break 'arriving,
            }
        }
    }
    let mut whole = bytes;
    let mut all = 0;
    while let Ok(Some(_)) = M::read_from(&mut whole) {
        all += 1;
    }
    assert_eq!(pieces, all, "messages in pieces");
}
