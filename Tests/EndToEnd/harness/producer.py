"""A producer that pushes jobs during faults."""

import collections
import threading
import time

from service import PREFIX, Connection


class Producer:
    """Pushes a job every tenth of a second while fewer than 20 wait, and records those that Redis acknowledged."""

    def __init__(self, path, job):
        self.job = job
        self.path = path
        self.acknowledged = []
        self.refused = collections.Counter()
        self.goes_on = True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        connection = Connection(self.path)
        while self.goes_on:
            if connection.path != self.path:
                connection.drop()
                connection = Connection(self.path)
            try:
                if connection("XLEN", PREFIX + "in") + connection("SCARD", PREFIX + "live") < 20:
                    self.acknowledged.append(connection("XADD", PREFIX + "in", "*", *self.job))
            except OSError:
                connection.drop()
                self.refused["unreachable"] += 1
            except RuntimeError as error:
                self.refused[str(error).split()[0]] += 1
            time.sleep(0.1)

    def end(self):
        self.goes_on = False
        self.thread.join()
