#ifndef ATTACKS_H
#define ATTACKS_H
// What code that has taken over a child of a slot would try, by raw system calls where a library would get in the way.

/// Tries the attack of that name on a file, or a folder, that the child was not given. Answers 0 if it succeeded, -1 with errno
/// if it was refused, -2 if there is no such attack.
int attack(const char *name, const char *target);

/// The version of Landlock that the kernel has; 0 or less without it.
int landlock_version(void);
#endif
