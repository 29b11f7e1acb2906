/// System calls by purpose.
enum SystemCalls {
    /// Memory, threads, time, signals to the process itself, and exit.
    static let ofAnyProgram = [
        "brk", "munmap", "mremap", "madvise", "membarrier", "futex", "set_robust_list", "rseq", "sched_yield",
        "sched_getaffinity", "rt_sigprocmask", "rt_sigaction", "rt_sigreturn", "sigaltstack", "clock_gettime",
        "clock_nanosleep", "nanosleep", "gettimeofday", "gettid", "getpid", "getppid", "getrandom", "getrusage",
        "sysinfo",
        "uname", "time", "getcpu", "exit", "exit_group", "restart_syscall",
    ]

    /// Operations on open descriptors; glibc's `fstat` is `newfstatat`.
    static let onDescriptors = [
        "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "lseek", "fstat", "newfstatat",
        "ftruncate", "fsync", "fdatasync", "close", "recvmsg", "poll", "ppoll",
    ]

    static let opening = ["open", "openat"]

    /// Queries about paths.
    static let askingPaths = [
        "stat", "lstat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getcwd", "statfs",
    ]

    /// Finding, creating, renaming and removing files.
    static let onFiles = [
        "getdents64", "linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir",
        "flock",
        "fallocate", "fstatfs", "utimensat", "sync_file_range",
    ]

    /// Connections, including those of the resolver.
    static let onSockets = [
        "connect", "bind", "getsockname", "getpeername", "setsockopt", "getsockopt", "recvfrom", "recvmmsg", "shutdown",
        "pipe2", "eventfd2", "select", "pselect6", "epoll_create1",
        "epoll_ctl", "epoll_wait", "epoll_pwait",
    ]

    /// The user and group of the process.
    static let onIdentity = ["getuid", "geteuid", "getgid", "getegid"]
}
