//! A worker that does what the first step of each run says, by its site.

use std::io::{Read, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use culprit_jvm::CRASH_REPORT;
use culprit_model::Outcome;
use culprit_wire::{ClassCoverage, FromWorker, Message, ToWorker, VERSION};

/// The way the worker starts; the pool's plan passes it in the environment.
pub(crate) const START: &str = "CULPRIT_TEST_WORKER";

pub(crate) const ANSWER: u32 = 1;
pub(crate) const CRASH: u32 = 2;
pub(crate) const EXIT: u32 = 3;
pub(crate) const HANG: u32 = 4;
pub(crate) const NONSENSE: u32 = 5;
pub(crate) const CLOSE: u32 = 6;
pub(crate) const ANSWER_EARLY: u32 = 7;
pub(crate) const FAULT: u32 = 8;
/// Answers, and ends when the next run begins.
pub(crate) const LEAVE_BEHIND: u32 = 9;
/// Answers, and ends.
pub(crate) const ANSWER_AND_EXIT: u32 = 10;
pub(crate) const OTHER_NUMBER: u32 = 11;
pub(crate) const PRINT: u32 = 12;
pub(crate) const COVERAGE: u32 = 13;
pub(crate) const DIE_WITHIN_MESSAGE: u32 = 14;
pub(crate) const FLOOD: u32 = 15;
pub(crate) const CHILD: u32 = 16;
/// Crashes, and says where its report is.
pub(crate) const REPORT: u32 = 17;

/// Says that it has the subject, and hangs.
pub(crate) const HANG_IN_RUN: u32 = 18;
/// Leaves pipes and links to them where reports are looked for, and dies.
pub(crate) const PIPES: u32 = 19;
/// Leaves a folder that nobody may look into, and dies.
pub(crate) const LOCKED: u32 = 20;

/// Writes file after file.
pub(crate) const FILL_DISK: u32 = 21;
/// Makes file after file.
pub(crate) const FILL_FOLDER: u32 = 22;
/// Writes to files without a name.
pub(crate) const FILL_NAMELESS: u32 = 23;

/// A line that no worker sends.
const NONSENSE_LINE: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

/// Runs in the started process only.
#[test]
fn worker() {
    let Ok(start) = std::env::var(START) else {
        return;
    };
    let descriptor: Option<RawFd> =
        std::env::args().find_map(|word| word.strip_prefix("descriptor=")?.parse().ok());
    // SAFETY: the pool made the descriptor for this process, and nobody else here knows of it.
    let line = unsafe { UnixStream::from_raw_fd(descriptor.unwrap()) };
    begin(&start, &line);
    Fake {
        line,
        bomb: false,
        told: 0,
    }
    .serve();
    std::process::exit(0);
}

#[expect(clippy::print_stderr, reason = "what a JVM does that cannot start")]
fn begin(start: &str, mut line: &UnixStream) {
    let ready = FromWorker::ready(17, "17.0.1".to_owned(), std::process::id());
    match start {
        "ready" => ready.write_to(line).unwrap(),
        "slow" => {
            std::thread::sleep(Duration::from_millis(700));
            ready.write_to(line).unwrap();
        }
        "never" => park(),
        "exit" => {
            eprintln!("Unrecognized option: -Xnonsense");
            std::process::exit(1);
        }
        // Works in every other process only.
        "second" => {
            let mark = std::env::current_dir().unwrap().join("../mark");
            if !mark.exists() {
                std::fs::write(mark, "").unwrap();
                line.write_all(NONSENSE_LINE).unwrap();
                park();
            }
            ready.write_to(line).unwrap();
        }
        "version" => {
            let mut frame = Vec::new();
            ready.frame(&mut frame).unwrap();
            frame[5] = u8::try_from(VERSION).unwrap() + 1;
            line.write_all(&frame).unwrap();
            park();
        }
        "nonsense" => {
            line.write_all(NONSENSE_LINE).unwrap();
            park();
        }
        other => panic!("no start `{other}`"),
    }
}

#[expect(clippy::print_stderr, reason = "what a JVM does that crashes")]
fn report() {
    let report = std::env::current_dir().unwrap().join(CRASH_REPORT);
    std::fs::write(&report, "SIGSEGV").unwrap();
    eprintln!("saved as {}", report.display());
    std::process::abort();
}

fn park() {
    loop {
        std::thread::park();
    }
}

struct Fake {
    line: UnixStream,
    /// Ends at the next run.
    bomb: bool,
    /// Tables and blobs that were told.
    told: u64,
}

impl Fake {
    fn serve(&mut self) {
        let (mut number, mut way, mut steps) = (0, 0, 0);
        while let Some(message) = ToWorker::read_from(&self.line).unwrap() {
            match message {
                ToWorker::Run(_) if self.bomb => std::process::exit(9),
                ToWorker::Run(run) => (number, way, steps) = (run.number, 0, 0),
                ToWorker::Steps(chunk) => {
                    steps += chunk.len() as u64;
                    if way == 0 {
                        way = chunk[0].site.0;
                        self.at_start(number, way);
                    }
                }
                ToWorker::Statements(chunk) => steps += chunk.len() as u64,
                ToWorker::EndOfSteps => self.at_end(number, way, steps),
                ToWorker::Tables(_) | ToWorker::Blob { .. } => self.told += 1,
                ToWorker::Bye => return,
                ToWorker::Subject(_) | ToWorker::Class(_) | ToWorker::Stop | ToWorker::Forget => {}
            }
        }
    }

    fn done(&self, number: u64, steps: u64) {
        let outcome = Outcome::InSync {
            steps,
            open_calls: u32::try_from(self.told).unwrap(),
        };
        let done = FromWorker::Done { number, outcome };
        done.write_to(&self.line).unwrap();
    }

    fn at_start(&mut self, number: u64, way: u32) {
        match way {
            ANSWER_EARLY => self.done(number, 0),
            CRASH => std::process::abort(),
            REPORT => report(),
            EXIT => std::process::exit(7),
            HANG => park(),
            HANG_IN_RUN => {
                FromWorker::TakenIn.write_to(&self.line).unwrap();
                park();
            }
            PIPES => leave_pipes(),
            LOCKED => leave_locked(),
            FILL_DISK | FILL_FOLDER | FILL_NAMELESS => fill(way),
            NONSENSE => self.line.write_all(&[0xff; 64]).unwrap(),
            CLOSE => {
                self.line.shutdown(std::net::Shutdown::Both).unwrap();
                park();
            }
            FAULT => FromWorker::Fault("index out of bounds".to_owned())
                .write_to(&self.line)
                .unwrap(),
            DIE_WITHIN_MESSAGE => {
                self.line.write_all(&[100, 0, 0, 0, 2]).unwrap();
                std::process::exit(3);
            }
            FLOOD => loop {
                let message = FromWorker::Coverage(Vec::new());
                if message.write_to(&self.line).is_err() {
                    std::process::exit(0);
                }
            },
            CHILD => hold_on(),
            _ => {}
        }
    }

    fn at_end(&mut self, number: u64, way: u32, steps: u64) {
        match way {
            ANSWER_EARLY => return,
            OTHER_NUMBER => return self.done(number + 1, steps),
            LEAVE_BEHIND => self.bomb = true,
            PRINT => print_much(),
            COVERAGE => {
                let lines = vec![(3, 1), (4, 2)];
                let class = "C".to_owned();
                let coverage = FromWorker::Coverage(vec![ClassCoverage { class, lines }]);
                coverage.write_to(&self.line).unwrap();
            }
            _ => {}
        }
        self.done(number, steps);
        if way == ANSWER_AND_EXIT {
            std::process::exit(0);
        }
    }
}

#[expect(clippy::print_stdout, reason = "what a subject does")]
fn print_much() {
    for _ in 0..3000 {
        println!("{}", "x".repeat(1000));
    }
}

fn leave_pipes() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    for name in ["stderr", "stdout"] {
        std::fs::remove_file(name).unwrap();
    }
    for name in ["stderr", "stdout", "a.log", CRASH_REPORT] {
        mknodat(CWD, name, FileType::Fifo, Mode::RWXU, 0).unwrap();
    }
    std::os::unix::fs::symlink("a.log", "b.log").unwrap();
    std::os::unix::fs::symlink("/dev/zero", "c.log").unwrap();
    std::process::exit(6);
}

fn fill(way: u32) {
    let mut held = Vec::new();
    for number in 0.. {
        let name = format!("file-{number}");
        let mut file = std::fs::File::options();
        let file = file
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&name);
        let mut file = file.unwrap();
        let bytes = if way == FILL_FOLDER { 0 } else { 1 << 20 };
        file.write_all(&vec![1; bytes]).unwrap();
        if way == FILL_NAMELESS {
            std::fs::remove_file(&name).unwrap();
            held.push(file);
        }
    }
}

fn leave_locked() {
    use rustix::fs::{CWD, Mode, mkdirat};
    std::fs::create_dir("deep").unwrap();
    std::fs::write("deep/file", "x").unwrap();
    for name in ["locked", "deep/locked"] {
        mkdirat(CWD, name, Mode::empty()).unwrap();
    }
    std::process::exit(6);
}

/// Leaves a process behind that would outlive this one, and dies.
#[expect(clippy::disallowed_methods, reason = "what a subject does")]
fn hold_on() {
    let child = std::process::Command::new("/bin/sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    std::fs::write("../child", child.id().to_string()).unwrap();
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(5);
}
