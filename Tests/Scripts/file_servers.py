"""Servers of files: FTP, FTP that is old and mistaken about its address, FTPS, FTPS with data in the clear, and SFTP.

file_servers.py CERTIFICATE KEY forks for each line `FOLDER LOG` of its standard input. A fork serves the folder and writes what is
read of it to the log, beside which it puts the key of the SFTP server (`known-hosts`) and one that it takes (`own-key`). It prints
the folder and its ports, and ends when the folder is gone; all of them end with the standard input.
"""

import os, select, signal, socket, sys, threading

import paramiko
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import DTPHandler, FTPHandler, TLS_DTPHandler, TLS_FTPHandler
from pyftpdlib.servers import FTPServer

certificate, key = sys.argv[1:]
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
# Only this process has the writing end.
life, held = os.pipe()
for line in sys.stdin:
    root, log = line.split()
    if os.fork() == 0: break
else: sys.exit()
os.close(held)
lock = threading.Lock()
seen = set()

def note(text):
    with lock, open(log, "a") as file: file.write(text + "\n")

def is_first(name):
    with lock:
        if name in seen: return False
        seen.add(name)
        return True

def is_cut(path):
    # Of a file whose name begins so the first transfer ends early.
    name = os.path.basename(path)
    return name.startswith("cut") and is_first(name)

users = DummyAuthorizer()
users.add_user("me", "secret", root, perm="elradfmwMT")
users.add_anonymous(root)

class Data(DTPHandler):
    def enable_receiving(self, kind, command):
        super().enable_receiving(kind, command)
        # Nothing is read of what comes to this folder.
        if getattr(self.cmd_channel, "held", False):
            self.ioloop.unregister(self._fileno)
            note("held " + command)
    def close(self):
        # What the server says when all of a file has come.
        if self._resp and getattr(self.cmd_channel, "after", None): self._resp = (self.cmd_channel.after + " Not so.", self._resp[1])
        super().close()
    def send(self, data):
        left = getattr(self.cmd_channel, "left", None)
        if left is not None:
            if left <= 0:
                self.cmd_channel.left = None
                self.close()
                return 0
            self.cmd_channel.left -= len(data)
        return super().send(data)
    def recv(self, size):
        fault = getattr(self.cmd_channel, "fault", None)
        if fault is None or self.tot_bytes_received < 100000: return super().recv(size)
        # As when a reset comes; when what is between closes it; when the whole server goes.
        if fault == "reset": raise ConnectionResetError
        self.handle_close() if fault == "closed" else self.cmd_channel.close()
        return b""

class Plain(FTPHandler):
    name = "ftp"
    authorizer = users
    dtp_handler = Data
    use_sendfile = False
    def ftp_USER(self, name): return self.respond("430 Later.") if name == "early" else super().ftp_USER(name)
    def ftp_RETR(self, path):
        note("%s %s %d" % (self.name, os.path.basename(path), self._restart_position))
        self.left = 300000 if is_cut(path) else None
        return super().ftp_RETR(path)
    def ftp_MKD(self, path):
        if os.path.basename(path) == "raced": os.mkdir(path)
        return super().ftp_MKD(path)
    def ftp_STOR(self, path, mode="w"):
        # The first time that something comes to the folder, its name says what happens.
        folder = os.path.basename(os.path.dirname(path))
        kind, _, what = folder.partition("-")
        self.fault = what if kind == "lost" and is_first(folder) else None
        self.after = what if kind == "after" and is_first(folder) else None
        self.held = kind == "held"
        if kind == "reply" and is_first(folder): return self.respond(what + " Not so.")
        return super().ftp_STOR(path, mode)
    def ftp_RNTO(self, path):
        folder = os.path.basename(os.path.dirname(path))
        kind, _, what = folder.partition("-")
        if kind == "named" and is_first(folder): return self.respond(what + " Not so.")
        return super().ftp_RNTO(path)
    def ftp_SIZE(self, path):
        folder = os.path.basename(os.path.dirname(path))
        sizes = {"size-none": "502 What?", "size-unknown": "213 -1", "size-blank": "213 1 "}
        if folder in sizes and is_first(folder): return self.respond(sizes[folder])
        return super().ftp_SIZE(path)
class Old(Plain):
    # Knows PASV alone, and names another address for the bytes.
    name = "old"
    masquerade_address = "127.0.0.2"
    proto_cmds = {name: what for name, what in FTPHandler.proto_cmds.items() if name != "EPSV"}
