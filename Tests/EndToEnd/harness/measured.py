"""Runs the program in its arguments, and prints the seconds of CPU time of its processes and the peak memory in MB of the largest.

A new process inherits the memory peak of its parent, so this process must be small.
"""

import os
import resource
import sys

child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
sys.exit(status)
