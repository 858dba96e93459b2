"""A TCP proxy before a data node, for what happens to connections on the way."""
import socket
import struct
import threading

CHUNK = 64 << 10


class Proxy:
    """Forwards connections to `target`, HOST:PORT. Any number of threads may use it.

    cut(): every connection ends at once, by a reset on both sides, and returns how many; new ones are taken.
    freeze(): nothing is forwarded any more and nothing closed, as when a host vanishes; thaw() undoes it.
    """

    def __init__(self, target):
        self.target = target
        self._flowing = threading.Event()
        self._flowing.set()
        self._lock = threading.Lock()
        self._ends = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.thaw()
        self.cut()

    def cut(self):
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            reset(end)
        return len(ends) // 2

    def freeze(self):
        self._flowing.clear()

    def thaw(self):
        self._flowing.set()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._connect(client)

    def _connect(self, client):
        host, port = self.target.rsplit(":", 1)
        try:
            server = socket.create_connection((host, int(port)), timeout=30)
            server.settimeout(None)
        except OSError:
            reset(client)
            return
        with self._lock:
            self._ends |= {client, server}
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source, sink):
        try:
            while data := source.recv(CHUNK):
                self._flowing.wait()
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with self._lock:
                self._ends.discard(end)
            reset(end)


def reset(connection):
    """Closes it, so that the other side gets a reset; wakes whoever waits for it."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()
