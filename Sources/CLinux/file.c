#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>

int clinux_open_unnamed(const char *folder, mode_t mode) { return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode); }
