// Preloaded, it sets the clock of a process ahead by so many seconds as CLOCK_AHEAD says, and by those that CLOCK_FILE has at any time
// (64 bits), and lets it run so many times slower as CLOCK_SLOWER says. (Debian's libfaketime would do; but it moves the environment, beside which Swift looks for the arguments, and
// it allocates memory before jemalloc, which Redis uses, can give any.)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const long long SECOND = 1000000000;

static int (*real_clock)(clockid_t, struct timespec *);
static long long start, ahead, slower;
static const volatile int64_t nothing, *set = &nothing;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static long long nanoseconds(struct timespec moment) { return moment.tv_sec * SECOND + moment.tv_nsec; }

// Once: a search for a symbol or a variable at each call would take more time than most callers do.
static void prepare(void) {
    struct timespec now;
    ahead = number("CLOCK_AHEAD", 0) * SECOND;
    slower = number("CLOCK_SLOWER", 1);
    real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *file = getenv("CLOCK_FILE");
    if (file) {
        void *map = mmap(NULL, sizeof *set, PROT_READ, MAP_SHARED, open(file, O_RDONLY | O_CLOEXEC), 0);
        if (map == MAP_FAILED) abort();
        set = map;
    }
    real_clock(CLOCK_REALTIME, &now);
    start = nanoseconds(now);
}

int clock_gettime(clockid_t clock, struct timespec *moment) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    int status = real_clock(clock, moment);
    if (status == 0 && clock == CLOCK_REALTIME) {
        long long now = start + (nanoseconds(*moment) - start) / slower + ahead + *set * SECOND;
        *moment = (struct timespec){.tv_sec = now / SECOND, .tv_nsec = now % SECOND};
    }
    return status;
}

int gettimeofday(struct timeval *restrict moment, void *restrict zone) {
    (void)zone;
    struct timespec now;
    int status = clock_gettime(CLOCK_REALTIME, &now);
    if (status == 0) *moment = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return status;
}

time_t time(time_t *moment) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    if (moment) *moment = now.tv_sec;
    return now.tv_sec;
}
