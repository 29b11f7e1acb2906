"""Outages of Redis and of the connection to it, one after another."""

import os
import pathlib
import shutil

from service import PREFIX, until


def shaky(fleet):
    """Loses every tenth reply of the connections, then delays replies; returns how often connections were cut."""
    proxies = [worker.proxy for worker in fleet.steady]
    before, cuts = fleet.done(), [proxy.cuts for proxy in proxies]
    for proxy in proxies:
        proxy.every = 10
    until("jobs are done over connections that lose every tenth reply", 20, lambda: fleet.done() > before + 10
          and all(proxy.cuts > count + 2 for proxy, count in zip(proxies, cuts)))
    for proxy in proxies:
        proxy.every = None
        proxy.lateness = 0.3
    cut = sum(proxy.cuts for proxy in proxies)
    middle = fleet.done()
    until("jobs are done over connections that answer late", 20, lambda: fleet.done() > middle + 3)
    for proxy in proxies:
        proxy.lateness = 0
    return cut


def memory_full(fleet):
    """Redis has no memory left: producers get an OOM error, and workers continue."""
    refused = fleet.producer.refused
    before = refused["OOM"]
    fleet.server("CONFIG", "SET", "maxmemory", "1mb")
    until("a producer is told OOM", 10, lambda: refused["OOM"] > before)
    until("the workers empty the queue", 20, lambda: fleet.server("SCARD", PREFIX + "live") == 0)
    fleet.server("CONFIG", "SET", "maxmemory", "0")


def refuse_saving(redis):
    pathlib.Path(f"{redis.folder}/dump.rdb").unlink(missing_ok=True)
    os.makedirs(f"{redis.folder}/dump.rdb/in-the-way")
    redis("CONFIG", "SET", "save", "3600 1")
    redis("BGSAVE")
    until("saving fails", 10, lambda: "rdb_last_bgsave_status:err" in redis("INFO", "persistence"))


def allow_saving(redis):
    shutil.rmtree(f"{redis.folder}/dump.rdb")
    redis("CONFIG", "SET", "save", "")


def reload(redis):
    """Makes Redis reload all its data slowly."""
    keys = redis("DBSIZE")
    redis("CONFIG", "SET", "key-load-delay", 2_500_000 // keys, "loading-process-events-interval-bytes", 1024)
    redis("DEBUG", "RELOAD")
    redis("CONFIG", "SET", "key-load-delay", 0)


def crash(fleet):
    fleet.outage("Redis killed, appendfsync always", fleet.server.kill, fleet.server.start, 1.5)


def all_of_one_server(fleet):
    redis = fleet.server
    fleet.outage("CLIENT KILL", lambda: redis("CLIENT", "KILL", "TYPE", "normal"), lambda: None, 0)
    fleet.outage("CLIENT PAUSE", lambda: redis("CLIENT", "PAUSE", 4000), lambda: None, 4)
    fleet.outage("a connection that stalls", lambda: fleet.flow(False), lambda: fleet.flow(True), 4)
    fleet.outage("READONLY", lambda: redis("REPLICAOF", "127.0.0.1", 1), lambda: redis("REPLICAOF", "NO", "ONE"), 1)
    fleet.outage("MISCONF", lambda: refuse_saving(redis), lambda: allow_saving(redis), 1)
    fleet.outage("LOADING", lambda: reload(redis), lambda: None, 0)
    crash(fleet)


def promotion(fleet, other):
    """Promotes the replica while jobs run, and moves the address to it."""
    until("the replica follows", 20, lambda: "state=online" in fleet.server("INFO", "replication"))

    def begin():
        fleet.server("FAILOVER")
        until("the replica is the master", 10, lambda: other("ROLE")[0] == "master", 0.01)

    def end():
        fleet.server = fleet.service.redis = other
        fleet.service.environment["RESPOOL_REDIS_URL"] = other.url
        fleet.producer.path = other.path
        for worker in fleet.steady:
            worker.proxy.upstream = other.path

    fleet.outage("a replica promoted", begin, end, 0.5)


def power_cut(fleet):
    """Kills Redis with appendfsync everysec, and truncates the last second of its file; returns the lost jobs."""
    file = max(pathlib.Path(fleet.server.folder).glob("appendonlydir/*.incr.aof"))
    kept, pushed = file.stat().st_size, len(fleet.producer.acknowledged)
    until("there is something to lose", 20, lambda: len(fleet.producer.acknowledged) > pushed + 5 and file.stat().st_size > kept)
    forgotten, undone = set(), set()

    def begin():
        fleet.server.kill()
        fleet.flow(False)
        os.truncate(file, kept)

    def end():
        seen = set(fleet.results.counts)
        pushed = list(fleet.producer.acknowledged)
        fleet.server.start()
        for id, state in zip(pushed, fleet.server.many([("HGET", PREFIX + "job:" + id, "state") for id in pushed])):
            if state is None and not fleet.server("XRANGE", PREFIX + "in", id, id):
                forgotten.add(id)
            elif state != "completed" and f"{id}.wav" in seen:
                undone.add(id)
        fleet.flow(True)

    fleet.outage("Redis killed, appendfsync everysec", begin, end, 1)
    return forgotten, undone
