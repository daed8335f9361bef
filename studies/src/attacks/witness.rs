//! Witnesses: they check from outside whether attempts succeeded.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::attempt::{Attempt, Way, Witness};
use super::loop_device::LoopDevice;
use super::place::Place;

/// The descriptor that is open when the study starts, and that nobody should inherit.
pub const DESCRIPTOR: u32 = 7;

/// One attempt, made in one way, with what it is after.
pub struct Trial {
    pub attempt: &'static Attempt,
    /// The way in which the program makes it: `java`, `jni` or `ffm`.
    pub by: &'static str,
    pub place: Place,
}

impl Trial {
    /// Each attempt in every way that a JDK has, in folders of their own.
    pub fn all(
        attempts: &[&'static Attempt],
        feature: u32,
        folder: &Path,
    ) -> anyhow::Result<Vec<Trial>> {
        let mut trials = Vec::new();
        for attempt in attempts {
            let ways: &[&str] = match (attempt.way, feature >= 22) {
                (Way::Java, _) => &["java"],
                // One way is enough where each takes a JVM and a file system.
                (Way::Native, true) if attempt.is_alone() => &["ffm"],
                (Way::Native, true) => &["jni", "ffm"],
                (Way::Native, false) => &["jni"],
                (Way::Foreign, true) => &["ffm"],
                (Way::Foreign, false) => &[],
            };
            for by in ways {
                let place = folder.join(format!("{by}-{}", attempt.name));
                let sockets = attempt.witness == Witness::Arrival;
                let victim = attempt.aim == super::Aim::Processes;
                trials.push(Trial {
                    attempt,
                    by,
                    place: Place::new(&place, sockets, victim)?,
                });
            }
        }
        Ok(trials)
    }

    pub fn key(&self) -> String {
        format!("{} {}", self.by, self.attempt.name)
    }
}

/// The common parts of trials.
pub struct Common {
    /// The folder that the program may write to.
    pub scratch: PathBuf,
    pub loop_device: Option<LoopDevice>,
    /// A file in memory that others can open.
    pub shared: PathBuf,
    queue: Option<String>,
}

impl Common {
    pub fn new(folder: &Path, loop_device: bool) -> anyhow::Result<Common> {
        let scratch = folder.join("scratch");
        fs::create_dir_all(&scratch)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let shared = PathBuf::from(format!("/dev/shm/attacks-{}-{name}", std::process::id()));
        fs::write(&shared, "precious")?;
        reset_descriptor();
        Ok(Common {
            scratch,
            loop_device: match loop_device {
                true => Some(LoopDevice::new(&folder.join("loop"))?),
                false => None,
            },
            shared,
            queue: queue(),
        })
    }

    /// The visible effect of a trial.
    pub fn harm(&self, trial: &Trial) -> anyhow::Result<Option<String>> {
        Ok(match trial.attempt.witness {
            Witness::Place => trial.place.change()?,
            Witness::Arrival => trial.place.arrival(),
            Witness::Victim => trial.place.wound(),
            Witness::Ran => {
                let place = trial.place.folder.file_name().unwrap_or_default();
                let mark = format!("ran-{}", place.to_string_lossy());
                let ran = self.scratch.join(mark).exists();
                ran.then(|| "the program ran".to_owned())
            }
            Witness::Node => node_below(&self.scratch, node_of(trial.attempt.name)),
            Witness::Loop => match &self.loop_device {
                Some(device) => device.change()?,
                None => None,
            },
            Witness::Descriptor => descriptor()
                .filter(|text| text != "precious")
                .map(|_| "the file was changed".to_owned()),
            Witness::Shared => {
                let now = fs::read(&self.shared).unwrap_or_default();
                (now != b"precious").then(|| "the file was changed".to_owned())
            }
            // Nobody but root can change it, and root may attack at the same time.
            Witness::Interface if !geteuid().is_root() => None,
            Witness::Interface => {
                (queue() != self.queue).then(|| "the queue has another length".to_owned())
            }
            Witness::Kernel | Witness::Harmless(_) => None,
        })
    }

    /// Undoes what trials share, before the next one is made. As root only; others changed nothing.
    pub fn restore(&self) -> anyhow::Result<()> {
        reset_descriptor();
        fs::write(&self.shared, "precious")?;
        if queue() != self.queue {
            if let Some(length) = &self.queue {
                fs::write(QUEUE, length)?;
            }
        }
        Ok(())
    }
}

impl Drop for Common {
    fn drop(&mut self) {
        let _ = self.restore();
        let _ = fs::remove_file(&self.shared);
    }
}

const QUEUE: &str = "/sys/class/net/lo/tx_queue_len";

fn queue() -> Option<String> {
    fs::read_to_string(QUEUE).ok()
}

/// The content of the file behind the descriptor.
fn descriptor() -> Option<String> {
    fs::read_to_string(format!("/proc/self/fd/{DESCRIPTOR}")).ok()
}

/// True if there is something to inherit.
pub(super) fn descriptor_is_open() -> Option<String> {
    let is_open = descriptor().is_some_and(|text| text == "precious");
    is_open.then(|| "the descriptor is open".to_owned())
}

/// Where it is a file of the study, and none that something else left open.
fn reset_descriptor() {
    if descriptor().is_some_and(|text| text == "precious" || text.starts_with("harm")) {
        let _ = fs::write(format!("/proc/self/fd/{DESCRIPTOR}"), "precious");
    }
}

/// The name that an attempt gives its node.
fn node_of(attempt: &str) -> &str {
    match attempt {
        "char-node-kmsg" => "kmsg",
        "char-node-null" => "null",
        other => other,
    }
}

fn node_below(folder: &Path, name: &str) -> Option<String> {
    let kind = folder.join(name).symlink_metadata().ok()?.file_type();
    (kind.is_block_device() || kind.is_char_device()).then(|| "a device node was made".to_owned())
}
