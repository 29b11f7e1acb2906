#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

int clinux_spawn(pid_t *pid, const char *path, char *const arguments[], char *const environment[], int third, int fourth) {
    // dup2 onto the same number would keep close-on-exec, and dup2 onto 3 could overwrite the fourth: move both away first.
    int high_third = fcntl(third, F_DUPFD_CLOEXEC, 5);
    if (high_third < 0) return errno;
    int high_fourth = fcntl(fourth, F_DUPFD_CLOEXEC, 5);
    if (high_fourth < 0) {
        int error = errno;
        close(high_third);
        return error;
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
    // A group of its own: Ctrl-C at the terminal reaches the parent alone, which then ends its children in order.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

    int error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, high_third, 3);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, high_fourth, 4);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, 5);
    if (!error) error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);

    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(high_third);
    close(high_fourth);
    return error;
}
