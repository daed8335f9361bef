/* What a candidate can put on the machine, on its own process and on its own folder. */
#include "attempts.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* More than a worker may have, and less than a machine has. */
#define MOST (6L << 30)
#define PIECE (64L << 20)

static long stop(void) {
    TRY(kill(getpid(), SIGSTOP));
    return 0;
}

static long close_all(void) {
    for (int it = 0; it < 256; it++)
        close(it);
    return 0;
}

/* Memory that no limit of a process counts. */
static long take_shared(void) {
    for (long taken = 0; taken < MOST; taken += PIECE)
        if (mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
            return -errno;
    for (;;)
        pause();
}

static long take_memfd(void) {
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    for (long taken = 0; taken < MOST; taken += PIECE) {
        int file = memfd_create("memory", 0);
        TRY(file);
        for (long done = 0; done < PIECE; done += sizeof block)
            TRY(write(file, block, sizeof block));
    }
    for (;;)
        pause();
}

static long take_pipes(void) {
    static char block[1 << 16];
    for (;;) {
        int ends[2];
        TRY(pipe(ends));
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        while (write(ends[1], block, sizeof block) > 0)
            ;
    }
}

/* Whoever opens it waits for somebody to write to it. */
static long leave_fifo(void) {
    unlink(in_scratch("crash.log"));
    TRY(mkfifo(in_scratch("x.log"), 0600));
    TRY(mkfifo(in_scratch("crash.log"), 0600));
    return 0;
}

const struct attempt burden_attempts[] = {
    {"stop", stop}, {"close-all", close_all}, {"take-shared", take_shared}, {"take-memfd", take_memfd},
    {"take-pipes", take_pipes}, {"leave-fifo", leave_fifo}, {NULL, NULL},
};
