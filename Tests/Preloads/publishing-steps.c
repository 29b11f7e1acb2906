// Preloaded, it kills the process instead of its call KILL_AT that changes names while it publishes. With `links` in DENY, a link to
// a published file is denied, as to one of another user; with `exchange`, two names cannot be exchanged, as on NFS.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void step(void) {
    static int count;
    const char *last = getenv("KILL_AT");
    if (last && ++count == atoi(last)) raise(SIGKILL);
}

static int denied(const char *word) {
    const char *words = getenv("DENY");
    return words && strstr(words, word);
}

int renameat2(int from, const char *old, int to, const char *name, unsigned flags) {
    if (flags & RENAME_EXCHANGE && denied("exchange")) return errno = EINVAL, -1;
    step();
    return (int)syscall(SYS_renameat2, from, old, to, name, flags);
}

// arm64 has no renameat(2).
int renameat(int from, const char *old, int to, const char *name) { return renameat2(from, old, to, name, 0); }

int linkat(int from, const char *old, int to, const char *name, int flags) {
    int keeps = strncmp(name, ".respool_", 9) == 0;
    if (keeps && strncmp(old, ".respool-", 9) && denied("links")) return errno = EPERM, -1;
    if (keeps) step();
    return (int)syscall(SYS_linkat, from, old, to, name, flags);
}

int unlinkat(int from, const char *name, int flags) {
    step();
    return (int)syscall(SYS_unlinkat, from, name, flags);
}
