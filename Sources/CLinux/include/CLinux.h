#ifndef CLINUX_H
#define CLINUX_H
// Calls that Swift cannot make itself: GNU extensions, control messages (macros), prctl and Landlock (variadic).
// Their GNU headers stay in the .c files: _GNU_SOURCE in an imported header breaks the Glibc module.
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Starts a program (a path, or a name found through PATH) in a process group of its own, with an empty signal mask, default
/// signal actions, a copy of each descriptor under its index (-1: /dev/null) and nothing else open. At least 3 descriptors, at
/// most 16. Answers 0 or an errno. (posix_spawnp, posix_spawn_file_actions_addclosefrom_np)
int clinux_spawn(
    pid_t *pid, const char *program, char *const arguments[], char *const environment[], const int *descriptors, int count);

/// Asks the kernel to send SIGKILL when the thread that spawned this process ends (PR_SET_PDEATHSIG).
int clinux_die_with_parent(void);

/// Gives up gaining privileges by exec, for good (PR_SET_NO_NEW_PRIVS).
int clinux_no_new_privileges(void);

/// Gives up all capabilities of this thread, and of those that it starts, but those of the mask, for good. Answers 0 or -1: ENOSYS
/// and EPERM if a container refuses to say which there are, or to give them up. (PR_CAPBSET_DROP, capget, capset)
int clinux_keep_capabilities(uint64_t kept);

/// What of TCP a set of rules is about: nothing is possible, everything is, or connections to ports that are allowed one by one.
enum clinux_network { CLINUX_NETWORK_NONE, CLINUX_NETWORK_ALL, CLINUX_NETWORK_PORTS };

/// Begins a set of rules that allows no file, no signal to another process, and of TCP what `network` (enum clinux_network) says,
/// where the kernel knows such rules. Answers its descriptor or -1: ENOSYS and EOPNOTSUPP if it has no Landlock.
/// (landlock_create_ruleset)
int clinux_landlock_begin(int network);

/// Allows reading what is at the path, or below it, and changing it as well. Answers 0 or -1. (landlock_add_rule)
int clinux_landlock_allow(int rules, const char *path, int may_write);

/// Allows connections to all ports but these: there are no rules that forbid. Answers 0 or -1. (landlock_add_rule)
int clinux_landlock_allow_other_ports(int rules, const uint16_t *closed, size_t count);

/// Puts the rules in force for this thread and those that it starts, for good. Answers 0 or -1. (landlock_restrict_self)
int clinux_landlock_enforce(int rules);

/// Gives freed memory back to the kernel (malloc_trim).
void clinux_return_free_memory(void);

/// Sends one packet, with a descriptor beside it unless `descriptor` is -1 (SCM_RIGHTS). Unless it waits, a full buffer of the
/// peer is an error (EAGAIN). Answers the length or -1.
ssize_t clinux_send(int socket, const void *bytes, size_t length, int descriptor, int waits);

/// Receives one packet; `*descriptor` becomes the one that came with it, or -1. Answers the length, 0 at the end, or -1;
/// a packet longer than `capacity` answers -1 with EMSGSIZE.
ssize_t clinux_receive(int socket, void *bytes, size_t capacity, int *descriptor);

/// Opens a file without a name in the folder (O_TMPFILE, read and write). Answers the descriptor or -1.
int clinux_open_unnamed(const char *folder, mode_t mode);

/// Sets both values of a resource limit, never above what is allowed now. `resource` is an RLIMIT_* value.
int clinux_limit(int resource, uint64_t value);

/// Opens what is at the path without reading it or waking a device (O_PATH). Answers the descriptor or -1.
int clinux_locate(const char *path);

/// Opens once more what a descriptor refers to (open of /proc/self/fd). Answers the descriptor or -1.
int clinux_reopen(int descriptor, int flags);

/// The real path of what a descriptor refers to (readlink of /proc/self/fd). Answers the length or -1.
ssize_t clinux_path_of(int descriptor, char *path, size_t capacity);

/// Opens a file without a name in an open folder (O_TMPFILE, read and write). Answers the descriptor or -1.
int clinux_open_unnamed_in(int folder, mode_t mode);

/// Gives an unnamed file a name in an open folder. Answers 0 or -1.
int clinux_link_unnamed_in(int descriptor, int folder, const char *name);

/// Gives a file another name, in another open folder or the same, if nothing has that name (RENAME_NOREPLACE). Answers 0 or -1.
int clinux_rename_unless_there(int folder, const char *name, int other_folder, const char *other_name);

/// Takes the exclusive lock of an open file, or fails at once if another has it (flock). Answers 0 or -1.
int clinux_lock(int descriptor);

/// Whether somebody has the file open for writing, or mapped so: 1, or 0 if nobody, or -1 if that cannot be told. This process owns the
/// file, and has a descriptor that only reads. (F_SETLEASE)
int clinux_has_writer(int descriptor);

/// Takes a byte of an open file for this opening of it alone, or fails at once if another has it; the byte need not be there.
/// The lock ends with the opening, however that comes about. Answers 0 or -1. (F_OFD_SETLK)
int clinux_lock_byte(int descriptor, int64_t offset);

/// Takes a lock that others can share, once nobody has it alone (flock). Answers 0 or -1.
int clinux_share_lock(int descriptor);

/// Gives the space of some bytes of a file back, which read as zeros then (FALLOC_FL_PUNCH_HOLE). Answers 0 or -1.
int clinux_punch_hole(int descriptor, int64_t offset, int64_t length);

/// An option of a command: its long name, its letter or 0, and the number under which it is reported.
struct clinux_option {
    const char *name;
    char letter;
    int takes_value;
    int index;
};

/// An option as it was found among the words; the value lies within the words.
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

/// What became of the words. `operands` is the place of the first operand after sorting; for an outcome that is an error,
/// `letter` is the letter at fault, or 0 and `word` is the place of the word, and `index` tells its option (or -1).
struct clinux_options {
    int outcome;
    int found;
    int operands;
    int word;
    int letter;
    int index;
};

/// Reads the options among the words, the first of which is the command's name, and sorts the operands behind them unless
/// it shall stop at the first one. `found` has room for one element a byte of the words. (getopt_long)
struct clinux_options clinux_parse_options(
    int count, char *words[], int stop_at_operand, const struct clinux_option *options, size_t option_count,
    struct clinux_found found[]);

/// Columns and rows of the terminal at the descriptor. Answers 0 or -1. (TIOCGWINSZ)
int clinux_terminal_size(int descriptor, int *columns, int *rows);

/// Columns that a character takes in the locale in force, or -1 for one that it does not know. (wcwidth)
int clinux_columns(uint32_t character);
#endif
