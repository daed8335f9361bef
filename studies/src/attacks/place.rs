//! The target of an attempt: a folder with files, sockets that listen and a process, all of its own, so that many
//! attempts can be made by one JVM.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::fs::{XattrFlags, ioctl_getflags, listxattr, setxattr};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// One attempt's own.
pub struct Place {
    pub folder: PathBuf,
    before: BTreeMap<PathBuf, String>,
    sockets: Option<Sockets>,
    victim: Option<Victim>,
}

struct Sockets {
    tcp: TcpListener,
    udp: UdpSocket,
    stream: UnixListener,
    datagram: UnixDatagram,
    abstract_stream: UnixListener,
    abstract_datagram: UnixDatagram,
}

struct Victim {
    process: Prey,
    before: String,
}

/// A process to be harmed. It is ended when it is dropped. Its parent is this process, in which `culprit_jvm` may have
/// waited for it already; so it is known by a descriptor, and its number is not used to end it.
pub struct Prey {
    child: Child,
    descriptor: OwnedFd,
}

impl Prey {
    pub fn start(command: &mut Command) -> anyhow::Result<Prey> {
        let child = command.stdin(Stdio::null()).spawn()?;
        let descriptor = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(Prey { child, descriptor })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn output(&mut self) -> Option<&mut ChildStdout> {
        self.child.stdout.as_mut()
    }

    fn lives(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id()));
        stat.is_ok_and(|it| !it.contains(") Z "))
    }
}

