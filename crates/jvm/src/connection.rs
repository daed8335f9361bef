//! The host's end of the line to a worker: it neither blocks for ever nor in one direction only.
//! A worker may answer before it was told everything, so what arrives is read while there is
//! still something to send. The line may stay open when the worker has ended, in the hands of a
//! process that it started, so its end is watched too.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use culprit_wire::{FromWorker, Inbox, WireError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Interrupt;

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// Room for messages to send that is kept for the next ones.
const KEPT: usize = 1 << 20;

/// The line to one worker.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
    /// Readable when the worker has ended, where the system has such a thing.
    end: Option<OwnedFd>,
    interrupt: Option<Interrupt>,
    inbox: Inbox,
    buffer: Vec<u8>,
    /// Frames to send, of which so many bytes are sent.
    out: Vec<u8>,
    sent: usize,
}

/// The result of listening.
#[derive(Debug)]
pub(crate) enum Received {
    Message(FromWorker),
    /// The worker has closed the line.
    Closed,
    /// Nothing, in time.
    Nothing,
    /// Somebody wants us to end.
    Interrupted,
}

/// The result of waiting.
enum WaitResult {
    Readable,
    /// The worker has ended, and the line is empty.
    Ended,
    Interrupted,
    Nothing,
}

/// Why a conversation broke off.
#[derive(Debug)]
pub(crate) enum Broken<E> {
    /// The worker sent something that is not a message.
    Line(WireError),
    /// There is nothing to send.
    Source(E),
}

impl Connection {
    pub(crate) fn new(
        stream: UnixStream,
        end: Option<OwnedFd>,
        interrupt: Option<Interrupt>,
    ) -> io::Result<Connection> {
        stream.set_nonblocking(true)?;
        Ok(Connection {
            stream,
            end,
            interrupt,
            inbox: Inbox::default(),
            buffer: vec![0; CHUNK],
            out: Vec::new(),
            sent: 0,
        })
    }

    /// The buffer of frames to send. They are sent while listening.
    pub(crate) fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// True if the worker is there and has said nothing that was not listened to.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let nothing = matches!(self.stream.read(&mut self.buffer),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        nothing && self.inbox.is_empty()
    }

    /// Sends what there is to send and listens, until there is a message.
    ///
    /// Whenever everything is sent, `more` appends to it; it says whether it may be asked again.
    pub(crate) fn listen<E>(
        &mut self,
        deadline: Instant,
        mut more: impl FnMut(&mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<Received, Broken<E>> {
        let mut is_more = true;
        loop {
            if let Some(message) = self.inbox.take().map_err(Broken::Line)? {
                return Ok(Received::Message(message));
            }
            if is_more && self.is_sent() {
                is_more = more(&mut self.out).map_err(Broken::Source)?;
            }
            if !self.send().map_err(line)? {
                // The worker reads no more. What it said before, or why it ended, is still to come.
                is_more = false;
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            let patience = match is_more && self.is_sent() {
                true => Duration::ZERO,
                false => rest,
            };
            // A message that was begun is of no use when the worker died over it.
            match self.wait(patience).map_err(line)? {
                WaitResult::Readable if !self.receive().map_err(line)? => {
                    return Ok(Received::Closed);
                }
                WaitResult::Ended => return Ok(Received::Closed),
                WaitResult::Interrupted => return Ok(Received::Interrupted),
                WaitResult::Nothing if rest.is_zero() => return Ok(Received::Nothing),
                WaitResult::Readable | WaitResult::Nothing => {}
            }
        }
    }

    fn is_sent(&self) -> bool {
        self.sent == self.out.len()
    }

    /// Sends as much as the line takes; `false` where the worker does not read any more.
    fn send(&mut self) -> io::Result<bool> {
        while !self.is_sent() {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_gone(&error) => {
                    self.sent = self.out.len();
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.out.shrink_to(KEPT);
        self.sent = 0;
        Ok(true)
    }

    /// Waits until the line can be read, or written if there is something to send.
    fn wait(&self, patience: Duration) -> io::Result<WaitResult> {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, !self.is_sent());
        let end = self.end.as_ref();
        let bell = self.interrupt.as_ref().and_then(Interrupt::bell);
        let mut watched = vec![PollFd::new(&self.stream, flags)];
        watched.extend(end.map(|end| PollFd::new(end, PollFlags::IN)));
        watched.extend(bell.map(|bell| PollFd::from_borrowed_fd(bell, PollFlags::IN)));
        // A time that the system cannot express is for ever.
        let patience = Timespec::try_from(patience).ok();
        match poll(&mut watched, patience.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(WaitResult::Nothing),
            Err(error) => return Err(error.into()),
        }
        if (self.interrupt.as_ref()).is_some_and(Interrupt::ends_waits) {
            return Ok(WaitResult::Interrupted);
        }
        // What the worker said before its end comes first.
        let readable = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
        let happened = |at: usize| watched.get(at).map_or(PollFlags::empty(), PollFd::revents);
        Ok(match self.end {
            _ if happened(0).intersects(readable) => WaitResult::Readable,
            Some(_) if !happened(1).is_empty() => WaitResult::Ended,
            _ => WaitResult::Nothing,
        })
    }

    /// Reads what has arrived; `false` at the end of the line.
    fn receive(&mut self) -> io::Result<bool> {
        match self.stream.read(&mut self.buffer) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.inbox.feed(&self.buffer[..count]);
                Ok(true)
            }
            Err(error) if is_gone(&error) => Ok(false),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }
}

fn line<E>(error: io::Error) -> Broken<E> {
    Broken::Line(WireError::Io(error))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}
