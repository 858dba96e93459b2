"""Replicas: servers that copy the data sets of another one, and clients that spread over them."""
import json
import pathlib
import subprocess
import threading
import time
import unittest

import grpc

from harness import DataNode, eventually, program
from protocol import Client, batch_pb2, run_pb2


def shown(node, dataset):
    """What a node says of a data set; None where it has none."""
    result = node.run("--give-up", "0.1", "dataset", "show", dataset)
    return result.json if result.code == 0 else None


class Replica(unittest.TestCase):
    def setUp(self):
        self.primary = DataNode("--enable-bench")
        self.primary.__enter__()
        self.addCleanup(self.primary.__exit__)
        self.assertEqual(self.primary.import_sample().code, 0)

    def start_replica(self):
        replica = DataNode("--enable-bench", "--replica-of", self.primary.address)
        replica.__enter__()
        self.addCleanup(replica.__exit__)
        return replica

    def await_copies(self, replica, *datasets):
        for dataset in datasets:
            self.assertTrue(eventually(lambda: shown(replica, dataset) == shown(self.primary, dataset)), replica.log())

    def restart_primary(self):
        self.primary.start(listen=self.primary.address)


class Copies(Replica):
    def test_a_server_does_not_follow_itself(self):
        alone = DataNode("--replica-of", self.primary.address)
        address = self.primary.address
        self.primary.process.kill()
        self.primary.process.wait()
        with self.assertRaisesRegex(RuntimeError, "own address"):
            alone.start(listen=address)

    def test_a_replica_has_every_version_and_follows_new_ones(self):
        first = f"sample@{shown(self.primary, 'sample')['version']}"
        second = self.primary.run("dataset", "split", "sample", "--permille", "500,250,250").json["version"]
        replica = self.start_replica()
        self.await_copies(replica, "sample", first, f"sample@{second}")
        self.assertEqual(self.primary.run("dataset", "derive", "sample", "--edges", "radius:5", "--name", "r5").code, 0)
        self.await_copies(replica, "r5")
        # The name goes back to a version that both have.
        self.assertEqual(self.primary.import_sample().json["unchanged"], True)
        self.await_copies(replica, "sample")
        self.assertEqual(f"sample@{shown(replica, 'sample')['version']}", first)
        plan = ["plan", "--dataset", "r5", "--policy", "dynamic", "--graphs", "31", "--batch", "9"]
        self.assertEqual(replica.run(*plan).json, self.primary.run(*plan).json)

    def test_a_replica_refuses_writes_and_names_its_primary(self):
        replica = self.start_replica()
        self.await_copies(replica, "sample")
        for line in (["dataset", "delete", "sample", "--yes"],
                     ["dataset", "derive", "sample", "--edges", "knn:3", "--name", "k3"],
                     ["dataset", "split", "sample", "--permille", "500,250,250"]):
            result = replica.run(*line)
            self.assertEqual((result.code, result.error["code"]), (1, "FAILED_PRECONDITION"), result)
            self.assertIn(self.primary.address, result.error["message"])
        result = replica.import_sample(name="mine")
        self.assertEqual((result.code, result.error["code"]), (1, "FAILED_PRECONDITION"), result)
        with Client(replica.address) as client, self.assertRaises(grpc.RpcError) as refused:
            client.StartRun(run_pb2.StartRunRequest(
                description=run_pb2.RunDescription(model="m", dataset="sample", world_size=1), idempotency_key="k" * 16))
        self.assertEqual(refused.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertIn(self.primary.address, refused.exception.details())

    def test_a_replica_serves_on_while_its_primary_is_away(self):
        replica = self.start_replica()
        self.await_copies(replica, "sample")
        self.primary.process.kill()
        self.primary.process.wait()
        before = shown(replica, "sample")
        self.assertIsNotNone(before)
        replica.process.kill()
        replica.process.wait()
        replica.start()
        self.assertEqual(shown(replica, "sample"), before)
        self.restart_primary()
        self.assertEqual(self.primary.import_sample(name="new").code, 0)
        self.await_copies(replica, "new")

    def test_a_copy_that_is_cut_off_leaves_nothing_and_is_made_again(self):
        replica = self.start_replica()
        staging = replica.directory / "data" / "graphs" / "staging"
        eventually(lambda: any(staging.iterdir()) or shown(replica, "sample"))
        replica.process.kill()
        replica.process.wait()
        replica.start()
        self.await_copies(replica, "sample")


def connections(node):
    """Established ones to its port, as the kernel counts them."""
    port = f":{int(node.address.rpartition(':')[2]):04X}"
    lines = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(line[1].endswith(port) and line[3] == "01" for line in lines)


def stream_rank(address, dataset, rank, world, crcs, failures):
    """Reads an epoch's batches of one rank over gRPC's own round robin; goes on where a server went away."""
    config = '{"loadBalancingConfig": [{"round_robin": {}}]}'
    channel = grpc.insecure_channel(address, options=[("grpc.service_config", config),
                                                      ("grpc.max_receive_message_length", 64 << 20)])
    read = channel.unary_stream("/packtrain.v1.BatchService/StreamBatches",
                                request_serializer=lambda message: message.SerializeToString(),
                                response_deserializer=batch_pb2.StreamBatchesResponse.FromString)
    step = 0
    while True:
        spec = batch_pb2.BatchSpec(policy=batch_pb2.POLICY_DYNAMIC, graphs=7)
        request = batch_pb2.StreamBatchesRequest(dataset=dataset, spec=spec, rank=rank, world_size=world, epochs=1,
                                                 start_step=step)
        try:
            header = None
            for part in read(request, timeout=60):
                header = part.header if part.HasField("header") else header
                if part.last:
                    crcs.append((header.index, header.body_crc32c))
                    step += 1
            return
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                failures.append(error)
                return
            time.sleep(0.05)


class Spreading(Replica):
    def setUp(self):
        super().setUp()
        self.replica = self.start_replica()
        self.await_copies(self.replica, "sample")
        ports = [node.address.rpartition(":")[2] for node in (self.primary, self.replica)]
        self.both = "ipv4:" + ",".join(f"127.0.0.1:{port}" for port in ports)

    def test_an_epoch_is_exactly_once_though_a_replica_is_killed_in_the_middle(self):
        dataset = f"sample@{shown(self.primary, 'sample')['version']}"
        whole = []
        stream_rank(self.primary.address, dataset, 0, 1, whole, whole)
        failures, ranks = [], [[] for _ in range(4)]
        threads = [threading.Thread(target=stream_rank, args=(self.both, dataset, rank, 4, crcs, failures))
                   for rank, crcs in enumerate(ranks)]
        for thread in threads:
            thread.start()
        eventually(lambda: sum(map(len, ranks)) >= len(whole) / 4)
        self.replica.process.kill()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        read = [batch for crcs in ranks for batch in crcs]
        self.assertEqual(len(read), len(set(read)))  # steps beyond the last batch are empty, each of its own index
        self.assertEqual(sorted(batch for batch in read if batch[0] < len(whole)), sorted(whole))

    def test_the_clients_of_the_library_are_spread(self):
        bench = subprocess.Popen(
            [*program("packtrain"), "bench", "stream", "--server", self.both, "--json", "--dataset", "sample", "--policy",
             "dynamic", "--graphs", "7", "--clients", "4", "--shared-epoch", "--seconds", "2"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for node in (self.primary, self.replica):
            self.assertTrue(eventually(lambda: connections(node) > 0 or bench.poll() is not None))
            self.assertIsNone(bench.poll())
        out, err = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 0, out + err)
        result = json.loads(out)
        self.assertGreater(result["batches"], 0)
        self.assertEqual(result["crc_checked"], result["batches"])


if __name__ == "__main__":
    unittest.main()
