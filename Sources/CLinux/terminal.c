#define _GNU_SOURCE
#include "CLinux.h"

#include <sys/ioctl.h>
#include <wchar.h>

int clinux_terminal_size(int descriptor, int *columns, int *rows) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return -1;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}

int clinux_columns(uint32_t character) { return wcwidth((wchar_t)character); }
