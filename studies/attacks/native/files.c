/* Contents and names of files outside the folder that a program may write to. */
#include "attempts.h"
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static long scribble(int file) {
    TRY(file);
    TRY(write(file, "harm", 4));
    return close(file);
}

static long write_openat2(void) {
    struct open_how how = {.flags = O_WRONLY};
    return scribble(syscall(SYS_openat2, AT_FDCWD, in_place("file"), &how, sizeof how));
}

static long write_creat(void) { return scribble(syscall(SYS_creat, in_place("new"), 0600)); }

static long write_dirfd(void) {
    int folder = open(in_place("folder"), O_PATH | O_DIRECTORY);
    TRY(folder);
    return scribble(openat(folder, "../file", O_WRONLY));
}

static long reopen(int flags) {
    int file = open(in_place("file"), flags);
    TRY(file);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return scribble(open(link, O_WRONLY));
}

static long reopen_read_only(void) { return reopen(O_RDONLY); }
static long reopen_path(void) { return reopen(O_PATH); }

static long through(const char *prefix) {
    char path[8192];
    snprintf(path, sizeof path, "%s%s", prefix, in_place("file"));
    return scribble(open(path, O_WRONLY));
}

static long through_root(void) { return through("/proc/self/root"); }

static long through_root_of_parent(void) {
    char prefix[64];
    snprintf(prefix, sizeof prefix, "/proc/%d/root", getppid());
    return through(prefix);
}

static long truncate_path(void) {
    TRY(truncate(in_place("file"), 0));
    return 0;
}

static long truncate_read_only(void) {
    int file = open(in_place("file"), O_RDONLY | O_TRUNC);
    TRY(file);
    return close(file);
}

static long map_shared(void) {
    int file = open(in_place("file"), O_RDWR);
    TRY(file);
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return -errno;
    memory[0] = 'h';
    TRY(munmap(memory, 4096));
    return close(file);
}

/* A page of a file that is mapped for reading is made writable afterwards. */
static long map_protect(void) {
    int file = open(in_place("file"), O_RDONLY);
    TRY(file);
    char *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return -errno;
    TRY(mprotect(memory, 4096, PROT_READ | PROT_WRITE));
    memory[0] = 'h';
    return 0;
}

static long copy_range(void) {
    int from = open("/proc/self/exe", O_RDONLY), to = open(in_place("file"), O_WRONLY);
    TRY(to);
    TRY(sendfile(to, from, NULL, 4));
    return close(to);
}

static long fallocate_file(void) {
    int file = open(in_place("file"), O_WRONLY);
    TRY(file);
    TRY(fallocate(file, 0, 0, 4096));
    return close(file);
}

static long unlink_file(void) {
    TRY(syscall(SYS_unlink, in_place("file")));
    return 0;
}

static long unlinkat_file(void) {
    TRY(unlinkat(AT_FDCWD, in_place("file"), 0));
    return 0;
}

static long remove_folder(void) {
    TRY(rmdir(in_place("empty")));
    return 0;
}

static long make_folder(void) {
    TRY(mkdir(in_place("new"), 0700));
    return 0;
}

static long rename_within(void) {
    TRY(rename(in_place("file"), in_place("renamed")));
    return 0;
}

static long move_to_scratch(void) {
    TRY(rename(in_place("file"), in_scratch("moved-here")));
    return 0;
}

static long move_from_scratch(void) {
    char *mine = in_scratch("to-be-moved");
    int file = open(mine, O_WRONLY | O_CREAT, 0600);
    TRY(file);
    close(file);
    TRY(rename(mine, in_place("file")));
    return 0;
}

static long exchange(void) {
    char *mine = in_scratch("to-be-exchanged");
    close(open(mine, O_WRONLY | O_CREAT, 0600));
    TRY(syscall(SYS_renameat2, AT_FDCWD, mine, AT_FDCWD, in_place("file"), 2));
    return 0;
}

static long link_then_write(void) {
    char *mine = in_scratch("linked");
    TRY(link(in_place("file"), mine));
    return scribble(open(mine, O_WRONLY));
}

static long link_out(void) {
    char *mine = in_scratch("to-be-linked");
    close(open(mine, O_WRONLY | O_CREAT, 0600));
    TRY(link(mine, in_place("new")));
    return 0;
}

static long temporary_then_link(void) {
    int file = open(in_scratch(""), O_TMPFILE | O_WRONLY, 0600);
    TRY(file);
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    TRY(linkat(AT_FDCWD, name, AT_FDCWD, in_place("new"), AT_SYMLINK_FOLLOW));
    return 0;
}

static long symlink_there(void) {
    TRY(symlink("/", in_place("new")));
    return 0;
}

static long symlink_here_then_write(void) {
    char *mine = in_scratch("symbolic");
    unlink(mine);
    TRY(symlink(in_place("file"), mine));
    return scribble(open(mine, O_WRONLY));
}

static long fifo_there(void) {
    TRY(mknod(in_place("new"), S_IFIFO | 0600, 0));
    return 0;
}

static long by_handle(void) {
    struct file_handle *handle = calloc(1, sizeof *handle + MAX_HANDLE_SZ);
    handle->handle_bytes = MAX_HANDLE_SZ;
    int mount, folder = open(in_place(""), O_RDONLY | O_DIRECTORY);
    TRY(folder);
    TRY(name_to_handle_at(AT_FDCWD, in_place("file"), handle, &mount, 0));
    return scribble(open_by_handle_at(folder, handle, O_WRONLY));
}

/* Calls of 32-bit programs have other numbers, and need addresses below 4 GB. */
static long unlink_by_int80(void) {
#ifdef __x86_64__
    char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED)
        return -errno;
    snprintf(low, 4096, "%s", in_place("file"));
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(10L), "b"(low) : "memory", "r8", "r9", "r10", "r11");
    return (int) result < 0 ? (int) result : 0;
#else
    return -ENOSYS;
#endif
}

/* The same numbers with the bit of 32-bit pointers. */
static long unlink_by_x32(void) {
    TRY(syscall(0x40000000L + SYS_unlink, in_place("file")));
    return 0;
}

static long shared_memory_file(void) {
    int file = open(setting("shm"), O_WRONLY);
    return scribble(file);
}

const struct attempt file_attempts[] = {
    {"write-openat2", write_openat2}, {"write-creat", write_creat}, {"write-dirfd", write_dirfd},
    {"reopen-read-only", reopen_read_only}, {"reopen-path", reopen_path}, {"through-root", through_root},
    {"through-root-of-parent", through_root_of_parent}, {"truncate-path", truncate_path},
    {"truncate-read-only", truncate_read_only}, {"map-shared", map_shared}, {"map-protect", map_protect},
    {"copy-range", copy_range}, {"fallocate", fallocate_file}, {"unlink", unlink_file},
    {"unlinkat", unlinkat_file}, {"remove-folder", remove_folder}, {"make-folder", make_folder},
    {"rename-within", rename_within}, {"move-to-scratch", move_to_scratch},
    {"move-from-scratch", move_from_scratch}, {"exchange", exchange}, {"link-then-write", link_then_write},
    {"link-out", link_out}, {"temporary-then-link", temporary_then_link}, {"symlink-there", symlink_there},
    {"symlink-here-then-write", symlink_here_then_write}, {"fifo-there", fifo_there}, {"by-handle", by_handle},
    {"unlink-by-int80", unlink_by_int80}, {"unlink-by-x32", unlink_by_x32},
    {"shared-memory-file", shared_memory_file}, {NULL, NULL},
};
