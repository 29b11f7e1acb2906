#ifndef CLINUX_H
#define CLINUX_H
// Calls that Swift cannot make: GNU extensions, control messages (macros), prctl and Landlock (variadic). Their GNU
// headers stay in the .c files: _GNU_SOURCE in an imported header breaks the Glibc module.
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Starts a program (a path, or a name found through PATH) in a new process group, with an empty signal mask, default
/// signal actions, a copy of each descriptor under its index (-1: /dev/null) and no other descriptors. 3 to 16
/// descriptors. Returns 0 or an errno. (posix_spawnp, posix_spawn_file_actions_addclosefrom_np)
int clinux_spawn(
    pid_t *pid, const char *program, char *const arguments[], char *const environment[], const int *descriptors, int count);

/// Makes the kernel send SIGKILL when the thread that spawned this process ends (PR_SET_PDEATHSIG).
int clinux_die_with_parent(void);

/// Permanently gives up gaining privileges by exec (PR_SET_NO_NEW_PRIVS).
int clinux_no_new_privileges(void);

/// Permanently drops all capabilities except those of the mask, for this thread and threads that it starts. Returns 0
/// or -1: ENOSYS and EPERM if a container prevents reading or dropping them. (PR_CAPBSET_DROP, capget, capset)
int clinux_keep_capabilities(uint64_t kept);

/// Which TCP operations a set of rules permits: none, all, or connections to the ports that are allowed one by one.
enum clinux_network { CLINUX_NETWORK_NONE, CLINUX_NETWORK_ALL, CLINUX_NETWORK_PORTS };

/// Creates a set of rules that allows no files, no signals to other processes, and the TCP operations of `network`
/// (enum clinux_network), as far as the kernel supports such rules. Returns its descriptor or -1: ENOSYS and EOPNOTSUPP
/// if the kernel has no Landlock. (landlock_create_ruleset)
int clinux_landlock_begin(int network);

/// Allows reading the file at the path or everything below it, and with `may_write` changing it too. Returns 0 or -1.
/// (landlock_add_rule)
int clinux_landlock_allow(int rules, const char *path, int may_write);

/// Allows connections to all ports except these, because Landlock has no rules that forbid. Returns 0 or -1.
/// (landlock_add_rule)
int clinux_landlock_allow_other_ports(int rules, const uint16_t *closed, size_t count);

/// Permanently enforces the rules for this thread and those that it starts. Returns 0 or -1. (landlock_restrict_self)
int clinux_landlock_enforce(int rules);

/// Makes all threads allocate from one heap (mallopt, M_ARENA_MAX). Call it before the first thread starts.
void clinux_use_one_heap(void);

/// Returns freed memory to the kernel (malloc_trim).
void clinux_return_free_memory(void);

/// Sends one packet, with a descriptor unless `descriptor` is -1 (SCM_RIGHTS). If `waits` is 0 and the peer's buffer is
/// full, fails with EAGAIN. Returns the length or -1.
ssize_t clinux_send(int socket, const void *bytes, size_t length, int descriptor, int waits);

/// Receives one packet; `*descriptor` is set to the received descriptor, or -1. Returns the length, 0 at the end, or
/// -1. If the packet is longer than `capacity`, returns -1 with EMSGSIZE.
ssize_t clinux_receive(int socket, void *bytes, size_t capacity, int *descriptor);

/// Opens an unnamed file in the folder (O_TMPFILE, read and write). Returns the descriptor or -1.
int clinux_open_unnamed(const char *folder, mode_t mode);

/// Sets both values of a resource limit, at most to the current hard limit. `resource` is an RLIMIT_* value.
int clinux_limit(int resource, uint64_t value);

/// Opens the file at the path without reading it or accessing a device (O_PATH). Returns the descriptor or -1.
int clinux_locate(const char *path);

/// Opens the file of a descriptor again (open of /proc/self/fd). Returns the descriptor or -1.
int clinux_reopen(int descriptor, int flags);

