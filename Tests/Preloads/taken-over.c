// Preloaded into the real respool-transcode: a source that begins with `ATTACK name target` has its reader do that, as code would
// that has taken over the process by what it parsed.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../Attacks/attacks.c"
#include "taken-over-messages.c"

static void list_descriptors(void) {
    for (int number = 0; number < 256; number++) {
        struct stat found;
        if (fstat(number, &found) != 0) continue;
        if (S_ISREG(found.st_mode)) dprintf(2, "attack: file %llu\n", (unsigned long long)found.st_ino);
        else if (S_ISSOCK(found.st_mode)) dprintf(2, "attack: socket %d\n", number);
        else dprintf(2, "attack: other %d %o\n", number, found.st_mode & S_IFMT);
    }
}

ssize_t pread(int number, void *buffer, size_t size, off_t offset) {
    ssize_t count = syscall(SYS_pread64, number, buffer, size, offset);
    char line[512] = "", name[64], target[256];
    if (offset != 0 || count < 8) return count;
    memcpy(line, buffer, (size_t)count < sizeof line ? (size_t)count : sizeof line - 1);
    if (sscanf(line, "ATTACK %63s %255s", name, target) != 2) return count;
    if (strcmp(name, "speaks") == 0 || strcmp(name, "writes") == 0) {
        say(number, target, name[0] == 'w');
        return count;
    }
    if (strcmp(name, "lists_descriptors") == 0) {
        list_descriptors();
        return count;
    }
    int outcome = attack(name, target);
    if (outcome == 0) dprintf(2, "attack: %s succeeded\n", name);
    else dprintf(2, "attack: %s refused %d\n", name, outcome == -1 ? errno : 0);
    return count;
}
