/* Modes, owners, times and other attributes of files outside. */
#include "attempts.h"
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

static long file(void) { return open(in_place("file"), O_RDONLY); }

static long chmod_file(void) {
    TRY(syscall(SYS_chmod, in_place("file"), 0777));
    return 0;
}

static long fchmod_file(void) {
    TRY(fchmod(file(), 0777));
    return 0;
}

static long fchmodat_file(void) {
    TRY(syscall(SYS_fchmodat, AT_FDCWD, in_place("file"), 0777));
    return 0;
}

static long fchmodat2_file(void) {
    TRY(syscall(452, AT_FDCWD, in_place("file"), 0777, 0));
    return 0;
}

/* To whom it belongs already, which its owner may do; it drops the bits below. */
static long chown_file(void) {
    TRY(chown(in_place("setuid"), -1, getgid()));
    return 0;
}

static long fchownat_file(void) {
    TRY(fchownat(AT_FDCWD, in_place("setuid"), -1, getgid(), 0));
    return 0;
}

static long chown_to_other(void) {
    TRY(chown(in_place("file"), 1, 1));
    return 0;
}

static long utimensat_file(void) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    TRY(utimensat(AT_FDCWD, in_place("file"), times, 0));
    return 0;
}

static long futimens_file(void) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    TRY(futimens(file(), times));
    return 0;
}

static long utimes_file(void) {
    struct timeval times[2] = {{1, 0}, {1, 0}};
    TRY(syscall(SYS_utimes, in_place("file"), times));
    return 0;
}

static long setxattr_file(void) {
    TRY(setxattr(in_place("file"), "user.harm", "x", 1, 0));
    return 0;
}

static long fsetxattr_file(void) {
    TRY(fsetxattr(file(), "user.harm", "x", 1, 0));
    return 0;
}

static long setxattrat_file(void) {
    struct { uint64_t value; uint32_t size, flags; } arguments = {(uint64_t) (uintptr_t) "x", 1, 0};
    TRY(syscall(463, AT_FDCWD, in_place("file"), 0, "user.harm", &arguments, sizeof arguments));
    return 0;
}

static long removexattr_file(void) {
    TRY(removexattr(in_place("file"), "user.precious"));
    return 0;
}

static long ioctl_flags(void) {
    long flags = FS_NODUMP_FL;
    TRY(ioctl(file(), FS_IOC_SETFLAGS, &flags));
    return 0;
}

static long ioctl_fsxattr(void) {
    struct fsxattr attributes = {0};
    int it = file();
    TRY(ioctl(it, FS_IOC_FSGETXATTR, &attributes));
    attributes.fsx_xflags |= FS_XFLAG_NODUMP;
    TRY(ioctl(it, FS_IOC_FSSETXATTR, &attributes));
    return 0;
}

static long ioctl_version(void) {
    long version = 4711;
    TRY(ioctl(file(), FS_IOC_SETVERSION, &version));
    return 0;
}

static long file_setattr(void) {
    struct { uint64_t flags; uint32_t extent, count, project, cow; } attributes = {FS_XFLAG_NODUMP, 0, 0, 0, 0};
    TRY(syscall(469, AT_FDCWD, in_place("file"), &attributes, sizeof attributes, 0));
    return 0;
}

const struct attempt attribute_attempts[] = {
    {"chmod", chmod_file}, {"fchmod", fchmod_file}, {"fchmodat", fchmodat_file}, {"fchmodat2", fchmodat2_file},
    {"chown", chown_file}, {"fchownat", fchownat_file}, {"chown-to-other", chown_to_other},
    {"utimensat", utimensat_file}, {"futimens", futimens_file}, {"utimes", utimes_file},
    {"setxattr", setxattr_file}, {"fsetxattr", fsetxattr_file}, {"setxattrat", setxattrat_file},
    {"removexattr", removexattr_file}, {"ioctl-flags", ioctl_flags}, {"ioctl-fsxattr", ioctl_fsxattr},
    {"ioctl-version", ioctl_version}, {"file-setattr", file_setattr}, {NULL, NULL},
};