/// Reads the real path of a descriptor's file (readlink of /proc/self/fd). Returns the length or -1.
ssize_t clinux_path_of(int descriptor, char *path, size_t capacity);

/// Opens an unnamed file in an open folder (O_TMPFILE, read and write). Returns the descriptor or -1.
int clinux_open_unnamed_in(int folder, mode_t mode);

/// Links an unnamed file into an open folder. Returns 0 or -1.
int clinux_link_unnamed_in(int descriptor, int folder, const char *name);

/// Renames a file, within a folder or to another one, if the new name does not exist (RENAME_NOREPLACE). Returns 0 or
/// -1.
int clinux_rename_unless_there(int folder, const char *name, int other_folder, const char *other_name);

/// Exchanges the names of two files (RENAME_EXCHANGE). Returns 0 or -1.
int clinux_exchange(int folder, const char *name, int other_folder, const char *other_name);

/// Takes the exclusive lock of an open file without waiting (flock). Returns 0, or -1 if it is already locked.
int clinux_lock(int descriptor);

/// Whether a process has the file open or mapped for writing: 1 or 0, or -1 if it cannot be determined. This process
/// must own the file, and have only a read-only descriptor of it. (F_SETLEASE)
int clinux_has_writer(int descriptor);

/// Locks one byte of an open file, without waiting; the byte need not exist. The lock belongs to this open file
/// description, and ends when that is closed. Returns 0, or -1 if it is already locked. (F_OFD_SETLK)
int clinux_lock_byte(int descriptor, int64_t offset);

/// Takes a shared lock of an open file, waiting at most about 20 ms for an exclusive one to end (flock). Returns 0 or
/// -1.
int clinux_share_lock(int descriptor);

/// Deallocates a range of a file, which then reads as zeros (FALLOC_FL_PUNCH_HOLE). Returns 0 or -1.
int clinux_punch_hole(int descriptor, int64_t offset, int64_t length);

/// Starts to write a range of a file to the disk, without waiting for the end (SYNC_FILE_RANGE_WRITE). Returns 0 or -1.
int clinux_start_writing(int descriptor, int64_t offset, int64_t length);

/// An option of a command: its long name, its letter or 0, and the number by which it is reported.
struct clinux_option {
    const char *name;
    char letter;
    int takes_value;
    int index;
};

/// An option that was found among the words; the value points into them.
struct clinux_found {
    int index;
    const char *value;
};

enum clinux_options_outcome {
    CLINUX_OPTIONS_PARSED,
    CLINUX_OPTION_UNKNOWN,
    CLINUX_OPTION_WITHOUT_VALUE,
    CLINUX_OPTION_WITH_VALUE,
    CLINUX_OPTIONS_NO_MEMORY,
};

/// The result of parsing the words. `operands` is the position of the first operand after sorting. If the outcome is an
/// error, `letter` is the invalid letter, or 0 and `word` is the position of the word; `index` is its option, or -1.
struct clinux_options {
    int outcome;
    int found;
    int operands;
    int word;
    int letter;
    int index;
};

/// Parses the options among the words, of which the first is the command's name. Moves operands to the end, or stops at
/// the first one if `stop_at_operand` is set. `found` needs room for one element per byte of the words. (getopt_long)
struct clinux_options clinux_parse_options(
    int count, char *words[], int stop_at_operand, const struct clinux_option *options, size_t option_count,
    struct clinux_found found[]);

/// Reads the columns and rows of the terminal at the descriptor. Returns 0 or -1. (TIOCGWINSZ)
int clinux_terminal_size(int descriptor, int *columns, int *rows);

/// The columns that a character takes in the current locale, or -1 if it is not printable. (wcwidth)
int clinux_columns(uint32_t character);

/// Reads an extended attribute, in a call that the Glibc module leaves out; returns its size or -1. (getxattr)
ssize_t clinux_get_attribute(const char *path, const char *name, void *value, size_t size);

#endif
