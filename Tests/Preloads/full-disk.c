// Preloaded, a file system seems to have no free space while the file MARK exists.
#include <sys/statvfs.h>
#include <unistd.h>

int statvfs(const char *path, struct statvfs *found) {
    *found = (struct statvfs){.f_frsize = 4096, .f_bavail = access(MARK, F_OK) == 0 ? 0 : 1 << 20};
    return 0;
}
