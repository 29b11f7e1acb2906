// Preloaded, it takes features away from the file system. -DLEASES=0: there are no leases; -DLEASES=N: there are none any more once N were
// refused; -DLEASES=-1: none is refused, as on an overlay. -DUNNAMED=0: there are no files without a name.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

int fcntl(int file, int command, ...) {
    va_list list;
    va_start(list, command);
    long value = va_arg(list, long);
    va_end(list);
    static int left = LEASES;
    if (command == F_SETLEASE && left == 0) return errno = EINVAL, -1;
    int answer = (int)syscall(SYS_fcntl, file, command, value);
    if (command == F_SETLEASE && answer < 0 && errno == EAGAIN && left-- < 0) return 0;
    return answer;
}
int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

static int reopen(int folder, const char *path, int flags, int mode) {
    if (!UNNAMED && (flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    return reopen(folder, path, flags, mode);
}
int openat64(int, const char *, int, ...) __attribute__((alias("openat")));

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    return reopen(AT_FDCWD, path, flags, mode);
}
int open64(const char *, int, ...) __attribute__((alias("open")));
