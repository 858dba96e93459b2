"""Clients that ask for as much of a data node's memory as they may, and more."""
import contextlib
import threading

import grpc

from protocol import Client, batch_pb2, dataset_pb2

WIDTH = 1 << 15  # floats of a graph's only field: a graph has 128 KiB
# What calls may end with that ask for too much at one time.
REFUSED = {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.CANCELLED,
           grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.DEADLINE_EXCEEDED}


def varint(number):
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def zeros_report(column, rows):
    """A packed ReportStepsRequest, a byte of which stands for eight or more in memory."""
    return field(1, b"none") + field(4, field(column, bytes(rows)))


def report(address, packed):
    """The error that a ReportSteps of these bytes ends with."""
    with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        call = channel.unary_unary("/packtrain.v1.RunService/ReportSteps")
        try:
            call(packed, timeout=60)
        except grpc.RpcError as error:
            return error
    return None


def spec(graphs):
    return batch_pb2.BatchSpec(policy=batch_pb2.POLICY_STATIC, graphs=graphs)


def wide_header():
    x = dataset_pb2.Field(name="x", scope=dataset_pb2.FIELD_SCOPE_GRAPH, data_type=dataset_pb2.DATA_TYPE_F32, dims=[WIDTH])
    return dataset_pb2.ImportGraphsRequest(header=dataset_pb2.ImportHeader(
        schema=dataset_pb2.Schema(fields=[x], edge_rule=dataset_pb2.EDGE_RULE_FULL, edges="full")))


def wide_block(first, graphs):
    data = b"".join(bytes([(first + k) % 63]) * (4 * WIDTH) for k in range(graphs))
    return dataset_pb2.ImportGraphsRequest(block=dataset_pb2.GraphBlock(
        source_ids=[str(first + k) for k in range(graphs)], n_node=[1] * graphs,
        columns=[dataset_pb2.Column(field="x", data=data)]))


def wide_messages(graphs, a_block=20):
    yield wide_header()
    for first in range(0, graphs, a_block):
        yield wide_block(first, min(a_block, graphs - first))
    yield dataset_pb2.ImportGraphsRequest(end=dataset_pb2.ImportEnd(graphs=graphs))


def import_wide(client, name, graphs):
    staged = client.ImportGraphs(wide_messages(graphs))
    client.SealDataset(dataset_pb2.SealDatasetRequest(import_id=staged.import_id, name=name))


def stalled_import(graphs, release):
    """The messages of an import that says nothing more until `release`."""
    yield wide_header()
    yield wide_block(0, graphs)
    release.wait(60)


def at_once(calls):
    """Runs the calls side by side; returns the errors with which they ended."""
    errors = []

    def run(call):
        try:
            call()
        except grpc.RpcError as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def has_retry_delay(error):
    """Whether a refusal carries a google.rpc.RetryInfo."""
    return any(key == "grpc-status-details-bin" and b"google.rpc.RetryInfo" in value
               for key, value in error.trailing_metadata() or ())


def waits_in_vain(error):
    """Whether a call was refused for want of memory or of a place, and another one might not be."""
    return error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED and b"_LIMIT" in dict(
        error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")


@contextlib.contextmanager
def unread_streams(address, dataset, graphs, count):
    """Streams that are open, of which one message was read."""
    clients = [Client(address, timeout=600) for _ in range(count)]
    streams = []
    try:
        for client in clients:
            stream = client.StreamBatches(batch_pb2.StreamBatchesRequest(dataset=dataset, spec=spec(graphs)))
            try:
                next(stream)
                streams.append(stream)
            except grpc.RpcError as error:
                assert error.code() in REFUSED, error
        yield streams
    finally:
        for stream in streams:
            stream.cancel()
        for client in clients:
            client.channel.close()
