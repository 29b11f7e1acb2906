"""Runs the program of its arguments, and prints its seconds and the MB of the largest of its processes.

A program that is started counts the memory of who starts it as its own peak, so this process is a small one.
"""

import os
import resource
import sys
import time

begin = time.monotonic()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
sys.exit(status)
