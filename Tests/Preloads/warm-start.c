// A program that is linked once for all of its runs. To link ffmpeg with its two hundred libraries takes most of the time of a short
// run, and the tests make hundreds of them.
//
// Loaded into the program (LD_PRELOAD), it waits at the socket WARM_SOCKET just before `main`, and lets a fork of itself run `main` for
// each caller. Built with -DCALLER it is the caller: `caller SOCKET PROGRAM ARGUMENT…` does what the program would, with its own
// descriptors, in its own folder, and ends with the same status.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DESCRIPTORS = 4, LARGEST = 128 << 10 };

// Standard input, output and error, and the folder.
union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
};

static struct msghdr message(struct iovec *words, union control *control) {
    return (struct msghdr){
        .msg_iov = words, .msg_iovlen = 1, .msg_control = control->room, .msg_controllen = sizeof control->room};
}

static int open_socket(const char *path, struct sockaddr_un *address) {
    address->sun_family = AF_UNIX;
    strncpy(address->sun_path, path, sizeof address->sun_path - 1);
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

#ifdef CALLER

int main(int argc, char **argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct sockaddr_un address = {0};
    int program = open_socket(argv[1], &address);
    // It may be about to be linked.
    for (int attempt = 0; connect(program, (struct sockaddr *)&address, sizeof address) != 0; attempt++) {
        if (attempt == 5000) return perror(argv[1]), 127;
        usleep(2000);
    }
    char words[LARGEST];
    size_t length = 0;
    for (int i = 2; i < argc; i++) {
        size_t size = strlen(argv[i]) + 1;
        if (length + size > sizeof words) return fputs("the arguments are too long\n", stderr), 127;
        memcpy(words + length, argv[i], size);
        length += size;
    }
    union control control = {0};
    struct iovec all = {words, length};
    struct msghdr order = message(&all, &control);
    struct cmsghdr *header = CMSG_FIRSTHDR(&order);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(DESCRIPTORS * sizeof(int));
    memcpy(CMSG_DATA(header), (int[]){0, 1, 2, open(".", O_PATH | O_CLOEXEC)}, DESCRIPTORS * sizeof(int));
    int status;
    if (sendmsg(program, &order, 0) < 0) return perror(argv[1]), 127;
    // A program that is killed says nothing.
    if (recv(program, &status, sizeof status, 0) != sizeof status) return fprintf(stderr, "%s ended without a status\n", argv[2]), 134;
    return status;
}

#else

static int (*program)(int, char **, char **);

static int caller;

// Tells the caller how the program ends, once all that it wrote is on its way.
static void report(int status, void *unused) {
    (void)unused;
    fflush(NULL);
    send(caller, &status, sizeof status, MSG_NOSIGNAL);
}

static int run(char **environment) {
    static char words[LARGEST];
    union control control = {0};
    struct iovec all = {words, sizeof words};
    struct msghdr order = message(&all, &control);
    ssize_t length = recvmsg(caller, &order, MSG_CMSG_CLOEXEC);
    if (length <= 0) _exit(0);
    int descriptors[DESCRIPTORS];
    memcpy(descriptors, CMSG_DATA(CMSG_FIRSTHDR(&order)), sizeof descriptors);
    for (int number = 0; number < 3; number++) dup2(descriptors[number], number);
    if (fchdir(descriptors[3]) != 0) report(127, NULL), _exit(127);
    for (int index = 0; index < DESCRIPTORS; index++) close(descriptors[index]);
    static char *argv[LARGEST / 2 + 1];
    int argc = 0;
    for (char *word = words; word < words + length; word += strlen(word) + 1) argv[argc++] = word;
    on_exit(report, NULL);
    return program(argc, argv, environment);
}

static int serve(int argc, char **argv, char **environment) {
    struct sockaddr_un address = {0};
    int listener = open_socket(getenv("WARM_SOCKET"), &address);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0) return perror("WARM_SOCKET"), 127;
    unsetenv("LD_PRELOAD");
    signal(SIGCHLD, SIG_IGN);
    while (1) {
        caller = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (caller >= 0 && fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            signal(SIGCHLD, SIG_DFL);
            close(listener);
            return run(environment);
        }
        close(caller);
    }
}

int __libc_start_main(
    int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void), void (*end)(void), void *stack) {
    int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
        dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return start(serve, argc, argv, init, fini, end, stack);
}

#endif
