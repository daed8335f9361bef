//! The sandbox of Linux: Landlock and seccomp.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use culprit_sandbox::{Filter, Network, Permissions};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, RestrictSelfError, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, Scope,
};

use super::loopback::Loopback;
use super::{Abilities, Sandbox, SandboxError, interpreter, privileges};

/// The newest Landlock whose rights are known to be right for JVMs. Older kernels take what they
/// know of it.
const KNOWN: ABI = ABI::V7;

/// A device that many programs write to, without harm.
const NULL: &str = "/dev/null";

/// The folder of devices, terminals among them.
const DEVICES: &str = "/dev";

/// The devices that can be read, and files in memory.
const READABLE: [&str; 6] = [
    NULL,
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm",
];

pub(super) fn probe() -> Abilities {
    let can = |ask: fn(Ruleset) -> Result<Ruleset, RulesetError>| {
        ask(Ruleset::default().set_compatibility(CompatLevel::HardRequirement)).is_ok()
    };
    Abilities {
        files: can(|rules| rules.handle_access(AccessFs::from_write(ABI::V1))),
        truncation: can(|rules| rules.handle_access(AccessFs::Truncate)),
        signals: can(|rules| rules.scope(Scope::Signal)),
        calls: Filter::is_available(),
        loopback: Loopback::is_available(),
    }
}

/// Each version has something that the one before has not. The kernel is asked for that, since it tells its
/// version only to whoever calls it without a safe layer between.
pub(super) fn landlock() -> u32 {
    let news: [fn(Ruleset) -> Result<Ruleset, RulesetError>; 6] = [
        |rules| rules.handle_access(AccessFs::from_all(ABI::V1)),
        |rules| rules.handle_access(AccessFs::Refer),
        |rules| rules.handle_access(AccessFs::Truncate),
        |rules| rules.handle_access(AccessNet::BindTcp),
        |rules| rules.handle_access(AccessFs::IoctlDev),
        |rules| rules.scope(Scope::Signal),
    ];
    let is_known = |ask: &&fn(Ruleset) -> Result<Ruleset, RulesetError>| {
        ask(Ruleset::default().set_compatibility(CompatLevel::HardRequirement)).is_ok()
    };
    let known = news.iter().take_while(is_known).count();
    u32::try_from(known).unwrap_or(0)
}

/// A sandbox for one process, made of everything that this kernel has.
#[derive(Debug)]
pub(crate) struct Confinement {
    loopback: Option<Loopback>,
    rules: Option<RulesetCreated>,
    filter: Option<Filter>,
}

impl Confinement {
    /// For a program and what it may do.
    pub(crate) fn prepare(sandbox: &Sandbox, program: &Path) -> Result<Confinement, SandboxError> {
        let abilities = probe();
        if !abilities.files && !abilities.calls {
            return Err(SandboxError::NotAvailable);
        }
        let rules = match abilities.files {
            true => Some(rules(sandbox, program)?),
            false => None,
        };
        let loopback = sandbox.has_loopback().then(Loopback::new);
        let permissions = Permissions {
            network: match sandbox.ports.is_empty() {
                true if loopback.is_some() => Network::Loopback,
                true => Network::Nothing,
                false => Network::Listen,
            },
            programs: sandbox.programs,
            attributes: sandbox.attributes,
            shared_memory: sandbox.shared_memory,
        };
        let filter = match abilities.calls {
            true => Some(Filter::for_launch(permissions).map_err(refused)?),
            false => None,
        };
        Ok(Confinement {
            loopback,
            rules,
            filter,
        })
    }

    /// Moves this process into a network of its own, if it is to have one. It comes before the process asks to be
    /// killed with its parent, since a change of credentials would take that back. Neither allocates nor locks.
    pub(crate) fn enter_network(&self) -> io::Result<()> {
        self.loopback.as_ref().map_or(Ok(()), Loopback::enter)
    }

    /// Confines this process for good. Neither allocates nor locks.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        privileges::give_up()?;
        if let Some(rules) = self.rules.take() {
            rules.restrict_self().map_err(|error| match error {
                RulesetError::RestrictSelf(
                    RestrictSelfError::SetNoNewPrivsCall { source, .. }
                    | RestrictSelfError::RestrictSelfCall { source, .. },
                ) => source,
                _ => io::ErrorKind::Unsupported.into(),
            })?;
        }
        match &self.filter {
            Some(filter) => filter.enter(),
            None => Ok(()),
        }
    }
}

impl Sandbox {
    /// True if the program has a network of its own. Waiting for a debugger takes the one of the system.
    fn has_loopback(&self) -> bool {
        self.loopback && self.ports.is_empty() && Loopback::is_available()
    }
}

fn refused(error: impl std::fmt::Display) -> SandboxError {
    SandboxError::Rules(error.to_string())
}

