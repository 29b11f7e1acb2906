// What a transcoder that was taken over says to its worker, and writes to its standard error: the rest of its source, so often.
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static char said[4 << 20];

// Each line is a message to the worker, or all of it is written to standard error. `words` is how often, and perhaps `,stays`.
static void say(int source, const char *words, bool aloud) {
    static bool done;
    if (done) return;
    done = true;
    ssize_t length = syscall(SYS_pread64, source, said, sizeof said - 1, 0);
    char *start = length > 0 ? memchr(said, '\n', (size_t)length) : NULL;
    if (!start) return;
    char *end = said + length;
    start++;
    char *rest;
    long times = strtol(words, &rest, 10);
    for (long time = 0; time < times; time++) {
        if (aloud && write(2, start, (size_t)(end - start)) < 0) return;
        for (char *line = start; !aloud && line < end;) {
            char *stop = memchr(line, '\n', (size_t)(end - line));
            if (!stop) stop = end;
            if (write(3, line, (size_t)(stop - line)) < 0) return;
            line = stop + 1;
        }
    }
    // Whoever stays says nothing more, and does not end by itself.
    while (strcmp(rest, ",stays") == 0) clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_sec = 1}, NULL);
}
