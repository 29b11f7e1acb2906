"""TLS of `respool serve` and `up`, and 120 slow handshakes from three addresses, beside which `/healthz` answers in 100 ms, or as
without them.

Slow requests without TLS: WorkerTests/HTTPListenerTests.
"""

import pathlib
import socket
import ssl
import statistics
import subprocess
import time

import pytest
from api import Client, start_server
from processes import HANG, cpu_seconds, free_port
from service import Process, RESPOOL, check, equal, until

ADDRESSES = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
# What a slow client has sent of a ClientHello, before it goes on a byte at a time.
STARTS = (b"", b"\x16\x03\x01", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")


def slow_connections(port):
    links = []
    for number in range(120):
        link = socket.socket()
        link.bind((ADDRESSES[number % 3], 0))
        link.settimeout(5)
        try:
            link.connect(("127.0.0.1", port))
            link.sendall(STARTS[number // 3 % len(STARTS)])
        except OSError:
            pass
        links.append(link)
    return links


def drip(links):
    """Sends a byte on each connection that is left, and returns their number."""
    left = 0
    for link in links:
        try:
            link.send(b"a", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            left += 1
        except OSError:
            pass
    return left


def make_certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{folder}/server.key", "-out", f"{folder}/server.pem"],
        check=True, capture_output=True)
    return ["--tls-certificate", f"{folder}/server.pem", "--tls-key", f"{folder}/server.key"]


@pytest.mark.long
def test_slow_clients_of_three_addresses_do_not_keep_a_health_check_waiting(service, figures):
    port, words = free_port(), make_certificate(service.folder)
    context = ssl.create_default_context(cafile=words[1])
    server = start_server(service, port, f"{service.folder}/serve.log", *words, context=context)
    client = Client(port, context=context)

    def checks(links):
        """The median time of twenty health checks, the server's CPU time and all of the time, and the number of connections left."""
        times, left = [], 0
        begin, used = time.monotonic(), cpu_seconds(server.pid)
        for _ in range(20):
            left = drip(links)
            start = time.monotonic()
            equal(client.status("/healthz"), 200, "the health check")
            times.append(time.monotonic() - start)
            time.sleep(0.1)
        return statistics.median(times), cpu_seconds(server.pid) - used, time.monotonic() - begin, left

    usual, *_ = checks([])
    links = slow_connections(port)
    median, used, seconds, left = checks(links)
    # On a machine that is busy, a check takes longer without slow clients, too.
    check(median < max(0.1, 10 * usual), f"/healthz took {median * 1000:.0f} ms beside slow clients, and {usual * 1000:.1f} ms without them")
    # Connections that send nothing cost nothing.
    check(used < seconds / 4, f"serve used {used:.2f} s of CPU time in {seconds:.1f} s")
    for link in links:
        link.close()
    figures(f"median {median * 1000:.1f} ms, {usual * 1000:.1f} ms without slow clients, {left} slow connections were left, "
            f"{used:.2f} s of CPU time in {seconds:.1f} s")


@pytest.mark.long
def test_a_certificate_is_renewed_while_the_server_runs(service, figures):
    port, log = free_port(), pathlib.Path(service.folder) / "serve.log"
    words = make_certificate(service.folder)
    contexts = [ssl.create_default_context(cafile=words[1])]
    server = start_server(service, port, log, *words, context=contexts[0])
    equal(Client(port, context=contexts[0]).status("/healthz"), 200, "the first certificate")
    certificate, key = pathlib.Path(words[1]), pathlib.Path(words[3])
    good = certificate.read_bytes()
    certificate.write_text("no certificate")
    until("the problem is logged", 30, lambda: "has no certificate in PEM" in log.read_text())
    equal(Client(port, context=contexts[0]).status("/healthz"), 200, "the certificate from before")
    certificate.write_bytes(good)
    make_certificate(service.folder)
    contexts.append(ssl.create_default_context(cafile=words[1]))
    until("the renewal is logged", 30, lambda: "the certificate was renewed" in log.read_text())
    equal(Client(port, context=contexts[1]).status("/healthz"), 200, "the renewed certificate")
    try:
        Client(port, context=contexts[0]).status("/healthz")
        check(False, "the certificate from before is still presented")
    except ssl.SSLCertVerificationError:
        pass
    equal(log.read_text().count("has no certificate in PEM"), 1, "lines about the problem")
    server.popen.terminate()
    equal(server.wait(), 0, "the exit status of the server")
    key.chmod(0o644)
    refused = subprocess.run([RESPOOL, "serve", *words], env=service.environment, capture_output=True, text=True, timeout=HANG)
    check("RESPOOL_API_TLS_KEY: everybody can read the key" in refused.stderr, refused.stderr)
    half = subprocess.run([RESPOOL, "serve", *words[:2]], env=service.environment, capture_output=True, text=True, timeout=HANG)
    check("TLS needs RESPOOL_API_TLS_CERTIFICATE and RESPOOL_API_TLS_KEY" in half.stderr, half.stderr)
    figures(f"renewed, refused with {refused.returncode} and {half.returncode}")


@pytest.mark.long
def test_up_serves_tls_with_a_certificate(service, figures):
    port, log = free_port(), pathlib.Path(service.folder) / "up.log"
    words = make_certificate(service.folder)
    environment = {name: value for name, value in service.environment.items() if not name.startswith("RESPOOL_")}
    up = Process([RESPOOL, "up", "--listen", f"127.0.0.1:{port}", "--data", f"{service.folder}/data", *words], log, environment)
    until("everything is ready", 60, lambda: "Ctrl-C stops it" in log.read_text())
    check(f"respool is ready at https://127.0.0.1:{port}/" in log.read_text(), log.read_text())
    client = Client(port, context=ssl.create_default_context(cafile=words[1]))
    equal((client.status("/readyz"), client.status("/")), (200, 200), "readiness and the page")
    up.popen.terminate()
    equal(up.wait(), 0, "the exit status of respool up")
    figures("the page over TLS")