/// Rights that nobody is given anywhere: devices, and what others would wait at.
fn never() -> BitFlags<AccessFs> {
    AccessFs::MakeBlock
        | AccessFs::MakeChar
        | AccessFs::MakeFifo
        | AccessFs::MakeSock
        | AccessFs::IoctlDev
}

/// Folders can be listed everywhere: that right is not handled. Files can be read everywhere but in `/dev`, where a
/// program would find the terminal of the user.
fn rules(sandbox: &Sandbox, program: &Path) -> Result<RulesetCreated, SandboxError> {
    let read = BitFlags::from(AccessFs::ReadFile);
    // A root that cannot be listed names no folders to read from. There, reading is not handled either.
    let readable = readable(Path::new("/"), Path::new(DEVICES)).unwrap_or_default();
    let handled = AccessFs::from_write(KNOWN) | AccessFs::Execute;
    let handled = match readable.is_empty() {
        true => handled,
        false => handled | read,
    };
    let write = AccessFs::from_write(KNOWN) & !never();
    // The kernel refuses rules about rights that are not handled.
    let write_and_read = write | (handled & read);
    let mut rules = Ruleset::default()
        .handle_access(handled)
        .and_then(|rules| match sandbox.has_loopback() {
            // Nobody else is on that network.
            true => Ok(rules),
            false => rules.handle_access(AccessNet::from_all(KNOWN)),
        })
        .and_then(|rules| rules.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        .map_err(refused)?;
    for path in &readable {
        // One that is gone meanwhile, or that we cannot look at, is nothing to read either.
        if let Ok(place) = PathFd::new(path) {
            let rule = PathBeneath::new(place, read);
            rules = rules.add_rule(rule).map_err(refused)?;
        }
    }
    for path in sandbox.writable.iter().map(PathBuf::as_path) {
        rules = allow(rules, path, write_and_read)?;
    }
    rules = allow(rules, Path::new(NULL), write)?;
    for path in executable(sandbox, program)? {
        rules = allow(rules, &path, AccessFs::Execute.into())?;
    }
    for port in &sandbox.ports {
        let port = NetPort::new(*port, AccessNet::BindTcp);
        rules = rules.add_rule(port).map_err(refused)?;
    }
    Ok(rules)
}

/// The files and folders below a root that can be read: all but the folder of devices, and some of the devices. A
/// symbolic link is none of them, since its target is below another entry, or is a device.
fn readable(root: &Path, devices: &Path) -> io::Result<Vec<PathBuf>> {
    // The folder itself, by whatever name it is mounted.
    let identity = |about: &fs::Metadata| (about.dev(), about.ino());
    let devices = fs::metadata(devices).ok().as_ref().map(identity);
    let is_readable = |entry: &fs::DirEntry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| kind.is_dir() || kind.is_file())
            && entry.file_name() != "dev"
            && fs::symlink_metadata(entry.path()).is_ok_and(|it| devices != Some(identity(&it)))
    };
    let entries = fs::read_dir(root)?.flatten().filter(is_readable);
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.extend(READABLE.map(PathBuf::from));
    Ok(found)
}

/// The files that may be executed: all, or the program and its linker.
fn executable(sandbox: &Sandbox, program: &Path) -> Result<Vec<PathBuf>, SandboxError> {
    if sandbox.programs {
        return Ok(vec![PathBuf::from("/")]);
    }
    let linker = interpreter::of(program).map_err(|_| SandboxError::Program(program.to_owned()))?;
    Ok(std::iter::once(program.to_owned()).chain(linker).collect())
}

fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, SandboxError> {
    let failed = |error| SandboxError::Path {
        path: path.to_owned(),
        error,
    };
    let is_folder = path.metadata().map_err(failed)?.is_dir();
    let place = PathFd::new(path).map_err(|error| match error {
        landlock::PathFdError::OpenCall { source, .. } => failed(source),
        other => refused(other),
    })?;
    let access = match is_folder {
        true => access,
        false => access & AccessFs::from_file(KNOWN),
    };
    rules
        .add_rule(PathBeneath::new(place, access))
        .map_err(refused)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn files_and_folders_of_a_root_can_be_read_but_neither_devices_nor_links() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for name in ["dev", "usr", "devices", "mounted"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("program.jar"), "x").unwrap();
        symlink("usr", at("bin")).unwrap();
        symlink("dev", at("terminals")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        let mut found = readable(root.path(), &at("mounted")).unwrap();
        let devices = found.split_off(found.len() - READABLE.len());
        assert_eq!(devices, READABLE.map(PathBuf::from));
        found.sort();
        assert_eq!(found, ["devices", "program.jar", "usr"].map(at));
        assert!(readable(&at("none"), &at("dev")).is_err());
    }
}
