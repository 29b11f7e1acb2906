#define _GNU_SOURCE
#include <sys/xattr.h>
#include "CLinux.h"

#include <fcntl.h>

int clinux_open_unnamed(const char *folder, mode_t mode) { return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode); }

ssize_t clinux_get_attribute(const char *path, const char *name, void *value, size_t size) {
    return getxattr(path, name, value, size);
}
