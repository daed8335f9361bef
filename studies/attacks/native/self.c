/* More rights and higher limits for the program itself. */
#include "attempts.h"
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Done if a line of the kernel's account of this process has another value than it should have. */
static long status_is(const char *key, const char *value) {
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    size_t length = strlen(key);
    long found = -ENOENT;
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, key, length))
            found = strtoull(line + length, NULL, 16) == strtoull(value, NULL, 16) ? -EPERM : 0;
    if (status)
        fclose(status);
    return found;
}

static long has_effective(void) { return status_is("CapEff:", "0"); }
static long has_permitted(void) { return status_is("CapPrm:", "0"); }
static long has_bounding(void) { return status_is("CapBnd:", "0"); }
static long has_new_privileges(void) { return status_is("NoNewPrivs:", "1"); }
static long has_no_filter(void) { return status_is("Seccomp:", "2"); }

static long raise_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{1u << CAP_SYS_ADMIN, 1u << CAP_SYS_ADMIN, 0}, {0, 0, 0}};
    TRY(syscall(SYS_capset, &header, data));
    return 0;
}

static long secure_bits(void) {
    TRY(prctl(PR_SET_SECUREBITS, SECBIT_KEEP_CAPS, 0, 0, 0));
    return 0;
}

/* Another user: of root, which may become anyone, and of anyone, who may not become root. */
static long other_user(void) {
    TRY(syscall(SYS_setresuid, getuid() ? 0 : 1, -1, -1));
    return 0;
}

static long other_group(void) {
    TRY(syscall(SYS_setresgid, getgid() ? 0 : 1, -1, -1));
    return 0;
}

static long other_groups(void) {
    gid_t groups[1] = {1};
    TRY(syscall(SYS_setgroups, 1, groups));
    return 0;
}

static long memory_map(void) {
    TRY(prctl(PR_SET_MM, PR_SET_MM_ARG_START, 4096, 0, 0));
    return 0;
}

static long lift(int resource) {
    struct rlimit limit;
    TRY(getrlimit(resource, &limit));
    if (limit.rlim_max == RLIM_INFINITY)
        return 0;
    limit.rlim_cur = limit.rlim_max = limit.rlim_max + 1;
    TRY(setrlimit(resource, &limit));
    return 0;
}

static long lift_file_size(void) { return lift(RLIMIT_FSIZE); }
static long lift_open_files(void) { return lift(RLIMIT_NOFILE); }
static long lift_core(void) { return lift(RLIMIT_CORE); }

static long real_time(void) {
    struct { int priority; } parameters = {1};
    TRY(syscall(SYS_sched_setscheduler, 0, 1, &parameters));
    return 0;
}

static long higher_priority(void) {
    // Relative to what it has: whoever starts the study may have raised it already.
    TRY(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) - 5));
    return 0;
}

static long lock_memory(void) {
    TRY(syscall(SYS_mlockall, MCL_FUTURE));
    return munlockall();
}

static long inherited_descriptor(void) {
    TRY(pwrite(7, "harm", 4, 0));
    return 0;
}

static long type_into_terminal(void) {
    int terminal = open(setting("terminal"), O_RDWR | O_NOCTTY);
    TRY(terminal);
    TRY(ioctl(terminal, 0x5412, "x"));
    return close(terminal);
}

static long take_terminal(void) {
    int terminal = open(setting("terminal"), O_RDWR | O_NOCTTY);
    TRY(terminal);
    TRY(ioctl(terminal, 0x540e, 0));
    return close(terminal);
}

static long read_terminal(void) {
    int terminal = open(setting("terminal"), O_RDONLY | O_NOCTTY | O_NONBLOCK);
    TRY(terminal);
    return close(terminal);
}

static long read_terminal_by_link(void) {
    unlink("terminal");
    TRY(symlink(setting("terminal"), "terminal"));
    int terminal = open("terminal", O_RDONLY | O_NOCTTY | O_NONBLOCK);
    TRY(terminal);
    return close(terminal);
}

static long old_personality(void) {
    TRY(personality(ADDR_NO_RANDOMIZE));
    return 0;
}

const struct attempt self_attempts[] = {
    {"has-effective", has_effective}, {"has-permitted", has_permitted}, {"has-bounding", has_bounding},
    {"has-new-privileges", has_new_privileges},
    {"has-no-filter", has_no_filter}, {"raise-capabilities", raise_capabilities}, {"secure-bits", secure_bits}, {"other-user", other_user}, {"other-group", other_group},
    {"other-groups", other_groups}, {"memory-map", memory_map},
    {"lift-file-size", lift_file_size}, {"lift-open-files", lift_open_files}, {"lift-core", lift_core},
    {"real-time", real_time}, {"higher-priority", higher_priority}, {"lock-memory", lock_memory},
    {"inherited-descriptor", inherited_descriptor}, {"type-into-terminal", type_into_terminal},
    {"take-terminal", take_terminal}, {"read-terminal", read_terminal},
    {"read-terminal-by-link", read_terminal_by_link}, {"old-personality", old_personality}, {NULL, NULL},
};