impl Drop for Prey {
    fn drop(&mut self) {
        // It may be gone already, and waited for.
        let _ = pidfd_send_signal(&self.descriptor, Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Place {
    /// With sockets and a victim if an attempt is after them.
    pub fn new(folder: &Path, sockets: bool, victim: bool) -> anyhow::Result<Place> {
        fs::create_dir_all(folder.join("folder"))?;
        fs::create_dir(folder.join("empty"))?;
        for (name, text) in [
            ("file", "precious"),
            ("setuid", "precious"),
            ("folder/inner", "another"),
        ] {
            fs::write(folder.join(name), text)?;
        }
        let file = folder.join("file");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o600))?;
        fs::set_permissions(folder.join("setuid"), PermissionsExt::from_mode(0o4755))?;
        // Not every file system has such attributes; the attempt to remove one is not possible there.
        let _ = setxattr(&file, "user.precious", b"x", XattrFlags::empty());
        let sockets = sockets.then(|| Sockets::new(folder)).transpose()?;
        let victim = victim.then(|| Victim::new(folder)).transpose()?;
        Ok(Place {
            before: snapshot(folder)?,
            folder: folder.to_owned(),
            sockets,
            victim,
        })
    }

    /// The first difference to what there was.
    pub fn change(&self) -> anyhow::Result<Option<String>> {
        let now = snapshot(&self.folder)?;
        let name = |path: &Path| {
            let inner = path.strip_prefix(&self.folder).unwrap_or(path);
            inner.display().to_string()
        };
        for (path, state) in &self.before {
            match now.get(path) {
                None => return Ok(Some(format!("{} is gone", name(path)))),
                Some(other) if other != state => {
                    return Ok(Some(format!("{} was changed", name(path))));
                }
                Some(_) => {}
            }
        }
        let new = now.keys().find(|path| !self.before.contains_key(*path));
        Ok(new.map(|path| format!("{} was created", name(path))))
    }

    /// The first socket that something arrived at.
    pub fn arrival(&self) -> Option<String> {
        let it = self.sockets.as_ref()?;
        let mut byte = [0];
        let arrived = [
            ("TCP", it.tcp.accept().is_ok()),
            ("UDP", it.udp.recv(&mut byte).is_ok()),
            ("unix stream", it.stream.accept().is_ok()),
            ("unix datagram", it.datagram.recv(&mut byte).is_ok()),
            ("abstract stream", it.abstract_stream.accept().is_ok()),
            (
                "abstract datagram",
                it.abstract_datagram.recv(&mut byte).is_ok(),
            ),
        ];
        let found = arrived.iter().find(|(_, arrived)| *arrived);
        found.map(|(kind, _)| format!("arrived by {kind}"))
    }

    /// The state of the process.
    pub fn wound(&self) -> Option<String> {
        let victim = self.victim.as_ref()?;
        if !victim.process.lives() {
            return Some("the process was killed".to_owned());
        }
        let changed = state_of(victim.process.id()) != victim.before;
        changed.then(|| "the process was changed".to_owned())
    }
}

impl Sockets {
    fn new(folder: &Path) -> anyhow::Result<Sockets> {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        tcp.set_nonblocking(true)?;
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        udp.set_nonblocking(true)?;
        let (tcp_port, udp_port) = (tcp.local_addr()?.port(), udp.local_addr()?.port());
        fs::write(folder.join("tcp"), tcp_port.to_string())?;
        fs::write(folder.join("udp"), udp_port.to_string())?;
        // A port is nobody else's.
        fs::write(folder.join("abstract"), tcp_port.to_string())?;
        let named = |kind: &str| SocketAddr::from_abstract_name(format!("{kind}{tcp_port}"));
        let stream = UnixListener::bind(folder.join("stream"))?;
        let datagram = UnixDatagram::bind(folder.join("datagram"))?;
        let abstract_stream = UnixListener::bind_addr(&named("stream")?)?;
        let abstract_datagram = UnixDatagram::bind_addr(&named("datagram")?)?;
        stream.set_nonblocking(true)?;
        datagram.set_nonblocking(true)?;
        abstract_stream.set_nonblocking(true)?;
        abstract_datagram.set_nonblocking(true)?;
        Ok(Sockets {
            tcp,
            udp,
            stream,
            datagram,
            abstract_stream,
            abstract_datagram,
        })
    }
}

impl Victim {
    #[expect(clippy::disallowed_methods, reason = "a process to be harmed")]
    fn new(folder: &Path) -> anyhow::Result<Victim> {
        let mut sleep = Command::new("/bin/sleep");
        let process = Prey::start(sleep.arg("1000").process_group(0))?;
        let mut file = fs::File::create(folder.join("victim"))?;
        write!(file, "{}", process.id())?;
        // A process has its name when it has become the program, and not before.
        let status = format!("/proc/{}/comm", process.id());
        while fs::read_to_string(&status)?.trim() != "sleep" {
            std::thread::yield_now();
        }
        let before = state_of(process.id());
        Ok(Victim { process, before })
    }
}

/// Priority, policy, limits, processors and score of a process.
fn state_of(process: u32) -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}"));
    let stat = read("stat").unwrap_or_default();
    let fields: Vec<&str> = stat.split(' ').collect();
    let chosen = [17, 18, 39, 40].map(|field| fields.get(field).copied().unwrap_or_default());
    let status = read("status").unwrap_or_default();
    let processors: Vec<&str> = (status.lines())
        .filter(|line| line.starts_with("Cpus_allowed"))
        .collect();
    let (limits, score) = (read("limits"), read("oom_score_adj"));
    format!("{chosen:?} {processors:?} {limits:?} {score:?}")
}

/// Everything about the files of a folder that an attempt could change.
fn snapshot(folder: &Path) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let about = path.symlink_metadata()?;
            if about.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path.clone(), state(&path, &about));
        }
    }
    Ok(found)
}

fn state(path: &Path, about: &Metadata) -> String {
    let mut names = vec![0_u8; 1024];
    let names = match listxattr(path, names.as_mut_slice()) {
        Ok(length) => String::from_utf8_lossy(&names[..length]).into_owned(),
        Err(_) => String::new(),
    };
    // The time of a folder changes with its entries, which are seen anyway.
    let (content, flags, time) = match about.is_file() {
        true => (
            fs::read(path).ok(),
            fs::File::open(path)
                .ok()
                .and_then(|it| ioctl_getflags(it).ok()),
            about.mtime(),
        ),
        false => (None, None, 0),
    };
    let (mode, owner, group) = (about.mode(), about.uid(), about.gid());
    format!("{mode:o} {owner} {group} {time} {names:?} {content:?} {flags:?}")
}

/// Removes a folder, whatever the rights of the folders in it.
pub fn remove_all(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let _ = fs::set_permissions(&folder, PermissionsExt::from_mode(0o700));
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    // What cannot be removed stays in a temporary folder.
    let _ = fs::remove_dir_all(folder);
}