class SecureData(TLS_DTPHandler):
    # libcurl's greeting of TLS may come before the command that it is for, and would count as the end.
    def readable(self): return self._ssl_accepting or super().readable()
class Secure(TLS_FTPHandler):
    # TLS from the first byte on.
    authorizer = users
    dtp_handler = SecureData
    certfile, keyfile = certificate, key
    tls_data_required = True
    def handle(self): self.secure_connection(self.ssl_context)
    def handle_ssl_established(self): super().handle()
class Half(Secure):
    tls_data_required = False
    proto_cmds = {name: what for name, what in TLS_FTPHandler.proto_cmds.items() if name != "PROT"}

def place(path):
    # What does not begin at the root begins in the user's own folder.
    return os.path.join(root, path.lstrip("/") if path.startswith("/") else "home/" + path)

class Files(paramiko.SFTPServerInterface):
    def canonicalize(self, path): return path if path.startswith("/") else os.path.normpath("/home/" + path)
    def stat(self, path): return self.lstat(path)
    def lstat(self, path):
        try: return paramiko.SFTPAttributes.from_stat(os.stat(place(path)))
        except OSError as error: return paramiko.SFTPServer.convert_errno(error.errno)
    def remove(self, path): return self.change(os.remove, path)
    def mkdir(self, path, attributes): return self.change(os.mkdir, path)
    def rename(self, old, new):
        # As OpenSSH does it.
        if os.path.exists(place(new)): return paramiko.SFTP_FAILURE
        return self.change(os.rename, old, new)
    def change(self, what, *paths):
        try: what(*map(place, paths))
        except OSError as error: return paramiko.SFTPServer.convert_errno(error.errno)
        return paramiko.SFTP_OK
    def open(self, path, flags, attributes):
        if flags & os.O_WRONLY:
            handle = paramiko.SFTPHandle(flags)
            try: handle.writefile = os.fdopen(os.open(place(path), flags, 0o644), "wb")
            except OSError as error: return paramiko.SFTPServer.convert_errno(error.errno)
            return handle
        if not os.path.exists(place(path)): return paramiko.SFTP_NO_SUCH_FILE
        handle = Handle(flags)
        handle.readfile = open(place(path), "rb")
        handle.left = 300000 if is_cut(path) else None
        handle.first = True
        handle.path = path
        return handle
class Handle(paramiko.SFTPHandle):
    def read(self, offset, length):
        if self.first: note("sftp %s %d" % (os.path.basename(self.path), offset))
        self.first = False
        if self.left is not None:
            self.left -= length
            if self.left < 0: transports[-1].close()
        return super().read(offset, length)
class Door(paramiko.ServerInterface):
    def check_auth_password(self, user, password):
        note("sftp login %s" % user)
        return paramiko.AUTH_SUCCESSFUL if (user, password) == ("me", "secret") else paramiko.AUTH_FAILED
    def check_auth_publickey(self, user, key):
        return paramiko.AUTH_SUCCESSFUL if user == "me" and key.get_base64() == own.get_base64() else paramiko.AUTH_FAILED
    def get_allowed_auths(self, user): return "password,publickey"
    def check_channel_request(self, kind, number): return paramiko.OPEN_SUCCEEDED

transports = []
host = paramiko.ECDSAKey.generate()
own = paramiko.ECDSAKey.generate()
own.write_private_key_file(os.path.join(os.path.dirname(log), "own-key"))
def serve_sftp(listener):
    while True:
        connection, _ = listener.accept()
        transport = paramiko.Transport(connection)
        transports.append(transport)
        transport.add_server_key(host)
        transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
        try: transport.start_server(server=Door())
        except (paramiko.SSHException, EOFError): pass

# All of them share one loop.
servers = [FTPServer(("127.0.0.1", 0), handler) for handler in (Plain, Old, Secure, Half)]
ports = [server.socket.getsockname()[1] for server in servers]
threading.Thread(target=servers[0].serve_forever, daemon=True).start()
listener = socket.create_server(("127.0.0.1", 0))
ports.append(listener.getsockname()[1])
threading.Thread(target=serve_sftp, args=(listener,), daemon=True).start()
open(os.path.join(os.path.dirname(log), "known-hosts"), "w").write("[127.0.0.1]:%d %s %s\n" % (ports[-1], host.get_name(), host.get_base64()))
os.write(1, (" ".join(map(str, [root, *ports])) + "\n").encode())
while os.path.exists(root) and not select.select([life], [], [], 1)[0]: pass
os._exit(0)
