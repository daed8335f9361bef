/* A hold on other processes: the victim, whose number is in the place, and the parent. */
#include "attempts.h"
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

static pid_t victim(void) { return number("victim"); }

static long kill_victim(void) {
    TRY(kill(victim(), SIGKILL));
    return 0;
}

static long kill_group(void) {
    TRY(kill(-victim(), SIGKILL));
    return 0;
}

static long tkill_victim(void) {
    TRY(syscall(SYS_tkill, victim(), SIGKILL));
    return 0;
}

static long tgkill_victim(void) {
    TRY(syscall(SYS_tgkill, victim(), victim(), SIGKILL));
    return 0;
}

static siginfo_t queued(void) {
    siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    return info;
}

static long queue_signal(void) {
    siginfo_t info = queued();
    TRY(syscall(SYS_rt_sigqueueinfo, victim(), SIGKILL, &info));
    return 0;
}

static long queue_signal_to_thread(void) {
    siginfo_t info = queued();
    TRY(syscall(SYS_rt_tgsigqueueinfo, victim(), victim(), SIGKILL, &info));
    return 0;
}

static long pidfd_signal(void) {
    int it = syscall(SYS_pidfd_open, victim(), 0);
    TRY(it);
    TRY(syscall(SYS_pidfd_send_signal, it, SIGKILL, NULL, 0));
    return 0;
}

/* The kernel sends the signal when something is there to read. */
static long async_signal(void) {
    int ends[2];
    TRY(pipe(ends));
    TRY(fcntl(ends[0], F_SETOWN, victim()));
    TRY(fcntl(ends[0], F_SETSIG, SIGKILL));
    TRY(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK));
    TRY(write(ends[1], "x", 1));
    return 0;
}

static long async_signal_pair(void) {
    int ends[2];
    TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    TRY(fcntl(ends[0], F_SETOWN, victim()));
    TRY(fcntl(ends[0], F_SETSIG, SIGKILL));
    TRY(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK));
    TRY(write(ends[1], "x", 1));
    return 0;
}

static long probe_parent(void) {
    TRY(kill(getppid(), 0));
    return 0;
}

static long trace(void) {
    TRY(ptrace(PTRACE_SEIZE, victim(), 0, 0));
    ptrace(PTRACE_DETACH, victim(), 0, 0);
    return 0;
}

/* The first bytes of its environment, which is at a place that /proc tells. */
static uintptr_t memory_of_victim(void) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/maps", victim());
    FILE *maps = fopen(path, "r");
    uintptr_t start = 0;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "[stack]"))
            start = strtoull(line, NULL, 16);
    if (maps)
        fclose(maps);
    return start;
}

static long read_memory(void) {
    char byte;
    uintptr_t there = memory_of_victim();
    struct iovec mine = {&byte, 1}, its = {(void *) (there ? there : 4096), 1};
    TRY(syscall(SYS_process_vm_readv, victim(), &mine, 1, &its, 1, 0));
    return 0;
}

static long write_memory(void) {
    char byte = 1;
    uintptr_t there = memory_of_victim();
    struct iovec mine = {&byte, 1}, its = {(void *) (there ? there : 4096), 1};
    TRY(syscall(SYS_process_vm_writev, victim(), &mine, 1, &its, 1, 0));
    return 0;
}

static long open_of(int process, const char *name, int flags) {
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    int file = open(path, flags);
    TRY(file);
    /* Memory begins where nothing is; everything else has a first byte. */
    if (strcmp(name, "mem"))
        TRY(read(file, &byte, 1));
    return close(file);
}

static long memory_file(void) { return open_of(victim(), "mem", O_RDWR); }
static long memory_file_of_parent(void) { return open_of(getppid(), "mem", O_RDWR); }
static long environment(void) { return open_of(victim(), "environ", O_RDONLY); }
static long environment_of_parent(void) { return open_of(getppid(), "environ", O_RDONLY); }
static long maps_of_parent(void) { return open_of(getppid(), "maps", O_RDONLY); }

