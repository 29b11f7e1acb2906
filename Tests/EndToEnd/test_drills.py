"""The drills of docs/how-to/sentinel-cluster.md: the master changes while jobs run, once on demand and once because it is killed."""

import pathlib
import time

import pytest
from sound import sha256
from redisserver import PROGRAM, Redis
from processes import free_port
from service import PREFIX, Process, check, equal, run, until

COUNT = 30


class Command:
    """Commands by redis-cli to a port on loopback: `Command(port)("PING")`."""

    def __init__(self, port):
        self.port = port

    def __call__(self, *words):
        return run("redis-cli", "-p", self.port, *words, statuses=range(256)).decode().strip()


class Sentinels:
    """A master, a replica and three sentinels."""

    def __init__(self, folder):
        self.servers = [server(folder, number, free_port()) for number in range(2)]
        self.commands = [Command(one.port) for one in self.servers]
        self.servers[1]("REPLICAOF", "127.0.0.1", self.servers[0].port)
        self.sentinels = [Command(free_port()) for _ in range(3)]
        for number, sentinel in enumerate(self.sentinels):
            path = pathlib.Path(folder, f"sentinel.{number}.conf")
            path.write_text(
                f"port {sentinel.port}\nbind 127.0.0.1\ndir {folder}\nsentinel monitor mymaster 127.0.0.1 {self.servers[0].port} 2\n"
                "sentinel down-after-milliseconds mymaster 2000\nsentinel failover-timeout mymaster 10000\n")
            Process([PROGRAM, path, "--sentinel"], f"{folder}/sentinel.{number}.log")
        until("the sentinels know all", 60, lambda: all(
            "OK 3 " in sentinel("SENTINEL", "CKQUORUM", "mymaster") and "127.0.0.1" in sentinel("SENTINEL", "REPLICAS", "mymaster")
            for sentinel in self.sentinels))
        until("the replica follows", 20, lambda: "master_link_status:up" in self.commands[1]("INFO", "replication"))
        self.url = f"redis+sentinel://{','.join(f'127.0.0.1:{one.port}' for one in self.sentinels)}/mymaster"

    def master(self):
        port = self.sentinels[0]("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster").split()[-1]
        return next(number for number, one in enumerate(self.servers) if str(one.port) == port)

    def switch(self):
        self.sentinels[0]("SENTINEL", "FAILOVER", "mymaster")


class Cluster:
    """A cluster of three masters; the one that has the queue has a replica."""

    def __init__(self, folder):
        self.servers = [server(folder, number, free_port(), "--cluster-enabled", "yes", "--cluster-port", free_port(),
                               "--cluster-node-timeout", "3000") for number in range(4)]
        self.commands = [Command(one.port) for one in self.servers]
        run("redis-cli", "--cluster", "create", *(f"127.0.0.1:{one.port}" for one in self.servers[:3]), "--cluster-yes")
        slot = int(self.commands[0]("CLUSTER", "KEYSLOT", PREFIX + "in"))
        owner = slot * 3 // 16384
        self.servers[:3] = [self.servers[owner], *(one for one in self.servers[:3] if one is not self.servers[owner])]
        self.commands = [Command(one.port) for one in self.servers]
        until("all nodes agree", 30, lambda: all("cluster_state:ok" in one("CLUSTER", "INFO") for one in self.commands[:3]))
        run("redis-cli", "--cluster", "add-node", f"127.0.0.1:{self.servers[3].port}", f"127.0.0.1:{self.servers[0].port}", "--cluster-slave",
            "--cluster-master-id", self.commands[0]("CLUSTER", "MYID"))
        self.servers[1:] = [self.servers[3], *self.servers[1:3]]
        self.commands = [Command(one.port) for one in self.servers]
        until("the replica follows", 60, lambda: "master_link_status:up" in self.commands[1]("INFO", "replication"))
        until("all nodes know the replica", 60, lambda: all(
            one("CLUSTER", "NODES").count("slave") == 1 for one in self.commands))
        self.url = f"redis+cluster://{','.join(f'127.0.0.1:{one.port}' for one in self.servers)}"

    def master(self):
        return next((number for number in range(2) if self.servers[number].process.is_running
                     and "role:master" in self.commands[number]("INFO", "replication")), None)

    def switch(self):
        self.commands[1]("CLUSTER", "FAILOVER")


def server(folder, number, port, *options):
    place = pathlib.Path(folder, f"node.{number}")
    place.mkdir()
    return Redis(str(place), "--appendonly", "yes", "--repl-diskless-sync-delay", "0", *options, port=port)


@pytest.mark.long
@pytest.mark.parametrize("kind", [Sentinels, Cluster], ids=["sentinel", "cluster"])
def test_every_job_ends_once_while_the_master_changes(service, audio, figures, kind):
    audio("a.flac", 20)
    group = kind(service.folder)
    service.environment["RESPOOL_REDIS_URL"] = group.url
    worker = service.worker(slots=2)
    seconds = {}

    def done():
        return int(group.commands[group.master()]("ZCARD", PREFIX + "done") or 0)

    def push(count):
        if not count:
            return []
        lines = [f"file://{service.sources}/a.flac"] * count
        return service.respool("enqueue", *lines, "--format", "mp3").decode().split()

    ids = push(COUNT)
    for name, change in (("switched", group.switch), ("killed", lambda: group.servers[group.master()].kill())):
        until("jobs complete", 60, lambda: done() >= len(ids) - COUNT + 5, 0.02)
        check(done() < len(ids) - 2, "the master was to change in the middle of the jobs")
        old = group.master()
        begin = time.monotonic()
        change()
        until(f"the other server is the master after it was {name}", 60, lambda: group.master() == 1 - old, 0.02)
        before = done()
        # The next master has jobs to complete, however late this is.
        ids += push(max(0, before + 6 - len(ids)))
        until("jobs complete with the next master", 60, lambda: done() > before, 0.02)
        seconds[name] = time.monotonic() - begin
        if name == "switched":
            # The old master becomes the replica, to which the next change goes.
            until("the old master follows", 60, lambda: "master_link_status:up" in group.commands[old]("INFO", "replication"))
            ids += push(COUNT)
    records = service.completed(ids, 120)
    for id in ids:
        equal(sha256(f"{service.outputs}/{id}.mp3"), records[id]["outputs"][0]["sha256"], f"sum of {id}")
    check(worker.is_running, "the worker ended")
    equal(service.staged(), [], "staged files")
    # A claim or an outcome that the next master did not get any more is an attempt that crashed.
    crashes = sum(record["crashes"] for record in records.values())
    check(crashes < 10, f"{crashes} crashes charged")
    figures(f"{len(ids)} jobs, {crashes} crashes charged; jobs completed again {seconds['switched']:.1f} s after the master was switched, "
            f"{seconds['killed']:.1f} s after it was killed")
