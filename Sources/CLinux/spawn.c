#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

enum { most_descriptors = 16 };

int clinux_spawn(
    pid_t *pid, const char *program, char *const arguments[], char *const environment[], const int *descriptors, int count) {
    if (count < 3 || count > most_descriptors) return EINVAL;
    // dup2 onto the same number would keep close-on-exec, and onto a lower one could overwrite another: move all of
    // them first.
    int high[most_descriptors];
    int error = 0;
    for (int number = 0; number < count; number++) {
        high[number] = descriptors[number] < 0 || error ? -1 : fcntl(descriptors[number], F_DUPFD_CLOEXEC, count);
        if (descriptors[number] >= 0 && !error && high[number] < 0) error = errno;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);

    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    // A separate process group: Ctrl-C at the terminal signals only the parent, which then ends its children in order.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

    for (int number = 0; number < count && !error; number++) {
        error = high[number] < 0 ? posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
                                 : posix_spawn_file_actions_adddup2(&actions, high[number], number);
    }
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, count);
    if (!error) error = posix_spawnp(pid, program, &actions, &attributes, arguments, environment);

    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (int number = 0; number < count; number++) {
        if (high[number] >= 0) close(high[number]);
    }
    return error;
}
