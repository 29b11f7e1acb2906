// Preloaded, it takes features away from the file system. -DLEASES=0: there are no leases; -DLEASES=N: there are none any more once N were
// refused; -DLEASES=-1: none is refused; -DLEASES=-2: none is refused on a file that is mapped, as on an overlay. -DUNNAMED=0: there are no files without a name.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The file that was mapped for writing last, and where.
static struct { void *place; struct stat file; } mapping;

void *mmap(void *wish, size_t length, int protection, int flags, int file, off_t offset) {
    void *place = (void *)syscall(SYS_mmap, wish, length, protection, flags, file, offset);
    if (place != (void *)-1 && protection & PROT_WRITE && flags & MAP_SHARED && fstat(file, &mapping.file) == 0) mapping.place = place;
    return place;
}
void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

int munmap(void *place, size_t length) {
    if (place == mapping.place) mapping.place = NULL;
    return (int)syscall(SYS_munmap, place, length);
}

static int is_mapped(int file) {
    struct stat found;
    return mapping.place != NULL && fstat(file, &found) == 0 && found.st_ino == mapping.file.st_ino;
}

int fcntl(int file, int command, ...) {
    va_list list;
    va_start(list, command);
    long value = va_arg(list, long);
    va_end(list);
    static int left = LEASES;
    if (command == F_SETLEASE && left == 0) return errno = EINVAL, -1;
    int answer = (int)syscall(SYS_fcntl, file, command, value);
    if (command != F_SETLEASE || answer == 0 || errno != EAGAIN) return answer;
    if (LEASES == -2 ? is_mapped(file) : left-- < 0) return 0;
    return errno = EAGAIN, -1;
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
