/* What the attempts of all files share. An attempt returns 0 if all its calls succeeded, or the negative number of
   the error of the first that did not. */
#ifndef ATTEMPTS_H
#define ATTEMPTS_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Ends the attempt with the error of a call that failed. */
#define TRY(call) do { if ((long) (call) < 0) return -errno; } while (0)

/* A call with arguments that the kernel finds fault with after it has checked the right to make it: with any other
   error than these it was made. */
static inline long reached(long result) {
    if (result >= 0)
        return 0;
    return errno == EPERM || errno == EACCES || errno == ENOSYS ? -errno : 0;
}

struct attempt {
    const char *name;
    long (*make)(void);
};

extern const struct attempt file_attempts[], attribute_attempts[], network_attempts[], process_attempts[],
    program_attempts[], system_attempts[], mount_attempts[], self_attempts[],
    burden_attempts[];

/* A path below the folder that this attempt is after. */
char *in_place(const char *name);
/* A path below the folder that the program may write to. */
char *in_scratch(const char *name);
/* A fact about this machine that the study gave, such as the process to attack. */
const char *setting(const char *key);
/* The number in a file of the place, such as the process to attack. */
long number(const char *name);
/* The device number of the block device to attack. */
unsigned loop_device(void);

#endif
