//! Warm JVMs: they take candidate after candidate, each with classes of its own.
//!
//! A run in a warm JVM may be disturbed by those before it, so its word counts while it agrees with
//! that of a new JVM where that is known. One whose test left threads or filled the memory is not
//! used again, and a candidate that takes its JVM with it is run in a new one.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use culprit_jvm::{Launch, Responder, Response, Status};

use super::{JavaTest, MAIN, OPTIONS, Reads, shadow};
use crate::ending::How;
use crate::{Ending, Error, RunSetup};

/// Status, whether the JVM is soiled, and the length of what was said.
const HEAD: usize = 6;

/// JVMs that wait for candidates.
pub struct Warm {
    test: JavaTest,
    /// For the folders of JVMs.
    folder: PathBuf,
    /// Where the user is.
    started: PathBuf,
    env: Vec<(OsString, OsString)>,
    idle: Mutex<Vec<WarmJvm>>,
    number: AtomicUsize,
    strays: AtomicUsize,
}

/// A JVM with the place where it reads its candidate.
struct WarmJvm {
    responder: Responder,
    place: PathBuf,
}

impl fmt::Debug for Warm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Warm({:?})", self.test)
    }
}

impl Warm {
    /// None is started yet. The folder is one in which the tester was installed.
    pub fn new(
        test: JavaTest,
        folder: &Path,
        started: &Path,
        env: &[(OsString, OsString)],
    ) -> Warm {
        Warm {
            test,
            folder: folder.to_owned(),
            started: started.to_owned(),
            env: env.to_vec(),
            idle: Mutex::default(),
            number: AtomicUsize::new(0),
            strays: AtomicUsize::new(0),
        }
    }

    /// Runs the candidate of a setup. `None` if it took its JVM with it.
    pub(crate) fn run(
        &self,
        setup: &RunSetup,
        limit: Duration,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Option<Ending>, Error> {
        let idle = self.lock().pop();
        let mut jvm = match idle {
            Some(jvm) => jvm,
            None => self.start()?,
        };
        // What is not there need not go.
        let _ = fs::remove_file(&jvm.place);
        symlink(self.candidate(setup), &jvm.place).map_err(Error::at(&jvm.place))?;
        let began = Instant::now();
        let heard = jvm.responder.ask(&[1], &is_whole, limit, wanted);
        let took = began.elapsed();
        let ending = |how, err| Ending {
            how,
            out: String::new(),
            err,
            is_out_cut: false,
            is_err_cut: false,
            took,
            strays: 0,
        };
        let told = match heard {
            Response::Answer(answer) => {
                let status = Status::Exited(answer[0]);
                let said = String::from_utf8_lossy(&answer[HEAD..]).into_owned();
                if answer[1] == 0 {
                    self.lock().push(jvm);
                    return Ok(Some(ending(How::Ended(status), said)));
                }
                Some(ending(How::Ended(status), said))
            }
            Response::Ended => None,
            Response::Late => Some(ending(How::Late, String::new())),
            Response::Unwanted => return Err(Error::Unwanted),
        };
        let strays = jvm.responder.end();
        self.strays.fetch_add(strays, Ordering::Relaxed);
        Ok(told)
    }

    /// Ends all; how many processes tests had left behind.
    pub(crate) fn end(&self) -> usize {
        let idle = std::mem::take(&mut *self.lock());
        let ended: usize = idle.into_iter().map(|jvm| jvm.responder.end()).sum();
        ended + self.strays.swap(0, Ordering::Relaxed)
    }

    /// The path of the candidate of a setup.
    fn candidate(&self, setup: &RunSetup) -> PathBuf {
        match (&self.test.reads, &setup.candidate) {
            (Reads::Resource(name), Some(folder)) => folder.join(name),
            (Reads::Resource(name), None) => setup.directory.join(name),
            (Reads::File(path), _) => setup.directory.join(path),
        }
    }

    fn start(&self) -> Result<WarmJvm, Error> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let own = self.folder.join(format!("warm-{number}"));
        let scratch = own.join("tmp");
        fs::create_dir_all(&scratch).map_err(Error::at(&scratch))?;
        let (before, directory, place) = match &self.test.reads {
            Reads::Resource(name) => {
                let classes = own.join("classes");
                let place = classes.join(name);
                let parent = place.parent().unwrap_or(&classes);
                fs::create_dir_all(parent).map_err(Error::at(parent))?;
                (Some(classes), self.started.clone(), place)
            }
            Reads::File(path) => {
                let work = own.join("work");
                let place = shadow(&self.started, path, &work).map_err(Error::at(&work))?;
                (None, work, place)
            }
        };
        let mut path = OsString::new();
        if let Some(before) = before {
            path.push(before);
            path.push(":");
        }
        path.push(self.test.joined());
        path.push(":");
        path.push(self.folder.join("tester"));
        let mut args: Vec<OsString> = OPTIONS.split(' ').map(OsString::from).collect();
        let mut temporary = OsString::from("-Djava.io.tmpdir=");
        temporary.push(&scratch);
        args.extend([temporary, "-cp".into(), path.clone(), MAIN.into()]);
        args.extend([&self.test.class, &self.test.method].map(OsString::from));
        args.push(path);
        let mut env = self.env.clone();
        env.retain(|(name, _)| name != "TMPDIR");
        env.push(("TMPDIR".into(), scratch.into()));
        let launch = Launch {
            file: self.test.java.clone(),
            args,
            env,
            directory,
            limits: self.test.limits,
            sandbox: self.test.sandbox.clone().map(|it| it.allow_write(&own)),
        };
        Ok(WarmJvm {
            responder: Responder::start(&launch)?,
            place,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<WarmJvm>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_whole(answer: &[u8]) -> bool {
    let length = answer.get(2..HEAD).and_then(|bytes| bytes.try_into().ok());
    length.is_some_and(|bytes: [u8; 4]| answer.len() - HEAD >= u32::from_be_bytes(bytes) as usize)
}

#[cfg(test)]
mod tests {
    use culprit_jvm::{Limits, Sandbox};

    use super::*;
    use crate::test::tests::setup;

    /// A program in place of a JVM that runs a test which fills the disk.
    #[test]
    fn a_test_that_fills_the_disk_takes_its_jvm_with_it() {
        let home = tempfile::tempdir().unwrap();
        let java = home.path().join("java");
        let script = "#!/bin/sh\ncd \"$TMPDIR\"\n\
                      while :; do i=$((i+1)); head -c 3000000 /dev/zero >$i; sleep 0.01; done\n";
        culprit_jvm::between_starts(|| {
            fs::write(&java, script).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&java, mode).unwrap();
        });
        let test = JavaTest {
            java,
            class_path: Vec::new(),
            class: "T".to_owned(),
            method: "t".to_owned(),
            reads: Reads::File("a".into()),
            sandbox: Some(Sandbox::default().allow_programs()),
            limits: Limits {
                file_size: Some(4 << 20),
                ..Limits::NONE
            },
        };
        let command = test.test(home.path(), Vec::new(), Duration::ZERO, &[]);
        assert_eq!(command.unwrap().limits, test.limits);
        let env = [("PATH".into(), std::env::var_os("PATH").unwrap())];
        let warm = Warm::new(test, home.path(), home.path(), &env);
        let limit = Duration::from_secs(60);
        let ended = warm.run(&setup(home.path()), limit, &|| true).unwrap();
        assert_eq!(ended, None);
    }
}
