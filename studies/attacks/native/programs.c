/* Starting other programs and processes. What starts leaves a file in the folder that may be written to: it would be
   in the same sandbox, so nothing else would show that it ran. */
#include "attempts.h"
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

extern char **environ;

/* Leaves the file, without anything of the C library. */
static void leave_mark(const char *mark) {
    int file = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0600);
    syscall(SYS_exit_group, file < 0);
}

/* In a file whose name has that of the place, which is the attempt's own. */
static char *mark(void) {
    char *place = in_place("."), *name = NULL;
    place[strlen(place) - 2] = 0;
    return asprintf(&name, "ran-%s", strrchr(place, '/') + 1) < 0 ? NULL : in_scratch(name);
}

static long after(long child) {
    int status;
    TRY(child);
    TRY(waitpid(child, &status, 0));
    return status ? -ECHILD : 0;
}

static long fork_child(void) {
    char *path = mark();
    long child = syscall(SYS_fork);
    if (child == 0)
        leave_mark(path);
    return after(child);
}

static long vfork_child(void) {
    char *path = mark();
    long child = vfork();
    if (child == 0)
        leave_mark(path);
    return after(child);
}

static long clone_child(void) {
    char *path = mark();
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        leave_mark(path);
    return after(child);
}

static long clone3_child(void) {
    char *path = mark();
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    long child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0)
        leave_mark(path);
    return after(child);
}

static char **shell(char *path) {
    static char *words[4] = {"/bin/sh", "-c", NULL, NULL};
    char *script = NULL;
    if (asprintf(&script, ": > '%s'", path) >= 0)
        words[2] = script;
    return words;
}

static long spawn(void) {
    pid_t child;
    int error = posix_spawn(&child, "/bin/sh", NULL, NULL, shell(mark()), environ);
    return error ? -error : after(child);
}

static long system_shell(void) {
    int status = system(shell(mark())[2]);
    return status == -1 ? -errno : status ? -ECHILD : 0;
}

/* The JVM itself becomes the program. */
static long exec_shell(void) {
    TRY(execve("/bin/sh", shell(mark()), environ));
    return 0;
}

static long exec_at(void) {
    int file = open("/bin/sh", O_PATH);
    TRY(file);
    TRY(syscall(SYS_execveat, file, "", shell(mark()), environ, AT_EMPTY_PATH));
    return 0;
}

static long copy_of_shell(int to) {
    char buffer[1 << 16];
    int from = open("/bin/sh", O_RDONLY);
    TRY(from);
    for (ssize_t length; (length = read(from, buffer, sizeof buffer)) > 0;)
        TRY(write(to, buffer, length));
    return close(from);
}

static long exec_memory(void) {
    int file = memfd_create("program", MFD_CLOEXEC);
    TRY(file);
    TRY(copy_of_shell(file));
    TRY(fexecve(file, shell(mark()), environ));
    return 0;
}

static long exec_own_file(void) {
    char *path = in_scratch("program");
    int file = open(path, O_WRONLY | O_CREAT, 0700);
    TRY(file);
    TRY(copy_of_shell(file));
    close(file);
    TRY(execve(path, shell(mark()), environ));
    return 0;
}

/* The dynamic linker is a program that loads any other. */
static long exec_linker(void) {
    char **words = shell(mark());
    char *all[] = {"/lib64/ld-linux-x86-64.so.2", words[0], words[1], words[2], NULL};
    TRY(execve(all[0], all, environ));
    return 0;
}

/* A JVM may be executed where it is needed for the start: another one, without the options of this. */
static long exec_jvm(void) {
    char java[4096], *path = mark();
    snprintf(java, sizeof java, "%s", setting("java"));
    char *option = NULL, *class_path = NULL;
    if (asprintf(&option, "-Dmark=%s", path) < 0 || asprintf(&class_path, "%s", setting("classes")) < 0)
        return -ENOMEM;
    char *all[] = {java, option, "-Xmx32m", "-cp", class_path, "attacks.Mark", NULL};
    TRY(execve(java, all, environ));
    return 0;
}

const struct attempt program_attempts[] = {
    {"fork", fork_child}, {"vfork", vfork_child}, {"clone", clone_child}, {"clone3", clone3_child},
    {"spawn", spawn}, {"system", system_shell}, {"exec", exec_shell}, {"exec-at", exec_at},
    {"exec-memory", exec_memory}, {"exec-own-file", exec_own_file}, {"exec-linker", exec_linker},
    {"exec-jvm", exec_jvm}, {NULL, NULL},
};
