"""A client that asks for batches with every window of HTTP/2 wide open and then takes no byte off its socket, so that
the server's write to it never ends."""
import array
import fcntl
import socket
import struct
import termios

from harness import eventually
from protocol import batch_pb2

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, WINDOW_UPDATE = 0, 1, 4, 8
END_STREAM, END_HEADERS = 1, 4
INITIAL_WINDOW_SIZE = 4
WIDEST = 2**31 - 1
FIRST_WINDOW = 2**16 - 1
STREAMS = 8


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def header(name, value):
    """A literal of HPACK that is not indexed."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def stream_batches(number, request):
    message = request.SerializeToString()
    headers = b"".join(header(*pair) for pair in (
        (b":method", b"POST"), (b":scheme", b"http"), (b":authority", b"localhost"),
        (b":path", b"/packtrain.v1.BatchService/StreamBatches"), (b"te", b"trailers"),
        (b"content-type", b"application/grpc")))
    return (frame(HEADERS, END_HEADERS, number, headers) +
            frame(DATA, END_STREAM, number, b"\0" + struct.pack(">I", len(message)) + message))


def unread_bytes(connection):
    count = array.array("i", [0])
    fcntl.ioctl(connection, termios.FIONREAD, count)
    return count[0]


def deaf_client(address):
    """Its connection, once the server cannot send more."""
    host, port = address.rsplit(":", 1)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    connection.connect((host, int(port)))
    spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=512)
    request = batch_pb2.StreamBatchesRequest(dataset="sample", spec=spec)
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, WIDEST)) +
                       frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", WIDEST - FIRST_WINDOW)) +
                       b"".join(stream_batches(2 * k + 1, request) for k in range(STREAMS)))
    seen = [0]

    def holds_still():
        seen.append(unread_bytes(connection))
        return seen[-1] and seen[-1] == seen[-2]

    if not eventually(holds_still):
        raise TimeoutError(f"the server still sends; unread bytes: {seen[-3:]}")
    return connection
