// Preloaded, it kills the process instead of its second rename.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int renameat(int from, const char *old, int to, const char *name) {
    static int count;
    if (++count == 2) raise(SIGKILL);
    // arm64 has no renameat(2).
    return (int)syscall(SYS_renameat2, from, old, to, name, 0);
}
