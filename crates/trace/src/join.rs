//! Joins the segments of a recording to one file that has exactly the last events, and what they
//! need of those before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use culprit_model::{BlobId, Event, EventKind, Losses, ObjectId, ThreadId};

use crate::error::WriteError;
use crate::metadata::{ClassDef, Ending};
use crate::need::{EventPosition, KeptRecord, Lane, Needs, each_blob, each_object};
use crate::record::RecordBuffer;
use crate::recording::Recording;
use crate::scan::ScanStep;
use crate::segment;
use crate::writer::{Store, Writer};

/// Joins a recording in segments, in place. Until that is done, the segments stay. A recording in
/// one piece stays as it is.
pub fn join(path: &Path, last: u64, ending: Option<&Ending>) -> Result<(), WriteError> {
    let recording = Recording::open(path)?;
    if !recording.start().is_segmented() {
        return Ok(());
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let written = write(&recording, last, ending, part);
    if let Err(error) = written {
        // A rest that cannot be removed is no recording and does no harm.
        let _ = fs::remove_file(part);
        return Err(error);
    }
    fs::rename(part, path)?;
    Ok(segment::remove_segments(path)?)
}

fn write(
    recording: &Recording,
    last: u64,
    ending: Option<&Ending>,
    path: &Path,
) -> Result<(), WriteError> {
    let mut writer: Writer<File> = Writer::create(path)?;
    keep_last(recording, last, &mut writer)?;
    let known = recording.end().map(|end| Ending {
        reason: end.reason,
        exit_status: end.exit_status,
        duration_ms: end.duration_ms,
    });
    match ending.or(known.as_ref()) {
        Some(ending) => writer.end(ending),
        None => writer.flush(),
    }
}

/// Writes the last events of a recording and what they need, with all definitions.
pub fn keep_last<S: Store>(
    recording: &Recording,
    last: u64,
    writer: &mut Writer<S>,
) -> Result<(), WriteError> {
    writer.start(&recording.start().whole())?;
    for loader in recording.loaders() {
        writer.loaders(std::slice::from_ref(loader))?;
    }
    for definition in recording.types() {
        writer.types(std::slice::from_ref(definition))?;
    }
    for site in recording.sites() {
        writer.sites(std::slice::from_ref(site))?;
    }
    for class in recording.classes() {
        writer.class(&ClassDef {
            name: &class.name,
            loader: class.loader,
            origin: class.origin.as_deref(),
            observed: class.observed,
            ahead: class.ahead,
            outline: class.outline,
            bytes: &recording.class_bytes(class)?,
        })?;
    }
    let cut = recording.event_count().saturating_sub(last);
    let needed = Needed::find(recording, cut)?;
    for thread in recording
        .threads()
        .iter()
        .filter(|t| needed.threads.contains(&t.id))
    {
        writer.thread(thread)?;
    }
    for id in &needed.blobs {
        if let Some(blob) = recording.blob(*id)? {
            writer.blob(*id, blob.kind, &blob.bytes)?;
        }
    }
    needed.write(recording, cut, writer)?;
    for failure in recording.failures() {
        writer.failure(failure)?;
    }
    for caught in recording.caught() {
        writer.caught(caught)?;
    }
    let mut losses = recording.losses().clone();
    let before = losses.count(Losses::FORGOTTEN);
    losses.counts.retain(|(name, _)| name != Losses::FORGOTTEN);
    let forgotten = (before + recording.own_events()).saturating_sub(writer.events_written());
    if forgotten > 0 {
        let name = Losses::FORGOTTEN.to_owned();
        losses.counts.push((name, forgotten));
    }
    if !losses.is_empty() {
        writer.losses(&losses)?;
    }
    Ok(())
}

/// The parts of a recording that are kept besides its last events.
struct Needed {
    carry: BTreeMap<ThreadId, Vec<KeptRecord>>,
    /// Open calls of the threads at the cut.
    depths: BTreeMap<ThreadId, u32>,
    threads: BTreeSet<ThreadId>,
    blobs: BTreeSet<BlobId>,
}

impl Needed {
    fn find(recording: &Recording, cut: u64) -> Result<Needed, WriteError> {
        let mut needs = Needs::default();
        let mut objects = BTreeSet::new();
        let mut blobs = BTreeSet::new();
        let mut threads = BTreeSet::new();
        let mut scan = recording.scan();
        while let Some(step) = scan.step() {
            let ScanStep::Event(head) = step? else {
                continue;
            };
            let event = scan.event(&head)?;
            if head.index.0 < cut {
                needs.truncate(event.thread, event.depth as usize);
                let site = recording.sites().get(event.site.0);
                let constructs = site.is_some_and(|site| site.is_constructor());
                let kept = || encode(&event);
                needs.event(place(&event), event.kind, constructs, &event.values, kept);
            } else {
                needs_of(&event, &mut objects, &mut blobs);
                // Calls that ended unseen just before the cut are told by the first depth after it.
                if threads.insert(event.thread) {
                    needs.truncate(event.thread, event.depth as usize);
                }
            }
        }
        objects.extend(needs.open_objects());
        let mut carry: BTreeMap<ThreadId, Vec<KeptRecord>> = BTreeMap::new();
        for kept in needs.open().chain(needs.constructions_of(&objects)) {
            blobs.extend(&kept.blobs);
            carry
                .entry(kept.place.thread)
                .or_default()
                .push(kept.clone());
        }
        threads.extend(carry.keys());
        let depths = threads.iter().map(|t| (*t, needs.depth(*t))).collect();
        Ok(Needed {
            carry,
            depths,
            threads,
            blobs,
        })
    }

    fn write<S: Store>(
        mut self,
        recording: &Recording,
        cut: u64,
        writer: &mut Writer<S>,
    ) -> Result<(), WriteError> {
        let mut lanes: BTreeMap<ThreadId, (Lane, u32)> = BTreeMap::new();
        for (thread, depth) in &self.depths {
            let mut lane = Lane::new(*thread);
            let mut events = self.carry.remove(thread).unwrap_or_default();
            events.sort_by_key(|event| event.place.ordinal);
            for event in &events {
                if lane.event(event.place, &event.record) {
                    lane.hand_over(|head, records| writer.events(head, records))?;
                }
            }
            lanes.insert(*thread, (lane, *depth));
        }
        let mut scan = recording.scan();
        while let Some(step) = scan.step() {
            let ScanStep::Event(head) = step? else {
                continue;
            };
            if head.index.0 < cut {
                continue;
            }
            let event = scan.event(&head)?;
            let Some((lane, depth)) = lanes.get_mut(&event.thread) else {
                continue;
            };
            if event.depth < *depth {
                lane.unwound(*depth - event.depth);
            }
            *depth = depth_after(&event);
            if lane.event(place(&event), &encode(&event)) {
                lane.hand_over(|head, records| writer.events(head, records))?;
            }
        }
        for (lane, _) in lanes.values_mut() {
            lane.hand_over(|head, records| writer.events(head, records))?;
        }
        Ok(())
    }
}

fn needs_of(event: &Event, objects: &mut BTreeSet<ObjectId>, blobs: &mut BTreeSet<BlobId>) {
    each_object(&event.values, &mut |id| {
        objects.insert(id);
    });
    each_blob(&event.values, &mut |id| {
        blobs.insert(id);
    });
}

fn place(event: &Event) -> EventPosition {
    EventPosition {
        thread: event.thread,
        ordinal: event.ordinal,
        turn: event.turn,
    }
}

fn encode(event: &Event) -> Vec<u8> {
    let mut buffer = RecordBuffer::new();
    buffer.event(event.kind, event.site, &event.values);
    buffer.bytes().to_vec()
}

fn depth_after(event: &Event) -> u32 {
    match event.kind {
        EventKind::IncomingCall | EventKind::OutgoingCall => event.depth + 1,
        EventKind::IncomingReturn
        | EventKind::IncomingThrow
        | EventKind::OutgoingReturn
        | EventKind::OutgoingThrow => event.depth.saturating_sub(1),
        _ => event.depth,
    }
}
