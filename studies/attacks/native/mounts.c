/* File systems and devices: all aim at a loop device and a file system that the study made for them. */
#include "attempts.h"
#include <linux/fs.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#undef MOUNT_ATTR_RDONLY
#define MOUNT_ATTR_RDONLY 1

static const char *mounted(void) { return setting("mounted"); }

static long mount_tmpfs(void) {
    TRY(mount("none", in_place("folder"), "tmpfs", 0, "size=4k"));
    return 0;
}

static long mount_bind(void) {
    TRY(mount("/etc", in_place("folder"), NULL, MS_BIND, NULL));
    return 0;
}

static long remount(void) {
    TRY(mount(NULL, mounted(), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
    return 0;
}

static long unmount(void) {
    TRY(umount2(mounted(), MNT_DETACH));
    return 0;
}

static long fsopen_tmpfs(void) {
    int it = syscall(SYS_fsopen, "tmpfs", 0);
    TRY(it);
    return close(it);
}

static long fspick_mounted(void) {
    int it = syscall(SYS_fspick, AT_FDCWD, mounted(), 0);
    TRY(it);
    return close(it);
}

static long open_tree_clone(void) {
    int it = syscall(SYS_open_tree, AT_FDCWD, mounted(), 1);
    TRY(it);
    return close(it);
}

static long move_mount_of(void) {
    TRY(syscall(SYS_move_mount, AT_FDCWD, mounted(), AT_FDCWD, in_place("folder"), 0));
    return 0;
}

static uint64_t read_only[4] = {MOUNT_ATTR_RDONLY, 0, 0, 0};

static long mount_setattr_of(void) {
    TRY(syscall(SYS_mount_setattr, AT_FDCWD, mounted(), 0, read_only, sizeof read_only));
    return 0;
}

static long open_tree_attr(void) {
    int it = syscall(467, AT_FDCWD, mounted(), 0, read_only, sizeof read_only);
    TRY(it);
    return close(it);
}

static long change_root(void) {
    TRY(chroot(in_place("folder")));
    return 0;
}

static long pivot(void) {
    return reached(syscall(SYS_pivot_root, in_place("folder"), in_place("folder")));
}

static long requested(unsigned long request, void *argument) {
    int folder = open(mounted(), O_RDONLY | O_DIRECTORY);
    TRY(folder);
    long result = ioctl(folder, request, argument);
    int error = errno;
    close(folder);
    return result < 0 ? -error : 0;
}

static long freeze(void) { return requested(FIFREEZE, NULL); }
static long trim(void) {
    struct fstrim_range range = {0, UINT64_MAX, 0};
    return requested(FITRIM, &range);
}

static long label(void) {
    char text[256] = "harm";
    return requested(FS_IOC_SETFSLABEL, text);
}

static long shut_down(void) {
    uint32_t how = 2;
    return requested(0x8004587d, &how);
}

static long written(const char *path, const char *text) {
    int file = open(path, O_WRONLY);
    TRY(file);
    TRY(write(file, text, strlen(text)));
    return close(file);
}

static long node(mode_t kind, dev_t device, const char *name) {
    unlink(in_scratch(name));
    TRY(mknod(in_scratch(name), kind | 0600, device));
    return 0;
}

static long block_node_write(void) {
    long made = node(S_IFBLK, loop_device(), "block");
    return made ? made : written(in_scratch("block"), "HARM");
}

static long block_node(void) { return node(S_IFBLK, loop_device(), "block-node"); }

static long char_node_kmsg(void) {
    long made = node(S_IFCHR, makedev(1, 11), "kmsg");
    return made ? made : written(in_scratch("kmsg"), "a line of a study of attacks\n");
}

static long char_node_null(void) { return node(S_IFCHR, makedev(1, 3), "null"); }
static long block_device_write(void) { return written(setting("loop"), "HARM"); }
static long kernel_log(void) { return written("/dev/kmsg", "a line of a study of attacks\n"); }

static long block_read_only(void) {
    int file = open(setting("loop"), O_RDONLY), yes = 1;
    TRY(file);
    TRY(ioctl(file, BLKROSET, &yes));
    return close(file);
}

static long physical_memory(void) {
    int file = open("/dev/mem", O_RDWR);
    TRY(file);
    return close(file);
}

static long kernel_setting(void) {
    /* To the value that it has. */
    char value[64];
    int file = open("/proc/sys/kernel/panic", O_RDWR);
    TRY(file);
    ssize_t length = read(file, value, sizeof value);
    TRY(pwrite(file, value, length, 0));
    return close(file);
}

static long control_group(void) {
    char path[256];
    snprintf(path, sizeof path, "/sys/fs/cgroup/attack-%d", getpid());
    TRY(mkdir(path, 0700));
    return rmdir(path);
}

static long new_mount_namespace(void) {
    TRY(unshare(CLONE_NEWNS));
    return 0;
}

static long new_network_namespace(void) {
    TRY(unshare(CLONE_NEWNET));
    return 0;
}

static long join_namespace(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/uts", getppid());
    int file = open(path, O_RDONLY);
    TRY(file);
    TRY(setns(file, 0));
    return 0;
}

static long watch_accesses(void) {
    int it = syscall(SYS_fanotify_init, 4, O_RDONLY);
    TRY(it);
    return close(it);
}

static long watch_accesses_unprivileged(void) {
    /* FAN_REPORT_FID: what anyone may. */
    int it = syscall(SYS_fanotify_init, 0x200, O_RDONLY);
    TRY(it);
    return close(it);
}

static long quota(void) {
    char answer[256];
    TRY(syscall(SYS_quotactl, 0x80000300, setting("loop"), 0, answer));
    return 0;
}

const struct attempt mount_attempts[] = {
    {"mount-tmpfs", mount_tmpfs}, {"mount-bind", mount_bind}, {"remount", remount}, {"unmount", unmount},
    {"fsopen", fsopen_tmpfs}, {"fspick", fspick_mounted}, {"open-tree", open_tree_clone},
    {"move-mount", move_mount_of}, {"mount-setattr", mount_setattr_of}, {"open-tree-attr", open_tree_attr},
    {"change-root", change_root}, {"pivot-root", pivot}, {"freeze", freeze}, {"trim", trim}, {"label", label},
    {"shut-down", shut_down}, {"block-node-write", block_node_write}, {"block-node", block_node},
    {"char-node-kmsg", char_node_kmsg}, {"char-node-null", char_node_null},
    {"block-device-write", block_device_write}, {"kernel-log", kernel_log}, {"block-read-only", block_read_only},
    {"physical-memory", physical_memory}, {"kernel-setting", kernel_setting}, {"control-group", control_group},
    {"new-mount-namespace", new_mount_namespace}, {"new-network-namespace", new_network_namespace},
    {"join-namespace", join_namespace}, {"watch-accesses", watch_accesses},
    {"watch-accesses-unprivileged", watch_accesses_unprivileged}, {"quota", quota}, {NULL, NULL},
};