static long descriptors_of_parent(void) {
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%d/fd/1", getppid());
    TRY(readlink(path, target, sizeof target));
    return 0;
}

static long take_descriptor(void) {
    int it = syscall(SYS_pidfd_open, victim(), 0);
    TRY(it);
    TRY(syscall(SYS_pidfd_getfd, it, 0, 0));
    return 0;
}

static long limit(void) {
    struct rlimit limit = {7, 7};
    TRY(prlimit(victim(), RLIMIT_CORE, &limit, NULL));
    return 0;
}

static long priority(void) {
    TRY(setpriority(PRIO_PROCESS, victim(), 7));
    return 0;
}

static long priority_of_group(void) {
    TRY(setpriority(PRIO_PGRP, victim(), 7));
    return 0;
}

static long io_priority(void) {
    TRY(syscall(SYS_ioprio_set, 1, victim(), 3 << 13));
    return 0;
}

static long affinity(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    TRY(sched_setaffinity(victim(), sizeof set, &set));
    return 0;
}

static long scheduler(void) {
    struct sched_param none = {0};
    TRY(sched_setscheduler(victim(), SCHED_IDLE, &none));
    return 0;
}

static long scheduler_attributes(void) {
    struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t times[3]; }
        attributes = {48, SCHED_BATCH, 0, 7, 0, {0}};
    TRY(syscall(SYS_sched_setattr, victim(), &attributes, 0));
    return 0;
}

static long out_of_memory_score(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", victim());
    int file = open(path, O_WRONLY);
    TRY(file);
    TRY(write(file, "1000", 4));
    return close(file);
}

static long move_pages_of(void) {
    TRY(syscall(SYS_move_pages, victim(), 0, NULL, NULL, NULL, 0));
    return 0;
}

static long migrate_pages_of(void) {
    unsigned long nodes = 1;
    TRY(syscall(SYS_migrate_pages, victim(), 2, &nodes, &nodes));
    return 0;
}

static long compare(void) {
    TRY(syscall(SYS_kcmp, getpid(), victim(), 0, 0, 0));
    return 0;
}

static long advise(void) {
    int it = syscall(SYS_pidfd_open, victim(), 0);
    TRY(it);
    uintptr_t there = memory_of_victim();
    struct iovec range = {(void *) (there ? there : 4096), 4096};
    TRY(syscall(SYS_process_madvise, it, &range, 1, 20, 0));
    return 0;
}

static long robust_list(void) {
    void *head;
    size_t length;
    TRY(syscall(SYS_get_robust_list, victim(), &head, &length));
    return 0;
}

const struct attempt process_attempts[] = {
    {"kill", kill_victim}, {"kill-group", kill_group}, {"tkill", tkill_victim}, {"tgkill", tgkill_victim},
    {"queue-signal", queue_signal}, {"queue-signal-to-thread", queue_signal_to_thread},
    {"pidfd-signal", pidfd_signal}, {"async-signal", async_signal}, {"async-signal-pair", async_signal_pair},
    {"probe-parent", probe_parent}, {"trace", trace}, {"read-memory", read_memory},
    {"write-memory", write_memory}, {"memory-file", memory_file}, {"memory-file-of-parent", memory_file_of_parent},
    {"environment", environment}, {"environment-of-parent", environment_of_parent},
    {"maps-of-parent", maps_of_parent}, {"descriptors-of-parent", descriptors_of_parent},
    {"take-descriptor", take_descriptor}, {"limit", limit}, {"priority", priority},
    {"priority-of-group", priority_of_group}, {"io-priority", io_priority}, {"affinity", affinity},
    {"scheduler", scheduler}, {"scheduler-attributes", scheduler_attributes},
    {"out-of-memory-score", out_of_memory_score}, {"move-pages", move_pages_of},
    {"migrate-pages", migrate_pages_of}, {"compare", compare}, {"advise", advise}, {"robust-list", robust_list},
    {NULL, NULL},
};
