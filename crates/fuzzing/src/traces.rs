//! Stack traces in the output of any command, and messages with their volatile parts masked.

use culprit_signature::{
    Grade, Refusal, Signature, Thrown, find_all, mask, mask_literals, normalise,
};

pub(crate) fn read(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let once = mask(&text);
    assert_eq!(mask(&once), once, "what is masked stays as it is");
    drop(mask_literals(&text));
    let normal = normalise(&text);
    assert_eq!(normalise(&normal), normal, "what is normal stays as it is");
    let whole = Thrown::parse(&text);
    let found = find_all(&text).into_iter().map(|found| found.thrown);
    for thrown in whole.into_iter().chain(found) {
        let signature = Signature::of(&thrown);
        assert_eq!(
            signature.grade(&thrown),
            Some(Grade::L4),
            "a failure is the same as itself"
        );
        assert!(!signature.to_string().contains('\n'));
        if let Some(again) = Thrown::parse(&thrown.to_string()) {
            let _ = signature.grade(&again);
        }
        let _ = Refusal::of(&thrown);
    }
}
