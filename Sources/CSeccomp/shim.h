#ifndef CSECCOMP_SHIM_H
#define CSECCOMP_SHIM_H
// libseccomp's actions are macros with casts, and one of them takes an argument: Swift sees neither.
#include <seccomp.h>

/// Ends the whole process (SCMP_ACT_KILL_PROCESS).
static inline uint32_t seccomp_swift_kill(void) { return SCMP_ACT_KILL_PROCESS; }

/// Lets the call pass (SCMP_ACT_ALLOW).
static inline uint32_t seccomp_swift_allow(void) { return SCMP_ACT_ALLOW; }

/// Answers an errno instead of carrying the call out (SCMP_ACT_ERRNO).
static inline uint32_t seccomp_swift_refuse(int error) { return SCMP_ACT_ERRNO(error); }
#endif
