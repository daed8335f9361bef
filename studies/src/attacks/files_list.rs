//! Attempts on files and on the network.

use super::attempt::{Aim::*, Attempt, Way::*, Witness, Witness::*, attempts};

/// Sockets are allowed where the sandbox has a network of its own. Attempts to reach those of the study fail.
const OWN_NETWORK: Witness = Harmless("on a network of its own, where nobody else is");

pub const ATTEMPTS: &[Attempt] = attempts! {
    Files Java Place => [
        "create" "create a file",
        "append" "append to a file",
        "empty" "empty a file by opening it",
        "random-access" "write by `RandomAccessFile`",
        "channel" "write by `FileChannel`",
        "channel-truncate" "truncate by `FileChannel`",
        "map" "write to a mapped file",
        "transfer" "transfer between channels",
        "delete" "delete a file",
        "delete-quietly" "`File.delete`",
        "delete-on-close" "`DELETE_ON_CLOSE`",
        "folder" "create a folder",
        "move-here" "move a file away",
        "move-there" "replace a file by an own one",
        "rename" "`File.renameTo`",
        "link" "link a file and write to the link",
        "symbolic-link" "create a symbolic link",
        "through-link" "write through an own symbolic link",
        "log-file" "`FileHandler` of the logger",
        "dump-heap" "have the JVM dump its heap",
        "flight-recording" "have the JVM write a flight recording",
        "jvm-log" "have the JVM write its log",
        "compile" "have the compiler write a class",
    ];
    Files Java Kernel => [
        "create-in-tmp" "create a file in /var/tmp",
    ];
    Files Java Shared => [
        "shared-memory-file" "write to a file in /dev/shm",
    ];
    Files Native Place => [
        "write-openat2" "write, by `openat2`",
        "write-creat" "`creat`",
        "write-dirfd" "write, relative to an open folder",
        "reopen-read-only" "reopen a file for writing by /proc/self/fd",
        "reopen-path" "the same of an `O_PATH` descriptor",
        "through-root" "write through /proc/self/root",
        "through-root-of-parent" "write through /proc/PPID/root",
        "truncate-path" "`truncate`",
        "truncate-read-only" "`O_RDONLY` with `O_TRUNC`",
        "map-shared" "write to shared memory of a file",
        "map-protect" "make a mapped page writable",
        "copy-range" "`sendfile` into a file",
        "fallocate" "`fallocate`",
        "unlink" "`unlink`",
        "unlinkat" "`unlinkat`",
        "remove-folder" "`rmdir`",
        "make-folder" "`mkdir`",
        "rename-within" "`rename`",
        "move-to-scratch" "`rename` into the own folder",
        "move-from-scratch" "`rename` out of the own folder",
        "exchange" "`renameat2` that exchanges two files",
        "link-then-write" "`link`, then write to the link",
        "link-out" "`link` out of the own folder",
        "temporary-then-link" "`O_TMPFILE`, then `linkat`",
        "symlink-there" "`symlink`",
        "symlink-here-then-write" "write through an own `symlink`",
        "fifo-there" "`mknod` of a FIFO",
        "bind-there" "`bind` a socket to a path",
        "by-handle" "`open_by_handle_at`",
        "unlink-by-int80" "`unlink` as a 32-bit program calls it",
        "unlink-by-x32" "`unlink` with 32-bit pointers",
    ];
    Files Native Shared => [
        "shared-memory-file" "write to a file in /dev/shm",
    ];
    Files Foreign Kernel => [
        "libc-open" "open for writing by `syscall`",
    ];
    Files Foreign Place => [
        "libc-unlink" "`unlink` by `syscall`",
    ];
    Attributes Java Place => [
        "times" "`setLastModifiedTime`",
        "times-quietly" "`File.setLastModified`",
        "mode" "`setPosixFilePermissions`",
        "mode-quietly" "`File.setWritable`",
        "owner" "`setOwner`",
        "attribute" "a user-defined attribute",
    ];
    Attributes Native Place => [
        "chmod" "`chmod`",
        "fchmod" "`fchmod` of a file open for reading",
        "fchmodat" "`fchmodat`",
        "fchmodat2" "`fchmodat2`",
        "chown" "`chown` to the own group, which drops set-user-id",
        "fchownat" "the same by `fchownat`",
        "chown-to-other" "`chown` to another user",
        "utimensat" "`utimensat`",
        "futimens" "`futimens` of a file open for reading",
        "utimes" "`utimes`",
        "setxattr" "`setxattr`",
        "fsetxattr" "`fsetxattr`",
        "setxattrat" "`setxattrat`",
        "removexattr" "`removexattr`",
        "ioctl-flags" "`FS_IOC_SETFLAGS`",
        "ioctl-fsxattr" "`FS_IOC_FSSETXATTR`",
        "file-setattr" "`file_setattr`",
    ];
    Attributes Native Kernel => [
        "ioctl-version" "`FS_IOC_SETVERSION`",
    ];
    Attributes Foreign Place => [
        "libc-chmod" "`chmod` by `syscall`",
    ];
    Network Java Arrival => [
        "connect" "`Socket`",
        "datagram" "`DatagramSocket`",
        "datagram-channel" "`DatagramChannel`",
        "socket-channel" "`SocketChannel`",
        "asynchronous-channel" "`AsynchronousSocketChannel`",
        "url" "a URL",
        "unix" "a unix socket",
    ];
    Network Java OWN_NETWORK => [
        "listen" "`ServerSocket`",
    ];
    Network Native Arrival => [
        "tcp" "connect by TCP",
        "tcp-fast-open" "send with the first packet of TCP",
        "mptcp" "connect by multipath TCP",
        "udp" "send by UDP",
        "unix-stream" "connect to a unix socket",
        "abstract-stream" "connect to an abstract unix socket",
        "pair-sendto" "`sendto` a path by an end of a `socketpair`",
        "pair-sendto-abstract" "the same to an abstract name",
        "pair-connect" "`connect` an end of a `socketpair`",
        "pair-sendmsg" "`sendmsg` to a path",
        "pair-sendmmsg" "`sendmmsg` to a path",
    ];
    Network Native Place => [
        "pair-bind" "`bind` an end of a `socketpair`",
    ];
    Network Native OWN_NETWORK => [
        "listen-tcp" "wait for TCP connections",
        "inet6" "socket of IPv6",
    ];
    Network Native Kernel => [
        "netlink-route" "netlink, routes",
        "netlink-audit" "netlink, audit",
        "packet" "packet socket",
        "raw-icmp" "raw socket",
        "vsock" "vsock",
        "crypto" "crypto socket",
        "io-uring" "`io_uring_setup`",
    ];
    Network Native Interface => [
        "interface-queue" "`SIOCSIFTXQLEN` on an end of a `socketpair`",
    ];
    Network Foreign OWN_NETWORK => [
        "libc-socket" "`socket` by `syscall`",
    ];
};
