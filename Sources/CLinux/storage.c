#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

int clinux_locate(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int clinux_reopen(int descriptor, int flags) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    return open(name, flags | O_CLOEXEC);
}

ssize_t clinux_path_of(int descriptor, char *path, size_t capacity) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    return readlink(name, path, capacity);
}

int clinux_open_unnamed_in(int folder, mode_t mode) { return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode); }

int clinux_link_unnamed_in(int descriptor, int folder, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW);
}

int clinux_rename_unless_there(int folder, const char *name, int other_folder, const char *other_name) {
    if (renameat2(folder, name, other_folder, other_name, RENAME_NOREPLACE) == 0) return 0;
    // Not every file system supports that flag.
    if (errno != EINVAL || linkat(folder, name, other_folder, other_name, 0) != 0) return -1;
    unlinkat(folder, name, 0);
    return 0;
}

int clinux_exchange(int folder, const char *name, int other_folder, const char *other_name) {
    return renameat2(folder, name, other_folder, other_name, RENAME_EXCHANGE);
}

int clinux_lock(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

// On remote file systems the server grants leases, and may refuse them for other reasons: NFS and three types of SMB.
static int is_remote(int descriptor) {
    struct statfs system;
    if (fstatfs(descriptor, &system) != 0) return 1;
    switch ((uint32_t)system.f_type) {
    case 0x6969:
    case 0x517b:
    case 0xff534d42:
    case 0xfe534d42: return 1;
    default: return 0;
    }
}

int clinux_has_writer(int descriptor) {
    if (is_remote(descriptor)) return -1;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -1;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 0;
}

int clinux_lock_byte(int descriptor, int64_t offset) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int clinux_share_lock(int descriptor) {
    // A process that removes an empty folder holds the lock for a moment. Another program may hold it for longer: then
    // this fails.
    int answer;
    for (int attempt = 0; attempt < 10; attempt++) {
        answer = flock(descriptor, LOCK_SH | LOCK_NB);
        if (answer == 0 || (errno != EINTR && errno != EWOULDBLOCK)) break;
        usleep(2000);
    }
    return answer;
}

int clinux_punch_hole(int descriptor, int64_t offset, int64_t length) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int clinux_start_writing(int descriptor, int64_t offset, int64_t length) {
    return sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}
