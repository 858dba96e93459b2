"""A call whose request is declared and sent in part, over HTTP/2 by hand, and then left open."""
import select
import socket
import struct

from deaf_client import DATA, END_HEADERS, END_STREAM, FIRST_WINDOW, HEADERS, INITIAL_WINDOW_SIZE, PREFACE, SETTINGS, \
    WINDOW_UPDATE, frame, header

RST_STREAM, PING = 3, 6
ACK = 1
STREAM = 1
MAX_FRAME = 1 << 14


class HalfRequest:
    """`with` it, a call of `method` is open whose request has `declared` bytes."""

    def __init__(self, address, method, declared):
        host, port = address.rsplit(":", 1)
        self.connection = socket.create_connection((host, int(port)), timeout=60)
        self.windows = {0: FIRST_WINDOW, STREAM: FIRST_WINDOW}
        self.first_window = FIRST_WINDOW
        self.answer = b""  # headers and trailers, as they came
        self.ended = False
        headers = b"".join(header(*pair) for pair in (
            (b":method", b"POST"), (b":scheme", b"http"), (b":authority", b"localhost"), (b":path", method.encode()),
            (b"te", b"trailers"), (b"content-type", b"application/grpc")))
        self.connection.sendall(PREFACE + frame(SETTINGS, 0, 0, b"") + frame(HEADERS, END_HEADERS, STREAM, headers))
        self._send(b"\0" + struct.pack(">I", declared))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, size):
        """Sends so many bytes more, as far as the call has not ended."""
        while size > 0 and not self.ended:
            part = min(size, MAX_FRAME)
            self._send(bytes(part))
            size -= part

    def is_ended(self):
        """Whether the call has ended by now."""
        while not self.ended and select.select([self.connection], [], [], 0)[0]:
            self._take_frame()
        return self.ended

    def await_end(self):
        """What the call ended with."""
        while not self.ended:
            self._take_frame()
        return self.answer

    def _send(self, payload):
        while min(self.windows.values()) < len(payload):
            self._take_frame()
            if self.ended:
                return
        try:
            self.connection.sendall(frame(DATA, 0, STREAM, payload))
        except OSError:
            self.ended = True
        for window in self.windows:
            self.windows[window] -= len(payload)

    def _receive(self, size):
        data = b""
        while len(data) < size:
            part = self.connection.recv(size - len(data))
            if not part:
                raise ConnectionError("the server closed the connection")
            data += part
        return data

    def _take_frame(self):
        head = self._receive(9)
        kind, flags = head[3], head[4]
        (stream,) = struct.unpack(">I", head[5:])
        payload = self._receive(int.from_bytes(head[:3], "big"))
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[at:at + 6])
                if name == INITIAL_WINDOW_SIZE:
                    self.windows[STREAM] += value - self.first_window
                    self.first_window = value
            self.connection.sendall(frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            self.connection.sendall(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            self.windows[stream] += struct.unpack(">I", payload)[0]
        elif kind == HEADERS:
            self.answer += payload
            self.ended |= bool(flags & END_STREAM)
        elif kind == RST_STREAM:
            self.ended = True
