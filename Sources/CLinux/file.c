#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int clinux_open_unnamed(const char *folder, mode_t mode) { return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode); }

int clinux_link_unnamed(int descriptor, const char *path) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}
