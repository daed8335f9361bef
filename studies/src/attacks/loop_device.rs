//! A small file system in a file, mounted by a loop device: what attempts on file systems and devices are aimed at,
//! so that none of them meets the machine's own. Needs root.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::process::{Outcome, Run, words};

pub struct LoopDevice {
    image: PathBuf,
    /// Such as `/dev/loop0`.
    pub device: String,
    pub mounted: PathBuf,
    before: String,
}

impl LoopDevice {
    /// Made and mounted in a folder.
    pub fn new(folder: &Path) -> anyhow::Result<LoopDevice> {
        fs::create_dir_all(folder)?;
        let (image, mounted) = (folder.join("image"), folder.join("mounted"));
        fs::create_dir(&mounted)?;
        fs::File::create(&image)?.set_len(4 << 20)?;
        let tool = |line: &[&str]| tool(folder, line);
        let name = image.to_str().context("a path that is no text")?;
        let at = mounted.to_str().context("a path that is no text")?;
        tool(&["mkfs.ext4", "-q", "-L", "precious", name])?;
        let device = tool(&["losetup", "--find", "--show", name])?
            .trim()
            .to_owned();
        let mut it = LoopDevice {
            image,
            device,
            mounted: mounted.clone(),
            before: String::new(),
        };
        // A device keeps its rights when it gets another file.
        tool(&["blockdev", "--setrw", &it.device])?;
        tool(&["mount", &it.device, at])?;
        it.before = it.state()?;
        Ok(it)
    }

    /// The changes.
    pub fn change(&self) -> anyhow::Result<Option<String>> {
        let folder = self.image.parent().unwrap_or(Path::new("/"));
        let mounted = self.mounted.display().to_string();
        // Only what is frozen can be thawed.
        if tool(folder, &["fsfreeze", "-u", &mounted]).is_ok() {
            return Ok(Some("the file system was frozen".to_owned()));
        }
        let now = self.state()?;
        let differs = |(before, now): &(&str, &str)| before != now;
        let mut parts = self.before.split(", ").zip(now.split(", "));
        let found = parts.find(differs);
        Ok(found.map(|(before, now)| format!("{before} became {now}")))
    }

    /// Its label, its first bytes, its rights, where it is mounted, and whether it can be written to.
    fn state(&self) -> anyhow::Result<String> {
        let folder = self.image.parent().unwrap_or(Path::new("/"));
        let label = tool(folder, &["e2label", &self.device]).unwrap_or_default();
        let mut bytes = [0; 4];
        fs::File::open(&self.device)?.read_exact(&mut bytes)?;
        let first = String::from_utf8_lossy(&bytes).into_owned();
        let name = self.device.trim_start_matches("/dev/");
        let read_only = fs::read_to_string(format!("/sys/block/{name}/ro"))?;
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let near = folder.parent().unwrap_or(folder).display().to_string();
        let mounts: Vec<String> = (mounts.lines())
            .filter(|line| line.contains(&near))
            .map(|line| {
                let fields: Vec<&str> = line.split(' ').collect();
                let place = fields[4].rsplit('/').next().unwrap_or_default();
                format!("{place} {}", fields[5])
            })
            .collect();
        let probe = self.mounted.join("probe");
        let writable = fs::write(&probe, "x").and_then(|()| fs::remove_file(&probe));
        Ok(format!(
            "label {}, bytes {first:?}, read-only {}, mounts {mounts:?}, writable {}",
            label.trim(),
            read_only.trim(),
            writable.is_ok()
        ))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let folder = self.image.parent().unwrap_or(Path::new("/")).to_owned();
        let near = folder.parent().unwrap_or(&folder).to_owned();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        // Whatever was mounted below, wherever it was moved to.
        for line in mounts.lines().rev() {
            let place = line.split(' ').nth(4).unwrap_or_default();
            if Path::new(place).starts_with(&near) {
                let _ = tool(&folder, &["umount", "-l", place]);
            }
        }
        let _ = tool(&folder, &["blockdev", "--setrw", &self.device]);
        let _ = tool(&folder, &["losetup", "-d", &self.device]);
    }
}

/// The output of a tool of the system.
fn tool(folder: &Path, line: &[&str]) -> anyhow::Result<String> {
    let run = Run {
        program: PathBuf::from(line[0]),
        args: words(&line[1..]),
        folder: folder.to_owned(),
        env: vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())],
        stdout: folder.join("tool.out"),
        stderr: folder.join("tool.err"),
        limit: Duration::from_secs(60),
    };
    let outcome = run.run()?;
    let succeeded = matches!(outcome, Outcome::Ended { status, .. } if status.is_success());
    let said = fs::read_to_string(&run.stderr).unwrap_or_default();
    ensure!(succeeded, "{} failed: {said}", line.join(" "));
    Ok(fs::read_to_string(&run.stdout)?)
}
