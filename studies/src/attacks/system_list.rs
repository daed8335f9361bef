//! Attempts on other processes, on the system and on devices, and at more rights.

use super::attempt::{Aim::*, Attempt, Way::*, Witness::*, attempts};

pub const ATTEMPTS: &[Attempt] = attempts! {
    Processes Java Victim => [
        "destroy" "`ProcessHandle.destroyForcibly`",
    ];
    Processes Java Kernel => [
        "attach" "attach to another JVM",
        "memory-of-parent" "write to the memory of the parent",
        "environment-of-parent" "read the environment of the parent",
    ];
    Processes Native Victim => [
        "kill" "`kill`",
        "kill-group" "`kill` of a group",
        "tkill" "`tkill`",
        "tgkill" "`tgkill`",
        "queue-signal" "`rt_sigqueueinfo`",
        "queue-signal-to-thread" "`rt_tgsigqueueinfo`",
        "pidfd-signal" "`pidfd_send_signal`",
        "async-signal" "`F_SETOWN`, `F_SETSIG` and `O_ASYNC` on a pipe",
        "async-signal-pair" "the same on a `socketpair`",
        "limit" "`prlimit`",
        "priority" "`setpriority`",
        "priority-of-group" "`setpriority` of a group",
        "affinity" "`sched_setaffinity`",
        "scheduler" "`sched_setscheduler`",
        "scheduler-attributes" "`sched_setattr`",
        "out-of-memory-score" "oom_score_adj",
    ];
    Processes Native Kernel => [
        "probe-parent" "`kill` of the parent, signal 0",
        "trace" "`ptrace`",
        "read-memory" "`process_vm_readv`",
        "write-memory" "`process_vm_writev`",
        "memory-file" "/proc/PID/mem",
        "memory-file-of-parent" "/proc/PPID/mem",
        "environment" "/proc/PID/environ",
        "environment-of-parent" "/proc/PPID/environ",
        "maps-of-parent" "/proc/PPID/maps",
        "descriptors-of-parent" "/proc/PPID/fd",
        "take-descriptor" "`pidfd_getfd`",
        "io-priority" "`ioprio_set`",
        "move-pages" "`move_pages`",
        "migrate-pages" "`migrate_pages`",
        "compare" "`kcmp`",
        "advise" "`process_madvise`",
        "robust-list" "`get_robust_list`",
    ];
    Programs Java Ran => [
        "execute" "`Runtime.exec`",
        "execute-builder" "`ProcessBuilder`",
        "execute-jvm" "`ProcessBuilder` of another JVM",
    ];
    Programs Native Ran => [
        "fork" "`fork`",
        "vfork" "`vfork`",
        "clone" "`clone`",
        "clone3" "`clone3`",
        "spawn" "`posix_spawn`",
        "system" "`system`",
        "exec" "`execve`",
        "exec-at" "`execveat`",
        "exec-memory" "`fexecve` of a file in memory",
        "exec-own-file" "`execve` of an own file",
        "exec-linker" "`execve` of the dynamic linker",
        "exec-jvm" "`execve` of another JVM",
    ];
    Programs Foreign Kernel => [
        "libc-fork" "`fork` by `syscall`",
    ];
    System Native Kernel => [
        "host-name" "`sethostname`",
        "domain-name" "`setdomainname`",
        "set-clock" "`clock_settime`",
        "adjust-clock" "`adjtimex`",
        "adjust-other-clock" "`clock_adjtime`",
        "restart" "`reboot`",
        "load-module" "`init_module`",
        "load-module-file" "`finit_module`",
        "unload-module" "`delete_module`",
        "load-kernel" "`kexec_load`",
        "swap-on" "`swapon`",
        "swap-off" "`swapoff`",
        "account" "`acct`",
        "read-log" "`syslog`",
        "bpf" "`bpf`",
        "performance" "`perf_event_open` of itself",
        "performance-of-all" "`perf_event_open` of everyone",
        "page-faults" "`userfaultfd`",
        "add-key" "`add_key`",
        "join-keys" "`keyctl`",
        "request-key" "`request_key`",
        "hardware-ports" "`iopl`",
        "hardware-port" "`ioperm`",
        "shared-memory" "`shmget`",
        "semaphores" "`semget`",
        "messages" "`msgget`",
        "message-queue" "`mq_open`",
        "named-memory" "`shm_open`",
        "new-mount-namespace" "`unshare`, mounts",
        "new-network-namespace" "`unshare`, network",
        "join-namespace" "`setns`",
        "watch-accesses" "`fanotify_init` of permissions",
        "kernel-log" "/dev/kmsg",
        "physical-memory" "/dev/mem",
        "kernel-setting" "/proc/sys",
        "control-group" "create a control group",
    ];
    System Native Harmless("it tells of names in folders that may be read anyway") => [
        "watch-accesses-unprivileged" "`fanotify_init` as anyone may",
    ];
    Devices Native Loop => [
        "mount-tmpfs" "`mount` a file system",
        "mount-bind" "`mount` a folder elsewhere",
        "remount" "`mount` read-only",
        "unmount" "`umount2`",
        "move-mount" "`move_mount`",
        "mount-setattr" "`mount_setattr`",
        "open-tree-attr" "`open_tree_attr`",
        "freeze" "`FIFREEZE`",
        "label" "`FS_IOC_SETFSLABEL`",
        "shut-down" "`EXT4_IOC_SHUTDOWN`",
        "block-node-write" "`mknod` of a block device, then write",
        "block-device-write" "write to a block device",
        "block-read-only" "`BLKROSET`",
    ];
    Devices Native Kernel => [
        "fsopen" "`fsopen`",
        "fspick" "`fspick`",
        "open-tree" "`open_tree`",
        "change-root" "`chroot`",
        "pivot-root" "`pivot_root`",
        "trim" "`FITRIM`",
        "quota" "`quotactl`",
    ];
    Devices Native Node => [
        "block-node" "`mknod` of a block device",
        "char-node-kmsg" "`mknod` of a character device, then write",
        "char-node-null" "`mknod` of /dev/null",
    ];
    Rights Native Kernel => [
        "has-effective" "effective capabilities",
        "has-permitted" "permitted capabilities",
        "has-bounding" "bounding capabilities" root,
        "has-new-privileges" "no promise of no new privileges",
        "has-no-filter" "no filter of system calls",
        "raise-capabilities" "`capset`",
        "secure-bits" "`PR_SET_SECUREBITS`",
        "other-user" "`setresuid`",
        "other-group" "`setresgid`",
        "other-groups" "`setgroups`",
        "memory-map" "`PR_SET_MM`",
        "lift-file-size" "lift the limit of file sizes",
        "lift-open-files" "lift the limit of open files",
        "lift-core" "lift the limit of core dumps",
        "real-time" "real-time priority",
        "higher-priority" "higher priority",
        "type-into-terminal" "`TIOCSTI`",
        "take-terminal" "`TIOCSCTTY`",
        "read-terminal" "read from the terminal of the user",
        "read-terminal-by-link" "the same by an own symbolic link",
    ];
    Rights Native Harmless("the memory is its own and counted") => [
        "lock-memory" "`mlockall`",
    ];
    Rights Native Harmless("it concerns the process alone") => [
        "old-personality" "`personality`",
    ];
    Rights Native Descriptor => [
        "inherited-descriptor" "write to an inherited descriptor",
    ];
    Rights Java Descriptor => [
        "descriptor-by-path" "the same by /proc/self/fd",
    ];
};
