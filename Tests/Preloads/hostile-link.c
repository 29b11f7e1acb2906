// Preloaded into the real respool-transcode: does with the link and with what comes over it what code would that has taken the
// process over. The variable ATTACK says what.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINK = 4 };

static int is_attack(const char *name) {
    const char *asked = getenv("ATTACK");
    return asked && strcmp(asked, name) == 0;
}

static ssize_t receive(int socket, struct msghdr *message, int flags) { return syscall(SYS_recvmsg, socket, message, flags); }

/// The descriptor that came with a message, or -1.
static int descriptor_of(struct msghdr *message) {
    struct cmsghdr *control = CMSG_FIRSTHDR(message);
    int number = -1;
    if (control && control->cmsg_type == SCM_RIGHTS) memcpy(&number, CMSG_DATA(control), sizeof number);
    return number;
}

/// Asks a question over the link and answers the descriptor that came back, or -1.
static int ask(const char *question) {
    if (write(LINK, question, strlen(question)) < 0) return -1;
    char text[4096], control[256];
    struct iovec part = {text, sizeof text};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (receive(LINK, &message, 0) <= 0) return -1;
    return descriptor_of(&message);
}

static void write_page(void) {
    int page = ask("{\"stage\":{\"output\":0,\"part\":\".html\"}}");
    if (page < 0) return;
    dprintf(page, "<script>");
    close(page);
    const char *end = "{\"finished\":{\"output\":0,\"part\":\".html\"}}";
    if (write(LINK, end, strlen(end)) < 0) return;
}

static void fill_scratch(void) {
    static char bytes[1 << 20];
    memset(bytes, 1, sizeof bytes);
    for (int count = 0; count < 20; count++) {
        int scratch = ask("{\"scratch\":{}}");
        if (scratch < 0 || write(scratch, bytes, sizeof bytes) < 0) return;
    }
}

/// Asks and asks, and reads no answer.
static void flood(void) {
    const char *question = "{\"titles\":{}}";
    for (int count = 0; count < 2000; count++)
        if (write(LINK, question, strlen(question)) < 0) return;
}

/// Messages are sent with sendmsg: the first one over the link that wants an output's file is preceded by the attack.
ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    static int is_done;
    if (socket == LINK && !is_done && message->msg_iovlen > 0
        && memmem(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, "\"stage\"", 7)) {
        is_done = 1;
        if (is_attack("names")) write_page();
        if (is_attack("fills")) fill_scratch();
        if (is_attack("floods")) flood();
        if (is_attack("hoards")) ask("{\"scratch\":{}}");
    }
    return syscall(SYS_sendmsg, socket, message, flags);
}

/// Keeps a second descriptor of all that may be written, as if it were never closed.
ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    ssize_t count = receive(socket, message, flags);
    int number = count > 0 && socket == LINK ? descriptor_of(message) : -1;
    if (number >= 0 && is_attack("keeps") && (fcntl(number, F_GETFL) & O_ACCMODE) == O_RDWR)
        fcntl(number, F_DUPFD_CLOEXEC, 5);
    return count;
}
