"""Batches as proto/wire/FORMAT.md describes them, read with numpy and nothing of packtrain's but its messages."""
import numpy
from packtrain.v1 import batch_pb2, dataset_pb2

DTYPES = {
    dataset_pb2.DATA_TYPE_U8: "<u1", dataset_pb2.DATA_TYPE_U16: "<u2", dataset_pb2.DATA_TYPE_U32: "<u4",
    dataset_pb2.DATA_TYPE_U64: "<u8", dataset_pb2.DATA_TYPE_I32: "<i4", dataset_pb2.DATA_TYPE_I64: "<i8",
    dataset_pb2.DATA_TYPE_F32: "<f4", dataset_pb2.DATA_TYPE_F64: "<f8",
}


def _crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)  # Castagnoli, reflected
        table.append(byte)
    return table


CRC32C_TABLE = _crc32c_table()


def crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc = crc >> 8 ^ CRC32C_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def field_bytes(message, number):
    """The bytes of a length-delimited field as they stand in an encoded message."""
    def varint(at):
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    at = 0
    while at < len(message):
        tag, at = varint(at)
        wire_type = tag & 7
        if wire_type == 0:
            _, at = varint(at)
        elif wire_type == 5:
            at += 4
        elif wire_type == 2:
            size, at = varint(at)
            if tag >> 3 == number:
                return message[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {wire_type}")
    return None


class Batch:
    """One batch: `header`, and each section as an array, by name."""

    def __init__(self, messages):
        parts = [batch_pb2.StreamBatchesResponse.FromString(message) for message in messages]
        assert [part.part for part in parts] == list(range(len(parts)))
        assert [part.last for part in parts] == [False] * (len(parts) - 1) + [True]
        self.header = parts[0].header
        assert crc32c(field_bytes(messages[0], 1)) == parts[0].header_crc32c
        self.body = b"".join(part.body for part in parts)
        assert len(self.body) == self.header.body_bytes
        assert crc32c(self.body) == self.header.body_crc32c
        self.sections = {section.field: self._array(section) for section in self.header.sections}
        corrupt = list(self.header.corrupt_graphs)
        assert corrupt == sorted(set(corrupt))
        assert not set(corrupt) & set(self["graph_index"])
        assert self.header.real.graphs + len(corrupt) <= self.header.padded.graphs

    def __getitem__(self, field):
        return self.sections[field]

    def _array(self, section):
        assert section.encoding == batch_pb2.ENCODING_RAW
        assert section.offset_bytes % 64 == 0
        dtype = numpy.dtype(DTYPES[section.data_type])
        count = int(numpy.prod(section.dims))
        assert section.size_bytes == count * dtype.itemsize
        return numpy.frombuffer(self.body, dtype, count, section.offset_bytes).reshape(section.dims)

    def first_nodes(self):
        return numpy.cumsum(self["n_node"], dtype="i8") - self["n_node"]

    def edges(self):
        """(senders, receivers) as nodes of the batch."""
        if self.header.edge_rule == dataset_pb2.EDGE_RULE_STORED:
            first = numpy.repeat(self.first_nodes(), self["n_edge"])
            return self["senders"] + first, self["receivers"] + first
        senders, receivers = [], []
        for first, n_node in zip(self.first_nodes(), self["n_node"]):
            receiver, sender = numpy.nonzero(~numpy.eye(n_node, dtype=bool))
            senders.append(first + sender)
            receivers.append(first + receiver)
        return numpy.concatenate(senders), numpy.concatenate(receivers)


def batches(messages):
    """The batches of a stream of encoded messages."""
    gathered = []
    for message in messages:
        gathered.append(message)
        if batch_pb2.StreamBatchesResponse.FromString(message).last:
            yield Batch(gathered)
            gathered = []
    assert not gathered
