// Preloaded, it sets the clock of a process ahead by so many seconds as CLOCK_AHEAD says. (Debian's libfaketime would do; but it
// moves the environment, beside which Swift looks for the arguments.)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t ahead(void) {
    const char *text = getenv("CLOCK_AHEAD");
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *moment) {
    int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, moment);
    if (status == 0 && clock == CLOCK_REALTIME) moment->tv_sec += ahead();
    return status;
}

int gettimeofday(struct timeval *moment, void *zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    moment->tv_sec = now.tv_sec;
    moment->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *moment) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    if (moment) *moment = now.tv_sec;
    return now.tv_sec;
}
