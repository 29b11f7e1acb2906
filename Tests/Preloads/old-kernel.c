// Becomes the program of its arguments on a kernel that lacks some system calls, as far as that program can tell: the first
// argument says which, `landlock` or `capset`.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 3) return 2;
    int capabilities = strcmp(words[1], "landlock");
    unsigned first = capabilities ? 125 /* capget */ : 444 /* landlock_create_ruleset */;
    unsigned second = capabilities ? 126 /* capset */ : first;
    unsigned error = capabilities ? EPERM : ENOSYS;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        perror("old-kernel");
        return 2;
    }
    execv(words[2], words + 2);
    perror(words[2]);
    return 2;
}
