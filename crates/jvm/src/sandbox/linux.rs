//! The sandbox of Linux: Landlock and seccomp.

use std::io;
use std::path::{Path, PathBuf};

use culprit_sandbox::{Filter, Network, Permissions};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, RestrictSelfError, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, Scope,
};

use super::{Abilities, Sandbox, SandboxError, interpreter, privileges};

/// The newest Landlock whose rights are known to be right for JVMs. Older kernels take what they
/// know of it.
const KNOWN: ABI = ABI::V7;

/// What is written to without harm, and by many programs.
const NULL: &str = "/dev/null";

pub(super) fn probe() -> Abilities {
    let can = |ask: fn(Ruleset) -> Result<Ruleset, RulesetError>| {
        ask(Ruleset::default().set_compatibility(CompatLevel::HardRequirement)).is_ok()
    };
    Abilities {
        files: can(|rules| rules.handle_access(AccessFs::from_write(ABI::V1))),
        truncation: can(|rules| rules.handle_access(AccessFs::Truncate)),
        signals: can(|rules| rules.scope(Scope::Signal)),
        calls: Filter::is_available(),
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
        let permissions = Permissions {
            network: match sandbox.ports.is_empty() {
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
        Ok(Confinement { rules, filter })
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

/// Reading is no right that is handled here, so it stays free.
fn rules(sandbox: &Sandbox, program: &Path) -> Result<RulesetCreated, SandboxError> {
    let handled = AccessFs::from_write(KNOWN) | AccessFs::Execute;
    let write = AccessFs::from_write(KNOWN) & !never();
    let mut rules = Ruleset::default()
        .handle_access(handled)
        .and_then(|rules| rules.handle_access(AccessNet::from_all(KNOWN)))
        .and_then(|rules| rules.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        .map_err(refused)?;
    for path in sandbox.writable.iter().map(PathBuf::as_path) {
        rules = allow(rules, path, write)?;
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

/// What may be executed: everything, or the program and its linker.
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
