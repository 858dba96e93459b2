"""The services of packtraind, called from Python with the messages that protoc makes of proto/packtrain/v1.

`dataset_pb2`, `batch_pb2`, `run_pb2` and `server_info_pb2` are those messages; Client(address).GetRun(run_pb2.GetRunRequest(run="x"))
calls a method. Needs Debian's python3-grpcio and python3-protobuf, and protoc.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import descriptor_pb2
from google.protobuf.message_factory import MessageFactory

PROTO = pathlib.Path(os.environ["PACKTRAIN_PROTO"])

_generated = tempfile.TemporaryDirectory()
subprocess.run(["protoc", f"--proto_path={PROTO}", f"--python_out={_generated.name}",
                *sorted(map(str, PROTO.glob("packtrain/v1/*.proto")))], check=True)
sys.path.insert(0, _generated.name)
sys.dont_write_bytecode = True

from packtrain.v1 import batch_pb2, dataset_pb2, run_pb2, server_info_pb2  # noqa: E402


# A connection of its own, which is dialled again at once, and answers as large as the server sends them.
OPTIONS = [("grpc.max_receive_message_length", 64 << 20), ("grpc.use_local_subchannel_pool", 1),
           ("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 1000)]


class Client:
    """A channel to one server; each method of each service is a method here. Any number of threads may use it."""

    def __init__(self, address, timeout=30, options=OPTIONS):
        self.channel = grpc.insecure_channel(address, options=options)
        self.timeout = timeout
        for file in (batch_pb2, dataset_pb2, run_pb2, server_info_pb2):
            for service in file.DESCRIPTOR.services_by_name.values():
                for method in service.methods:
                    setattr(self, method.name, self._method(service, method))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def connect(self):
        """Waits until the server can be called: a busy host may not take a connection at the first attempt."""
        grpc.channel_ready_future(self.channel).result(timeout=self.timeout)

    def _method(self, service, method):
        description = descriptor_pb2.MethodDescriptorProto()
        method.CopyToProto(description)
        kind = "_".join("stream" if streams else "unary"
                        for streams in (description.client_streaming, description.server_streaming))
        response = MessageFactory().GetPrototype(method.output_type)
        call = getattr(self.channel, kind)(f"/{service.full_name}/{method.name}",
                                           request_serializer=lambda message: message.SerializeToString(),
                                           response_deserializer=response.FromString)
        return lambda request: call(request, timeout=self.timeout)

    def pages(self, list_method, request, field):
        """Every entry of `field` over all pages of ListRuns or ListDatasets."""
        while True:
            answer = getattr(self, list_method)(request)
            yield from getattr(answer, field)
            if not answer.next_page_token:
                return
            request.page_token = answer.next_page_token
