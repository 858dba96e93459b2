"""A TCP proxy before a data node, for what happens to connections on the way."""
import socket
import struct
import threading

CHUNK = 64 << 10


class Proxy:
    """Forwards connections to `target`, HOST:PORT. Any number of threads may use it.

    cut(): every connection ends at once, by a reset on both sides, and returns how many; new ones are taken.
    freeze(): nothing is forwarded any more and nothing closed, as when a host vanishes; thaw() undoes it.
    hold_after(size): of what clients send `size` bytes are forwarded in all, and the rest once thaw() is called.
    await_held(): waits until that is reached.
    await_answer(words): waits until the target has sent these bytes since then.
    """

    def __init__(self, target):
        self.target = target
        self._flowing = threading.Event()
        self._flowing.set()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._to_forward = None  # bytes of clients, before they are held
        self._answers = b""
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
        with self._lock:
            self._to_forward = None
            self._changed.notify_all()
        self._flowing.set()

    def hold_after(self, size):
        with self._lock:
            self._to_forward = size

    def await_held(self):
        self._await(lambda: self._to_forward == 0, "clients sent less")

    def await_answer(self, words):
        self._await(lambda: words in self._answers, f"no answer had {words!r}")

    def _await(self, holds, otherwise, timeout=60):
        with self._lock:
            if not self._changed.wait_for(holds, timeout):
                raise TimeoutError(otherwise)

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
        for source, sink, watch in ((client, server, self._count), (server, client, self._note)):
            threading.Thread(target=self._pump, args=(source, sink, watch), daemon=True).start()

    def _count(self, data):
        """How much of it is forwarded before the rest may be held."""
        with self._lock:
            if self._to_forward is None:
                return len(data)
            size = min(len(data), self._to_forward)
            self._to_forward -= size
            self._changed.notify_all()
            return size

    def _note(self, data):
        with self._lock:
            if self._to_forward is not None:
                self._answers += data
            self._changed.notify_all()
        return len(data)

    def _pump(self, source, sink, watch):
        try:
            while data := source.recv(CHUNK):
                self._flowing.wait()
                size = watch(data)
                sink.sendall(data[:size])
                if size < len(data):
                    with self._lock:
                        self._changed.wait_for(lambda: self._to_forward is None)
                    sink.sendall(data[size:])
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
