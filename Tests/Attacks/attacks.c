#define _GNU_SOURCE
#include "Attacks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int reads_file(const char *target) { return open(target, O_RDONLY) < 0 ? -1 : 0; }
static int writes_file(const char *target) { return open(target, O_WRONLY) < 0 ? -1 : 0; }
static int empties_file(const char *target) { return truncate(target, 0); }
static int lists_folder(const char *target) {
    (void)target;
    return open("/", O_RDONLY | O_DIRECTORY) < 0 ? -1 : 0;
}
static int makes_file(const char *target) {
    char path[4096];
    snprintf(path, sizeof path, "%s.new", target);
    return open(path, O_WRONLY | O_CREAT, 0600) < 0 ? -1 : 0;
}
static int removes_file(const char *target) { return unlink(target); }
static int links_file(const char *target) {
    char path[4096];
    snprintf(path, sizeof path, "%s.link", target);
    return symlink("/etc/passwd", path);
}
static int opens_rights(const char *target) { return chmod(target, 0777); }
static int connects_tcp(const char *target) {
    (void)target;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int number = socket(AF_INET, SOCK_STREAM, 0);
    if (number < 0) return -1;
    // Nobody listens there: a refusal by the peer means that a packet went out.
    return connect(number, (struct sockaddr *)&address, sizeof address) == 0 || errno == ECONNREFUSED ? 0 : -1;
}
// How connections are made besides `connect`: to a port of loopback, the target, where a refusal by the peer means that a packet
// went out as well.
static struct sockaddr_in loopback(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}
static int reaches(long outcome) { return outcome >= 0 || errno == ECONNREFUSED || errno == EINPROGRESS ? 0 : -1; }
static int connects_port(const char *target) {
    struct sockaddr_in address = loopback(target);
    return reaches(connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address));
}
static int connects_multipath(const char *target) {
    struct sockaddr_in address = loopback(target);
    int number = socket(AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */);
    return number < 0 ? -1 : reaches(connect(number, (struct sockaddr *)&address, sizeof address));
}
static int sends_at_once(const char *target) {
    struct sockaddr_in address = loopback(target);
    int number = socket(AF_INET, SOCK_STREAM, 0);
    return reaches(sendto(number, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address));
}
static int sends_message_at_once(const char *target) {
    struct sockaddr_in address = loopback(target);
    struct iovec bytes = {"x", 1};
    struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &bytes, .msg_iovlen = 1};
    return reaches(sendmsg(socket(AF_INET, SOCK_STREAM, 0), &message, MSG_FASTOPEN));
}
static int sends_messages_at_once(const char *target) {
    struct sockaddr_in address = loopback(target);
    struct iovec bytes = {"x", 1};
    struct mmsghdr message = {
        .msg_hdr = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &bytes, .msg_iovlen = 1}};
    return reaches(sendmmsg(socket(AF_INET, SOCK_STREAM, 0), &message, 1, MSG_FASTOPEN));
}
static int sends_datagram(const char *target) {
    (void)target;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int number = socket(AF_INET, SOCK_DGRAM, 0);
    if (number < 0) return -1;
    return sendto(number, "x", 1, 0, (struct sockaddr *)&address, sizeof address) == 1 ? 0 : -1;
}
static int reaches_redis(const char *target) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, target, sizeof address.sun_path - 1);
    int number = socket(AF_UNIX, SOCK_STREAM, 0);
    if (number < 0) return -1;
    return connect(number, (struct sockaddr *)&address, sizeof address) == 0 || errno == ECONNREFUSED ? 0 : -1;
}
static int reaches_logger(const char *target) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, target, sizeof address.sun_path - 1);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return -1;
    return connect(ends[0], (struct sockaddr *)&address, sizeof address) == 0 || errno == ECONNREFUSED ? 0 : -1;
}
static int arms_signal(const char *target) {
    (void)target;
    int ends[2] = {0, 1};
    if (syscall(SYS_fcntl, ends[0], F_SETOWN, getppid()) != 0) return -1;
    return (int)syscall(SYS_fcntl, ends[0], F_SETFL, O_ASYNC);
}
static int opens_mode(const char *target) {
    int number = open(target, O_RDONLY);
    return fchmod(number < 0 ? 2 : number, 0777);
}
static int forks(const char *target) {
    (void)target;
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return pid < 0 ? -1 : 0;
}
static int runs_program(const char *target) {
    (void)target;
    char *const arguments[] = {"true", NULL};
    return execve("/bin/true", arguments, NULL);
}
static int signals_worker(const char *target) {
    (void)target;
    return kill(getppid(), 0);
}
static int traces_worker(const char *target) {
    (void)target;
    return ptrace(PTRACE_ATTACH, getppid(), 0, 0) < 0 ? -1 : 0;
}
static int reads_worker(const char *target) {
    (void)target;
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)&attack, 1};
    return process_vm_readv(getppid(), &here, 1, &there, 1, 0) < 0 ? -1 : 0;
}
static int opens_worker(const char *target) {
    (void)target;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", getppid());
    return open(path, O_RDONLY) < 0 ? -1 : 0;
}
static int limits_worker(const char *target) {
    (void)target;
    struct rlimit limit = {0, 0};
    return prlimit(getppid(), RLIMIT_CORE, &limit, NULL);
}
static int raises_limit(const char *target) {
    (void)target;
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_CORE, &limit);
}
static int runs_data(const char *target) {
    (void)target;
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}
static int makes_namespace(const char *target) {
    (void)target;
    return unshare(CLONE_NEWUSER);
}
static int mounts(const char *target) { return mount("none", target, "tmpfs", 0, NULL); }
static int rings(const char *target) {
    (void)target;
    char parameters[256] = {0};
    return syscall(425 /* io_uring_setup */, 1, parameters) < 0 ? -1 : 0;
}
static int hides_file(const char *target) {
    (void)target;
    return (int)syscall(SYS_memfd_create, "x", 0) < 0 ? -1 : 0;
}
static int types_into_terminal(const char *target) {
    (void)target;
    char letter = 'x';
    return (int)syscall(SYS_ioctl, 2, 0x5412 /* TIOCSTI */, &letter) < 0 ? -1 : 0;
}
// Starts as many threads as the target says, or as it can, all of which wait for ever, and waits itself.
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static void *wait_for_ever(void *argument) {
    pthread_mutex_lock(&never);
    return argument;
}
static int starts_threads(const char *target) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_mutex_lock(&never);
    for (int count = atoi(target); count > 0; count--) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, wait_for_ever, NULL) != 0) break;
    }
    wait_for_ever(NULL);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(const char *target);
} attacks[] = {
    {"reads_file", reads_file},         {"writes_file", writes_file},   {"empties_file", empties_file},
    {"lists_folder", lists_folder},     {"makes_file", makes_file},     {"removes_file", removes_file},
    {"links_file", links_file},         {"opens_rights", opens_rights}, {"connects_tcp", connects_tcp},
    {"sends_datagram", sends_datagram}, {"reaches_redis", reaches_redis}, {"forks", forks},
    {"runs_program", runs_program},     {"signals_worker", signals_worker}, {"traces_worker", traces_worker},
    {"reads_worker", reads_worker},     {"opens_worker", opens_worker}, {"limits_worker", limits_worker},
    {"raises_limit", raises_limit},     {"runs_data", runs_data},       {"makes_namespace", makes_namespace},
    {"mounts", mounts},                 {"rings", rings},               {"hides_file", hides_file},
    {"types_into_terminal", types_into_terminal}, {"reaches_logger", reaches_logger}, {"arms_signal", arms_signal},
    {"opens_mode", opens_mode},         {"connects_port", connects_port}, {"connects_multipath", connects_multipath},
    {"sends_at_once", sends_at_once},   {"sends_message_at_once", sends_message_at_once},
    {"sends_messages_at_once", sends_messages_at_once}, {"starts_threads", starts_threads},
};

int attack(const char *name, const char *target) {
    for (size_t index = 0; index < sizeof attacks / sizeof *attacks; index++)
        if (strcmp(attacks[index].name, name) == 0) return attacks[index].run(target);
    return -2;
}

int landlock_version(void) { return (int)syscall(444 /* landlock_create_ruleset */, NULL, 0, 1); }
