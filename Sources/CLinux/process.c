#define _GNU_SOURCE
#include "CLinux.h"

#include <linux/capability.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

int clinux_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int clinux_keep_capabilities(uint64_t kept) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct halves[2];
    if (syscall(SYS_capget, &header, halves) != 0) return -1;
    // Both fail if there is nothing to drop, or no permission to drop it; that is ignored.
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int number = 0; number < 64 && prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++)
        if (!(kept >> number & 1)) prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    uint32_t surplus = 0;
    for (int half = 0; half < 2; half++) {
        uint32_t mask = (uint32_t)(kept >> 32 * half);
        surplus |= ((halves[half].effective | halves[half].permitted) & ~mask) | halves[half].inheritable;
        halves[half].effective &= mask;
        halves[half].permitted &= mask;
        halves[half].inheritable = 0;
    }
    return surplus ? (int)syscall(SYS_capset, &header, halves) : 0;
}

void clinux_use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

void clinux_return_free_memory(void) { malloc_trim(0); }

int clinux_limit(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    if (limit.rlim_max != RLIM_INFINITY && value > limit.rlim_max) value = limit.rlim_max;
    limit.rlim_cur = value;
    limit.rlim_max = value;
    return setrlimit(resource, &limit);
}
