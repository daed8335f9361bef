/* The system as a whole. Where success would do harm, the arguments are bad. */
#include "attempts.h"
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <sys/io.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>

static long host_name(void) {
    struct utsname names;
    uname(&names);
    TRY(sethostname(names.nodename, strlen(names.nodename)));
    return 0;
}

static long domain_name(void) {
    struct utsname names;
    uname(&names);
    TRY(syscall(SYS_setdomainname, names.domainname, strlen(names.domainname)));
    return 0;
}

static long set_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    TRY(clock_settime(CLOCK_REALTIME, &now));
    return 0;
}

static long adjust_clock(void) {
    struct timex state = {0};
    adjtimex(&state);
    struct timex same = {.modes = ADJ_MAXERROR, .maxerror = state.maxerror};
    TRY(syscall(SYS_adjtimex, &same));
    return 0;
}

static long adjust_other_clock(void) {
    struct timex same = {.modes = ADJ_ESTERROR, .esterror = 16000000};
    TRY(clock_adjtime(CLOCK_REALTIME, &same));
    return 0;
}

static long restart(void) { return reached(syscall(SYS_reboot, 1, 2, 3, 0)); }
static long load_module(void) { return reached(syscall(SYS_init_module, NULL, 0, "")); }
static long load_module_file(void) { return reached(syscall(SYS_finit_module, -1, "", 0)); }
static long unload_module(void) { return reached(syscall(SYS_delete_module, "no-such-module", O_NONBLOCK)); }
static long load_kernel(void) { return reached(syscall(SYS_kexec_load, 0, 0, NULL, 0xffff0000)); }
static long swap_on(void) { return reached(syscall(SYS_swapon, in_place("no-such-file"), 0)); }
static long swap_off(void) { return reached(syscall(SYS_swapoff, in_place("no-such-file"))); }
static long account(void) { return reached(syscall(SYS_acct, in_place("no-such-file"))); }

static long read_log(void) {
    char text[64];
    TRY(syscall(SYS_syslog, 3, text, sizeof text));
    return 0;
}

static long bpf_map(void) {
    union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    TRY(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
    return 0;
}

static long performance(void) {
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes,
        .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
    TRY(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
    return 0;
}

static long performance_of_all(void) {
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes,
        .config = PERF_COUNT_SW_CPU_CLOCK};
    TRY(syscall(SYS_perf_event_open, &attributes, -1, 0, -1, 0));
    return 0;
}

static long page_faults(void) {
    TRY(syscall(SYS_userfaultfd, O_CLOEXEC | 1));
    return 0;
}

static long add_a_key(void) {
    TRY(syscall(SYS_add_key, "user", "attack", "x", 1, -2));
    return 0;
}

static long join_keys(void) {
    TRY(syscall(SYS_keyctl, 0, -3, 0, 0, 0));
    return 0;
}

static long request_a_key(void) { return reached(syscall(SYS_request_key, "user", "attack", NULL, -2)); }

static long hardware_ports(void) {
    TRY(syscall(SYS_iopl, 3));
    return 0;
}

static long hardware_port(void) {
    TRY(syscall(SYS_ioperm, 0x80, 1, 1));
    return 0;
}

static long shared_memory(void) {
    int it = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    TRY(it);
    TRY(shmctl(it, IPC_RMID, NULL));
    return 0;
}

static long semaphores(void) {
    int it = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    TRY(it);
    TRY(semctl(it, 0, IPC_RMID));
    return 0;
}

static long messages(void) {
    int it = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    TRY(it);
    TRY(msgctl(it, IPC_RMID, NULL));
    return 0;
}

static long message_queue(void) {
    char name[64];
    snprintf(name, sizeof name, "/attack-%d", getpid());
    mqd_t it = mq_open(name, O_CREAT | O_RDWR, 0600, NULL);
    TRY(it);
    TRY(mq_unlink(name));
    return 0;
}

static long named_memory(void) {
    char name[64];
    snprintf(name, sizeof name, "/attack-%d", getpid());
    int it = shm_open(name, O_CREAT | O_RDWR, 0600);
    TRY(it);
    TRY(shm_unlink(name));
    return 0;
}

const struct attempt system_attempts[] = {
    {"host-name", host_name}, {"domain-name", domain_name}, {"set-clock", set_clock},
    {"adjust-clock", adjust_clock}, {"adjust-other-clock", adjust_other_clock}, {"restart", restart},
    {"load-module", load_module}, {"load-module-file", load_module_file}, {"unload-module", unload_module},
    {"load-kernel", load_kernel}, {"swap-on", swap_on}, {"swap-off", swap_off}, {"account", account},
    {"read-log", read_log}, {"bpf", bpf_map}, {"performance", performance},
    {"performance-of-all", performance_of_all}, {"page-faults", page_faults}, {"add-key", add_a_key},
    {"join-keys", join_keys}, {"request-key", request_a_key}, {"hardware-ports", hardware_ports},
    {"hardware-port", hardware_port}, {"shared-memory", shared_memory}, {"semaphores", semaphores},
    {"messages", messages}, {"message-queue", message_queue}, {"named-memory", named_memory}, {NULL, NULL},
};
