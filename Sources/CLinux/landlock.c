#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Additions to Landlock since the header of Debian 12 (version 2), from linux/landlock.h of Linux 6.12.
struct rules {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
};
enum {
    TRUNCATE = 1 << 14,       // version 3
    DEVICE_CONTROL = 1 << 15, // version 5
    BIND = 1,                 // version 4
    CONNECT = 2,
    SOCKETS_AND_SIGNALS = 3,  // version 6
};

static const uint64_t reading_file = LANDLOCK_ACCESS_FS_READ_FILE;
static const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t writing_file = LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE;
static const uint64_t writing = writing_file | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR
    | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REFER;

// LANDLOCK_RULE_NET_PORT and its attribute, from version 4.
enum { RULE_PORT = 2 };
struct port_rule {
    uint64_t access;
    uint64_t port;
};

static int version(void) {
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/// All file accesses that a kernel with that version of Landlock can restrict.
static uint64_t handled(int version) {
    uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
    if (version >= 2) all |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) all |= TRUNCATE;
    if (version >= 5) all |= DEVICE_CONTROL;
    return all;
}

int clinux_landlock_begin(int network) {
    int known = version();
    if (known < 0) return -1;
    struct rules rules = {
        .files = handled(known),
        .network = network == CLINUX_NETWORK_NONE ? BIND | CONNECT : network == CLINUX_NETWORK_PORTS ? CONNECT : 0,
        .scoped = SOCKETS_AND_SIGNALS,
    };
    size_t size = known >= 6 ? sizeof rules : known >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    return (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
}

int clinux_landlock_allow(int rules, const char *path, int may_write) {
    int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0) return -1;
    struct stat status;
    int outcome = fstat(place, &status);
    if (outcome == 0) {
        int is_folder = S_ISDIR(status.st_mode);
        uint64_t access = is_folder ? reading | (may_write ? writing : 0) : reading_file | (may_write ? writing_file : 0);
        struct landlock_path_beneath_attr rule = {.allowed_access = access & handled(version()), .parent_fd = place};
        outcome = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
    int error = errno;
    close(place);
    errno = error;
    return outcome;
}

int clinux_landlock_allow_other_ports(int rules, const uint16_t *closed, size_t count) {
    if (version() < 4) return 0;
    for (uint64_t port = 1; port <= UINT16_MAX; port++) {
        int is_closed = 0;
        for (size_t index = 0; index < count; index++) is_closed |= closed[index] == port;
        if (is_closed) continue;
        struct port_rule rule = {.access = CONNECT, .port = port};
        if (syscall(SYS_landlock_add_rule, rules, RULE_PORT, &rule, 0) != 0) return -1;
    }
    return 0;
}

int clinux_landlock_enforce(int rules) { return (int)syscall(SYS_landlock_restrict_self, rules, 0); }
