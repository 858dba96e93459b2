"""Writes the seeds of tests/fuzz/corpus. Run again when a message or a target's framing changes: make_corpus.py [PROTOC]

What fuzzing found is kept beside the seeds under names that begin with `found_`; this script leaves it alone.
"""
import gzip
import io
import lzma
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
GOLDEN = ROOT / "tests" / "golden"


def generate(protoc):
    scratch = tempfile.mkdtemp()
    protos = sorted(str(p.relative_to(ROOT / "proto")) for p in (ROOT / "proto/packtrain/v1").glob("*.proto"))
    subprocess.run([protoc, f"--proto_path={ROOT / 'proto'}", f"--python_out={scratch}", *protos], check=True)
    sys.path.insert(0, scratch)


generate(sys.argv[1] if len(sys.argv) > 1 else "protoc")
from packtrain.v1 import batch_pb2, dataset_pb2, run_pb2  # noqa: E402


def framed(*messages):
    """Messages as tests/fuzz/input.h reads them."""
    encoded = [m if isinstance(m, bytes) else m.SerializeToString(deterministic=True) for m in messages]
    return b"".join(struct.pack("<H", len(m)) + m for m in encoded)


def write(target, seeds):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if not old.name.startswith("found_"):
            old.unlink()
    for name, content in seeds.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def golden(name):
    """The blocks of a golden file, comments left out."""
    lines = [line for line in (GOLDEN / name).read_text().splitlines() if not line.startswith("#")]
    return [bytes.fromhex(block) for block in "\n".join(lines).strip().split("\n\n")]


def xz(content):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 4096}]
    return lzma.compress(content if isinstance(content, bytes) else content.encode(), filters=filters)


def gz(content):
    return gzip.compress(content if isinstance(content, bytes) else content.encode(), mtime=0)


# Batches.

def batch_parts(n_node, cut, endpoints=None):
    """The messages of a batch of fully connected graphs, or of one with the stored `endpoints`."""
    full = endpoints is None
    n_edge = [n * (n - 1) for n in n_node] if full else [len(endpoints)] + [0] * (len(n_node) - 1)
    header = batch_pb2.BatchHeader(index=5, step=2, epoch=1, rank=1, world_size=2, epoch_steps=9, fingerprint="ab12")
    header.empty = not n_node
    header.edge_rule = dataset_pb2.EDGE_RULE_FULL if full else dataset_pb2.EDGE_RULE_STORED
    for shape, extra in ((header.real, (0, 0, 0)), (header.padded, (1, 16, 64))):
        shape.graphs, shape.nodes, shape.edges = (a + b for a, b in zip((len(n_node), sum(n_node), sum(n_edge)), extra))
    body = b""

    def section(field, data_type, dims, content):
        nonlocal body
        body += b"\0" * (-len(body) % 64)
        header.sections.add(field=field, data_type=data_type, dims=dims, encoding=batch_pb2.ENCODING_RAW,
                            offset_bytes=len(body), size_bytes=len(content))
        body += content

    section("graph_index", dataset_pb2.DATA_TYPE_U64, [len(n_node)], struct.pack(f"<{len(n_node)}Q", *range(len(n_node))))
    section("n_node", dataset_pb2.DATA_TYPE_U32, [len(n_node)], struct.pack(f"<{len(n_node)}I", *n_node))
    section("n_edge", dataset_pb2.DATA_TYPE_U32, [len(n_node)], struct.pack(f"<{len(n_edge)}I", *n_edge))
    if not full:
        for name, side in (("senders", 0), ("receivers", 1)):
            section(name, dataset_pb2.DATA_TYPE_U8, [len(endpoints)], bytes(edge[side] for edge in endpoints))
    section("z", dataset_pb2.DATA_TYPE_U8, [sum(n_node)], bytes([6] * sum(n_node)))
    section("pos", dataset_pb2.DATA_TYPE_F32, [sum(n_node), 3], struct.pack(f"<{3 * sum(n_node)}f", *[0.5] * (3 * sum(n_node))))
    header.body_bytes = len(body)
    pieces = [body[k:k + cut] for k in range(0, len(body), cut)] or [b""]
    parts = [batch_pb2.StreamBatchesResponse(part=k, body=piece) for k, piece in enumerate(pieces)]
    parts[0].header.CopyFrom(header)
    parts[0].header_crc32c = 0
    parts[-1].last = True
    return parts


def batch_seeds():
    plain, mend = b"\x1e", b"\xbf"
    parts = golden("batch_parts.hex")
    stored = batch_parts([4, 1], 4096, [(1, 0), (2, 0), (0, 1), (3, 2)])
    return {
        "golden": plain + framed(*parts),
        "golden_in_bytes": b"\x00" + framed(*parts),
        "golden_mended": mend + framed(*parts),
        "golden_twice": plain + framed(*parts, *parts),
        "golden_without_first_part": plain + framed(parts[1]),
        "full": mend + framed(*batch_parts([3, 5, 1], 4096)),
        "full_in_parts": mend + framed(*batch_parts([3, 5], 100)),
        "stored": mend + framed(*stored),
        "empty": mend + framed(*batch_parts([], 4096)),
        "no_messages": plain,
        "empty_message": plain + framed(b""),
    }


# Imports.

def schema(full=True, periodic=False, targets=("energy",)):
    s = dataset_pb2.Schema(edge_rule=dataset_pb2.EDGE_RULE_FULL if full else dataset_pb2.EDGE_RULE_STORED,
                           edges="full" if full else "bonds")

    def add(name, scope, data_type, dims=(), unit=""):
        s.fields.add(name=name, scope=scope, data_type=data_type, dims=dims, unit=unit)

    add("z", dataset_pb2.FIELD_SCOPE_NODE, dataset_pb2.DATA_TYPE_U8)
    add("pos", dataset_pb2.FIELD_SCOPE_NODE, dataset_pb2.DATA_TYPE_F32, [3], "angstrom")
    if not full:
        add("edge_type", dataset_pb2.FIELD_SCOPE_EDGE, dataset_pb2.DATA_TYPE_I32)
    if periodic:
        add("cell", dataset_pb2.FIELD_SCOPE_GRAPH, dataset_pb2.DATA_TYPE_F32, [3, 3], "angstrom")
    if targets:
        add("y", dataset_pb2.FIELD_SCOPE_GRAPH, dataset_pb2.DATA_TYPE_F64, [len(targets)])
    for target in targets:
        s.targets.add(name=target, unit="eV")
    return s


def block(ids, n_node, bonds=None, periodic=False, targets=1, y=-10.08):
    b = dataset_pb2.GraphBlock(source_ids=ids, n_node=n_node, origins=[f"a.xyz:frame {k}" for k in range(len(ids))])
    nodes = sum(n_node)
    b.columns.add(field="z", data=bytes([8] * nodes))
    b.columns.add(field="pos", data=struct.pack(f"<{3 * nodes}f", *[0.1 * k for k in range(3 * nodes)]))
    if bonds is not None:
        b.n_edge.extend([len(bonds)] * len(ids))
        b.senders.extend([edge[0] for edge in bonds] * len(ids))
        b.receivers.extend([edge[1] for edge in bonds] * len(ids))
        b.columns.add(field="edge_type", data=struct.pack(f"<{len(bonds) * len(ids)}i", *[1] * len(bonds) * len(ids)))
    if periodic:
        b.columns.add(field="cell", data=struct.pack("<9f", 3, 0, 0, 0, 3, 0, 0, 0, 3) * len(ids))
    if targets:
        b.columns.add(field="y", data=struct.pack(f"<{targets * len(ids)}d", *[y] * targets * len(ids)))
    return b


def import_messages(header_schema, *blocks, end=None, **policies):
    header = dataset_pb2.ImportHeader(schema=header_schema, **policies)
    graphs = sum(len(b.source_ids) for b in blocks) if end is None else end
    return [dataset_pb2.ImportGraphsRequest(header=header),
            *[dataset_pb2.ImportGraphsRequest(block=b) for b in blocks],
            dataset_pb2.ImportGraphsRequest(end=dataset_pb2.ImportEnd(graphs=graphs))]


def import_seeds():
    plain = dataset_pb2.SealDatasetRequest(name="qm9")
    halves = dataset_pb2.SealDatasetRequest(name="qm9", fractions=dataset_pb2.SplitFractions(
        train_permille=500, val_permille=250, test_permille=250, seed=3))
    by_ids = dataset_pb2.SealDatasetRequest(name="qm9", by_ids=dataset_pb2.SplitByIds(train=["a", "b"], test=["c"]))
    lineage = dataset_pb2.SealDatasetRequest(name="x.y-1", lineage=dataset_pb2.Lineage(command="import", imported_at_ms=1))
    skip = {"on_error": dataset_pb2.ERROR_POLICY_SKIP}
    nan = float("nan")
    ring = [(1, 0), (2, 0), (0, 1), (0, 2)]
    abc = block(["a", "b", "c"], [3, 1, 4])
    return {
        "full": framed(plain, *import_messages(schema(), abc)),
        "two_blocks": framed(halves, *import_messages(schema(), abc, block(["d"], [2]))),
        "split_by_ids": framed(by_ids, *import_messages(schema(), abc)),
        "stored_edges": framed(lineage, *import_messages(schema(full=False), block(["a", "b"], [3, 3], ring))),
        "renumbered": framed(plain, *import_messages(
            schema(full=False), block(["a", "b"], [3, 4], ring), renumber=dataset_pb2.RENUMBERING_RCM)),
        "periodic": framed(plain, *import_messages(schema(periodic=True), block(["a"], [2], periodic=True))),
        "without_targets": framed(plain, *import_messages(schema(targets=()), block(["a"], [2], targets=0))),
        "two_targets": framed(plain, *import_messages(schema(targets=("gap", "u0")), block(["a"], [2], targets=2))),
        "missing_target_refused": framed(plain, *import_messages(schema(), block(["a"], [2], y=nan), **skip)),
        "missing_target_kept": framed(plain, *import_messages(
            schema(), block(["a"], [2], y=nan), missing_target=dataset_pb2.MISSING_TARGET_POLICY_NAN)),
        "duplicates_numbered": framed(plain, *import_messages(
            schema(), block(["a", "a"], [2, 2]), duplicate_ids=dataset_pb2.DUPLICATE_POLICY_NUMBER)),
        "duplicates_refused": framed(plain, *import_messages(schema(), block(["a", "a"], [2, 2]), **skip)),
        "no_nodes": framed(plain, *import_messages(schema(), block(["a", "b"], [0, 1]), **skip)),
        "edge_out_of_range": framed(plain, *import_messages(
            schema(full=False), block(["a"], [2], [(2, 0)]), block(["b"], [2], [(1, 0)]), **skip)),
        "only_header": framed(plain, import_messages(schema())[0]),
        "unknown_enum": framed(plain, *import_messages(schema(), abc, on_error=9)),
    }


# Stored records.

def record_seeds():
    full, stored = (b"".join(golden(f"graph_record_{name}.hex")) for name in ("full", "stored"))
    lengths = schema()
    lengths.edge_rule = dataset_pb2.EDGE_RULE_STORED
    lengths.fields.add(name="edge_attr", scope=dataset_pb2.FIELD_SCOPE_EDGE, data_type=dataset_pb2.DATA_TYPE_F32)
    water = struct.pack("<HBBIIIIIQ", 1, 0, 0, 1, 0, 0, 32 + 8 + 16 + 8 + 1, 1, 0) + bytes(32) + b"a"
    one_edge = struct.pack("<HBBIIIIIQ", 1, 1, 0, 2, 1, 1, 32 + 8 * 3 + 24 + 8 + 1 + 7, 1, 0)
    renumbered = dataset_pb2.Schema(edge_rule=dataset_pb2.EDGE_RULE_STORED, renumbered=dataset_pb2.RENUMBERING_RCM)
    renumbered.fields.add(
        name="source_node", scope=dataset_pb2.FIELD_SCOPE_NODE, data_type=dataset_pb2.DATA_TYPE_I32)
    two_nodes = struct.pack("<HBBIIIIIQ2i", 1, 1, 0, 2, 1, 1, 32 + 8 + 8 + 8 + 1, 1, 0, 1, 0)
    return {
        "golden_full": framed(schema()) + full,
        "golden_stored": framed(lengths) + stored,
        "golden_of_another_schema": framed(schema(full=False)) + stored,
        "one_node": framed(schema()) + water,
        "one_edge": framed(schema(full=False)) + one_edge + bytes(48) + b"a",
        "renumbered": framed(renumbered) + two_nodes + bytes(8) + b"\x01" + bytes(7) + b"a",
        "short": framed(schema()) + full[:31],
        "empty": framed(schema()),
    }


# Requests.

STATIC = dict(policy=batch_pb2.POLICY_STATIC, graphs=7, pad=batch_pb2.PAD_POW2)
DYNAMIC = dict(policy=batch_pb2.POLICY_DYNAMIC, graphs=8, seed=5)


def plan_request_seeds():
    def plan(**spec):
        return b"\0" + batch_pb2.GetPlanRequest(dataset="molecules", spec=batch_pb2.BatchSpec(**spec), epoch=1,
                                                world_size=2).SerializeToString()

    def batch(index, **spec):
        return b"\1" + batch_pb2.GetPlannedBatchRequest(dataset="molecules", spec=batch_pb2.BatchSpec(**spec),
                                                        world_size=3, index=index).SerializeToString()

    def stream(spec, **fields):
        return b"\2" + batch_pb2.StreamBatchesRequest(dataset="molecules", spec=batch_pb2.BatchSpec(**spec),
                                                      **fields).SerializeToString()

    tight = dict(DYNAMIC, nodes=5, edges=7, split="all")
    return {
        "static": plan(**STATIC),
        "static_constant": plan(**dict(STATIC, pad=batch_pb2.PAD_CONSTANT, drop_last=True, split="val")),
        "static_none": plan(**dict(STATIC, pad=batch_pb2.PAD_NONE, order=batch_pb2.ORDER_NONE)),
        "static_ladder": plan(**dict(STATIC, pad=batch_pb2.PAD_LADDER, ladder_rungs=3)),
        "window": plan(**dict(STATIC, order=batch_pb2.ORDER_WINDOW, order_window=16)),
        "dynamic": plan(**DYNAMIC),
        "packed": plan(policy=batch_pb2.POLICY_PACKED, graphs=8, seed=5),
        "tuple": plan(policy=batch_pb2.POLICY_TUPLE, graphs=5, seed=5),
        "supergraph": plan(policy=batch_pb2.POLICY_SUPERGRAPH, blocks=4, block_nodes=8),
        "packed_far": plan(policy=batch_pb2.POLICY_PACKED, graphs=3, lookahead=4096, oversize=batch_pb2.OVERSIZE_SKIP),
        "slice": plan(**dict(DYNAMIC, skip_above=batch_pb2.SKIP_ABOVE_NODES, skip_above_limit=18)),
        "narrow_slice": plan(**dict(DYNAMIC, skip_above=batch_pb2.SKIP_ABOVE_BANDWIDTH, skip_above_limit=18)),
        "dynamic_sample": plan(**dict(DYNAMIC, budget_sample=9, max_graphs=30)),
        "oversize_error": plan(**tight),
        "oversize_alone": plan(**dict(tight, oversize=batch_pb2.OVERSIZE_ALONE)),
        "oversize_skip": plan(**dict(tight, oversize=batch_pb2.OVERSIZE_SKIP)),
        "greatest_numbers": plan(policy=batch_pb2.POLICY_DYNAMIC, graphs=2**32 - 1, nodes=2**32 - 1, edges=2**32 - 1),
        "balanced": plan(**dict(STATIC, balance=batch_pb2.BALANCE_COST,
                                cost=batch_pb2.CostCoefficients(graph=10**6, node=3, edge=1))),
        "unknown_policy": plan(policy=9, graphs=3),
        "batch": batch(4, **STATIC),
        "batch_past_the_end": batch(2**63, **DYNAMIC),
        "stream": stream(STATIC, rank=1, world_size=2, start_step=1, epochs=2),
        "stream_for_ever": stream(DYNAMIC, start_epoch=2**64 - 1),
        "stream_segments": stream(STATIC, world_size=2, start_step=1, segments=[batch_pb2.Segment(world_size=1, steps=1)]),
        "stream_balanced": stream(dict(DYNAMIC, graphs=1, balance=batch_pb2.BALANCE_COST), world_size=3, start_step=2,
                                  segments=[batch_pb2.Segment(world_size=2, steps=2)]),
        "stream_long_segment": stream(DYNAMIC, start_step=9, segments=[
            batch_pb2.Segment(world_size=2**32 - 1, steps=2**64 - 1), batch_pb2.Segment(world_size=2, steps=2)]),
    }


def run_seeds():
    start = run_pb2.StartRunRequest(idempotency_key="12345678", process_key="p", description=run_pb2.RunDescription(
        model="schnet", dataset="qm9@1", spec=batch_pb2.BatchSpec(**STATIC), labels={"note": "night"}, world_size=2))
    columns = ("epoch batch_index real_graphs real_nodes real_edges padded_graphs padded_nodes padded_edges wait_ns copy_ns "
               "forward_ns backward_ns optimizer_ns comm_ns total_ns server_build_ns server_queue_ns capture_ns flags loss")

    def steps(*numbers, **columns_of):
        values = {name: [7] * len(numbers) for name in columns.split()}
        return run_pb2.StepBlock(step=numbers, **dict(values, flags=[0] * len(numbers), **columns_of))

    def report(block, rank=0):
        return b"\0" + framed(run_pb2.ReportStepsRequest(rank=rank, steps=block))

    evaluation = b"\1" + framed(run_pb2.ReportEvaluationRequest(
        evaluation=run_pb2.Evaluation(step=5, split="val", mae=0.5, rmse=0.7)))
    samples = b"\2" + framed(run_pb2.ReportSamplesRequest(samples=[run_pb2.Sample(time_ns=1, rss_bytes=5, device_use=0.5)]))
    events = b"\3" + framed(run_pb2.ReportEventsRequest(events=[run_pb2.Event(name="gc", start_ns=3, duration_ns=4)]))
    finish = b"\4" + framed(run_pb2.FinishRunRequest(state=run_pb2.RUN_STATE_DONE))
    listing = b"\5" + framed(run_pb2.ListStepsRequest(max_points=3))
    compare = b"\6" + framed(run_pb2.CompareRunsRequest(by="policy", metric="total.p95"))
    where = b"\7" + framed(run_pb2.ListRunsRequest(where="model ~ sch.* and not label.note = day"))
    begin = framed(start)
    huge, nan = 2**64 - 1, float("nan")
    return {
        "whole": begin + report(steps(*range(12, 40))) + evaluation + samples + events + finish + listing + compare + where,
        "two_ranks": framed(run_pb2.StartRunRequest(idempotency_key="12345678", description=start.description))
                     + report(steps(1, 2, 3)) + report(steps(2, 3), rank=1) + listing,
        "overlapping": begin + report(steps(1, 5, 9)) + report(steps(2, 5, 6)) + report(steps(0, 1, 10)),
        "greatest_numbers": begin + report(steps(huge - 1, huge, total_ns=[huge, huge], wait_ns=[huge, 0])),
        "not_a_number": begin + report(steps(11, 12, loss=[nan, float("inf")])),
        "not_ascending": begin + report(steps(3, 2)),
        "unequal_columns": begin + report(steps(3, 4, loss=[1.0])),
        "no_columns": begin + report(run_pb2.StepBlock(step=[1, 2])),
        "reports_after_finish": begin + finish + report(steps(1)) + evaluation,
        "short_key": framed(run_pb2.StartRunRequest(idempotency_key="1234567")),
        "unknown_enum": framed(run_pb2.StartRunRequest(
            idempotency_key="12345678", description=run_pb2.RunDescription(spec=batch_pb2.BatchSpec(pad=9)))),
        "finish_as_lost": begin + b"\4" + framed(run_pb2.FinishRunRequest(state=run_pb2.RUN_STATE_LOST)),
    }


# Checkpoints, as trainer/CHECKPOINT.md describes them.

def checkpoint_seeds():
    def text(content):
        return struct.pack("<Q", len(content)) + content.encode()

    def floats(*numbers):
        return struct.pack(f"<Q{len(numbers)}f", len(numbers), *numbers)

    record = struct.pack("<3Q6I10QId", *range(3), *range(6), *range(10), 0, 0.5)
    steps = struct.pack("<QIIQ", 1, 1, 0, 2) + record * 2
    evaluation = struct.pack("<Q", 10) + text("val") + struct.pack("<Q4dQ", 278, 0.1, 0.2, 0.3, 0.4, 5)
    of_format_1 = steps + struct.pack("<Q", 1) + evaluation
    unsent = struct.pack("<I", 21) + of_format_1 + struct.pack("<I", 1)
    with_accuracies = unsent + struct.pack("<dQ", 0.75, 2**64 - 1)
    lost = struct.pack("<QIIQ", 1, 1, 0, 70)
    settings = struct.pack("<Q", 2) + text("model") + text("schnet") + text("seed") + text("7")
    position = struct.pack("<4QIQIQ", 20, 1, 3, 9, 2, 1, 4, 2)
    totals = struct.pack("<4Qd", 20, 600, 500, 1000, 0.25)
    each_time, histogram = struct.pack("<Q3Q", 3, 7, 8, 9), struct.pack("<QQIQIQ", 31, 2, 7, 3, 10, 1)
    weights = floats(0.5, float("nan"), -1) * 3
    head = settings + text("20240105-101112-abcd") + text("key-00000001") + position + totals
    content = head + each_time + of_format_1 + weights
    return {
        "whole": b"\2" + content,
        "whole_of_format_2": b"\3" + head + histogram + unsent + weights,
        "whole_of_format_3": b"\4" + head + histogram + unsent + lost + weights,
        "whole_of_format_4": b"\5" + head + histogram + with_accuracies + lost + weights,
        "buckets_that_fall": b"\3" + head + struct.pack("<QQIQIQ", 31, 2, 10, 1, 7, 3) + unsent + weights,
        "more_step_columns": b"\0" + struct.pack("<I", 22) + of_format_1,
        "one_byte_short": b"\2" + content[:-1],
        "one_byte_more": b"\2" + content + b"\0",
        "empty_content": b"\2",
        "unsent": b"\0" + with_accuracies + lost,
        "nothing_unsent": b"\0" + struct.pack("<I", 21) + bytes(24),
        "counts_above_the_bytes": b"\0" + struct.pack("<I", 21) + struct.pack("<QIIQ", 2**64 - 1, 0, 0, 2**63),
        "wrong_checksum": b"\1PTRAINCK" + struct.pack("<IQ", 1, len(content)) + content + bytes(4),
        "other_format": b"\1PTRAINCK" + struct.pack("<IQ", 5, 0) + bytes(4),
        "no_checkpoint": b"\1PK",
    }


# Texts.

WATER = "3\nid=water gap=0.5 u0=-76.4\nO 0 0 0.1173\nH 0 0.7572 -0.4692\nH 0 -0.7572 -0.4692\n"
QM9 = ("5\ngdb 1\t157.7118\t157.70997\t157.70699\t0.\t13.21\nC\t-0.0126981359\t 1.0858041578\t 0.0080009958\t-0.535689\n"
       "H\t 0.0021504160\t-0.0060313176\t 0.0019761204\t 0.133921\nH\t 1.0117308433\t 1.4637511618\t 0.0002765748\t 0.133922\n"
       "H\t-0.5408150690\t 1.4475266138\t-8.7664371*^-1\t 0.133923\nH\t-0.5238136345\t 1.4379326443\t 0.9063972942\t 0.133923\n")
CRYSTAL = ('2\nLattice="3.5 0 0 0 3.5 0 0 0 3.5" Properties=species:S:1:pos:R:3:forces:R:3 pbc="T T F" energy=-1.5\n'
           "Si 0 0 0 0.1 0.1 0.1\nSi 1.7 1.7 1.7 0 0 0\n")


def extxyz_seeds():
    return {
        "water": WATER,
        "qm9_tabs_and_exponents": QM9,
        "crystal": CRYSTAL,
        "two_frames": WATER + "\n" + WATER.replace("water", "again"),
        "carriage_returns": WATER.replace("\n", "\r\n"),
        "gzip": gz(CRYSTAL + WATER),
        "quoted_values": "1\nid='a b' note=\"x \\\" y\" list=[1 2] set={1 2} flag\nH 0 0 0\n",
        "atomic_numbers": "1\nProperties=Z:I:1:pos:R:3\n6 0 0 0\n",
        "position_first": "1\nProperties=pos:R:3:species:S:1\n0 0 0 He\n",
        "byte_order_mark": b"\xef\xbb\xbf" + WATER.encode(),
        "count_too_high": "4\n\n" + "H 0 0 0\n" * 2 + WATER,
        "greatest_count": "18446744073709551615\n\nH 0 0 0\n",
        "not_finite": "1\n\nH nan 0 inf\n" + WATER,
        "range_of_numbers": "1\nx=1e-999\nH 1e-999 1e39 +.5\n",
        "many_columns": "1\nProperties=species:S:1:pos:R:3:x:R:999999\nH 0 0 0\n",
        "unknown_symbol": "1\n\nXx 0 0 0\n" + WATER,
        "bad_lattice": "1\nLattice=\"1 2 3\"\nH 0 0 0\n",
        "not_utf8": b"1\nid=\xff\xfe\nH 0 0 0\n",
        "no_end": WATER.rstrip("\n"),
        "ipi": "2\n# CELL(abcABC): 35 35 35 90 90 90 Step: 3 positions{atomic_unit} cell{atomic_unit}\nO 0 0 0\nH 0 0 1.81\n",
        "nested": "2\nid=lattice_3x3 energy=-10.5 Lattice=[[5.43, 0, 0], [0, 5.43, 0], [0, 0, 5.43]] pbc=\"T T F\" "
                  "Properties=species:S:1:pos:R:3\nSi 0.0 0.0 0.0\nSi 1.36 1.36 1.36\n",
        "vectors": "2\nammonia step 1\nN 0 0 0\nH 0 0 1.01\nVEC1 12.4 0 0\nVEC2 0 12.4 0\nVEC3 0 0 12.4\n",
    }


MOLFILE = ("hcn\n  made\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.5000 C   0  0\n"
           "    0.0000    0.0000    1.6500 N   0  0\n    0.0000    0.0000   -0.5700 H   0  0\n  1  2  3\n  1  3  1\nM  END\n")
MOLFILE_3 = ("hcn\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 3 2 0 0 0\nM  V30 BEGIN ATOM\n"
             "M  V30 1 C 0 0 0.5 0\nM  V30 2 N 0 0 1.65 0 CHG=0\nM  V30 3 H 0 0 -0.57 0\nM  V30 END ATOM\nM  V30 BEGIN BOND\n"
             "M  V30 1 3 1 2\nM  V30 2 1 1 3\nM  V30 END BOND\nM  V30 END CTAB\nM  END\n")


def sdf_seeds():
    items = "> <gap>\n0.5\n\n>  <name> (4)\ntwo\nlines\n\n"
    return {
        "v2000": MOLFILE + "$$$$\n",
        "v3000": MOLFILE_3 + "$$$$\n",
        "items": MOLFILE + items + "$$$$\n" + MOLFILE_3 + items,
        "no_end": MOLFILE.rstrip("\n"),
        "blank_records": "\n$$$$\n" + MOLFILE + "$$$$\n\n\n$$$$\n",
        "carriage_returns": (MOLFILE + items).replace("\n", "\r\n"),
        "gzip": gz(MOLFILE + "$$$$\n"),
        "skipped_lines": MOLFILE.replace("M  END", "S  SKP002\n$$$$\nnothing\nM  END"),
        "charges_and_isotopes": MOLFILE.replace("M  END", "M  CHG  1   2   1\nM  ISO  1   3   2\nM  RAD  1   1   2\nM  END"),
        "odd_valence": MOLFILE.replace("1  3  1", "2  3  3"),
        "query": MOLFILE_3.replace("2 N", "2 [N,P]"),
        "counts_too_high": MOLFILE.replace("  3  2", "  9  2", 1),
        "counts_far_too_high": MOLFILE_3.replace("COUNTS 3", "COUNTS 4000000000"),
        "no_name": MOLFILE + ">  <ID\nLig\n\n$$$$\n",
        "no_molfile": "nothing\n$$$$\n" + MOLFILE,
    }


def smiles_seeds():
    table = "id,smiles,gap\na,CC(=O)[O-],0.5\nb,c1ccccc1,\n"
    return {
        "table": table,
        "tabs": table.replace(",", "\t"),
        "words": "CCO ethyl alcohol\nC#N\nO water\n",
        "words_with_a_header": "SMILES Name\nCCO ethanol\n",
        "alone": "C1=CC=CN=C1\n[2H]C([H])(F)Cl",
        "cxsmiles": "CO |(0,0,0;1.4,0,0.1),$C;O$| methanol\n",
        "quoted_cxsmiles": "smiles,gap\n\"C[C@H](F)Cl |(0,0,0;1,0,0;0,1,0;0,0,1)|\",1\n",
        "flat_cxsmiles": "C[C@H](F)Cl |(0,0,;1,0,;0,1,;0,-1,),w:1.0|\n",
        "broken_cxsmiles": "CO |(0,0,0)|\nCO |(1,\n",
        "odd_valence": "CN(C)(C)(C)C\nc1cccc1\n",
        "metals_and_charges": "[O+]=[Cu-3]\nN->[Pt+2]\n*C\n[Fe]123\n",
        "stereo": "F/C=C/F\nN[C@@H](C)C(=O)O\nS[As@TB1](F)(Cl)(Br)N\n",
        "not_ascii": "C\nCC\u00e9C\n",
        "bad": "C\nC1CC\nXXX\n(((\n",
        "several_columns": "smiles1,smiles2\nC,C\n",
        "rows_of_other_lengths": "smiles,a\nC\nC,1,2\n",
        "quote_without_end": "smiles,a\n\"C,1\nC,2\n",
        "header_alone": "smiles\n",
        "blank": "\r\n\r\n",
        "gzip": gz(table),
    }


def byte_source_seeds():
    whole = gz(WATER)
    with_name = b"\x1f\x8b\x08\x0c" + bytes(6) + b"\x02\x00ab" + b"name\0" + whole[10:]
    return {
        "plain": WATER,
        "gzip": whole,
        "two_members": gz("one\n") + gz("two\n"),
        "padded_with_zeros": whole + bytes(40),
        "garbage_behind": whole + b"garbage",
        "with_name_and_extra": with_name,
        "truncated": whole[:-9],
        "no_trailer": whole[:-8],
        "wrong_checksum": whole[:-8] + b"\0\0\0\0" + whole[-4:],
        "stored_block": gzip.compress(b"stored", compresslevel=0, mtime=0),
        "unpacks_to_more_than_the_limit": gz(bytes(1 << 18)),
        "long_line": b"x" * 5000,
        "xz": xz(WATER),
        "xz_cut": xz(WATER)[:-7],
        "xz_twice": xz("one\n") + xz("two\n"),
        "lines_end_in_any_way": b"one\r\ntwo\rthree\nfour\0five",
        "lfs_pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "magic_alone": b"\x1f\x8b",
        "nothing": b"",
    }


# Archives.

def tar(*members):
    """Members are (name, content), or (name, None, target) for a link."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as file:
        for name, content, *target in members:
            info = tarfile.TarInfo(name)
            if target:
                info.type, info.linkname = tarfile.SYMTYPE, target[0]
            info.size = len(content or b"")
            file.addfile(info, io.BytesIO(content or b""))
    archive = out.getvalue().rstrip(b"\0")
    return archive + bytes(-len(archive) % 512 + 1024)


def zipped(*members, compression=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return out.getvalue()


def archive_seeds():
    members = (("a.xyz", b"one\n"), ("README", b"nothing"), ("d/b.xyz.gz", gz("two\n")))
    return {
        "tar": tar(*members),
        "tar_gz": gz(tar(*members)),
        "tar_xz": xz(tar(*members)),
        "tar_of_links": tar(("a.xyz", None, "b.xyz"), ("../b.xyz", b"out"), ("/c.xyz", b"out")),
        "tar_cut": gz(tar(*members)[:1000]),
        "tars_behind_each_other": gz(tar(("a.xyz", b"one")) + tar(("b.xyz", b"two"))),
        "zeros": gz(bytes(10240)),
        "zip": zipped(*members),
        "zip_stored": zipped(*members, compression=zipfile.ZIP_STORED),
        "zip_bomb": zipped(("a.xyz", bytes(1 << 18))),
        "zip_empty": zipped(),
        "zip_utf8": zipped(("\u03b2.xyz", b"beta")),
        "no_archive": WATER,
    }


# Plans: bytes as tests/fuzz/plan_fuzzer.cc reads them.

NUMBERS_AT_AN_END = [0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffbf, 1 << 24, (1 << 24) + 1, 1_000_000, 65_535, 65_536,
                     4096, 1024]
POLICIES = ["static", "dynamic", "packed", "tuple", "supergraph"]
PADS = ["none", "multiple", "pow2", "constant"]
RUNS = ["equal", "rising", "pareto", "swapped"]


def numbers(*values):
    """Each as Number() reads it."""
    first_end = 0xff - len(NUMBERS_AT_AN_END)
    encoded = b""
    for value in values:
        if value < first_end:
            encoded += bytes([value])
        elif value in NUMBERS_AT_AN_END:
            encoded += bytes([first_end + NUMBERS_AT_AN_END.index(value)])
        else:
            encoded += b"\xff" + struct.pack("<I", value)
    return encoded


def sizes(*runs):
    """Runs of graphs: (kind, how many, nodes of the first, edges of the first)."""
    return b"".join(bytes([RUNS.index(kind), count - 1]) + numbers(nodes, edges) for kind, count, nodes, edges in runs)


def plan_input(sizes, policy="dynamic", graphs=7, world=(1,), segments=(), order="full", oversize="alone", balance="none",
               pad=None, max_graphs=None, nodes=None, edges=None, budget_sample=None, lookahead=None, cost=None,
               drop_last=False, seed=0, epoch=0, left_out=0, blocks=(6, 20), nodes_of_bandwidth=2, skip_above=None):
    optional = [max_graphs, nodes, edges, budget_sample, lookahead]
    given = [pad is not None, *(value is not None for value in optional), cost is not None, drop_last]
    limited = [None, "nodes", "bandwidth"].index(skip_above and skip_above[0])
    spec = bytes([POLICIES.index(policy), ["full", "none"].index(order), ["alone", "skip", "error"].index(oversize) + 3 * limited,
                  ["none", "cost"].index(balance), sum(1 << bit for bit, is_given in enumerate(given) if is_given)])
    spec += numbers(graphs) + (b"" if pad is None else bytes([PADS.index(pad)]))
    spec += numbers(*(value for value in optional if value is not None), *(cost or ()), seed)
    ranks = bytes([len(segments)]) + b"".join(numbers(*segment) for segment in segments) + numbers(*world)
    graphs_of_epoch = numbers(epoch >> 32, epoch & 0xffffffff) + bytes([left_out])
    if policy == "supergraph":
        spec += numbers(*blocks)
        graphs_of_epoch += bytes([nodes_of_bandwidth - 1])
    if skip_above:
        spec += numbers(skip_above[1])
    return ranks + spec + graphs_of_epoch + sizes


def plan_seeds():
    molecules = sizes(("rising", 12, 3, 6), ("pareto", 40, 29, 240), ("swapped", 20, 9, 16))
    most = 0x7fffffff
    seeds = {f"static_{pad}": plan_input(molecules, policy="static", pad=pad, graphs=4, world=(3,)) for pad in PADS}
    for policy in POLICIES:
        balanced = {"balance": "cost", "segments": ((2, 3), (3, 1)), "world": (5,)}
        seeds |= {
            f"{policy}_balanced": plan_input(molecules, policy, graphs=2, **balanced),
            f"{policy}_balanced_dropping": plan_input(molecules, policy, graphs=1, drop_last=True, cost=(1, 0, 1_000_000),
                                                      **balanced),
            f"{policy}_change_at_a_windows_end": plan_input(sizes(("rising", 256, 1, 2)), policy, graphs=1,
                                                            balance="cost", segments=((2, 64), (3, 10)), world=(2,)),
            f"{policy}_all_equal": plan_input(sizes(("equal", 200, 18, 40)), policy, graphs=16, world=(8,)),
            f"{policy}_one_graph": plan_input(sizes(("equal", 1, 1, 0)), policy, world=(most,)),
            f"{policy}_no_graph": plan_input(b"", policy),
            f"{policy}_no_edges": plan_input(sizes(("rising", 50, 1, 0)), policy, epoch=1 << 32),
            f"{policy}_no_nodes": plan_input(sizes(("equal", 50, 0, 0)), policy, order="none"),
            f"{policy}_giant": plan_input(molecules + sizes(("equal", 1, most - 64, most - 63)) + molecules, policy,
                                          graphs=1, balance="cost", world=(4,), cost=(0, 1_000_000, 1_000_000)),
            f"{policy}_slice": plan_input(molecules, policy, graphs=2, skip_above=("nodes", 9), world=(2,)),
            f"{policy}_narrow": plan_input(molecules, policy, graphs=2, oversize="skip", skip_above=("bandwidth", 4)),
            f"{policy}_empty_slice": plan_input(sizes(("equal", 50, 3, 4)), policy, skip_above=("nodes", 2)),
            f"{policy}_part_of_the_graphs": plan_input(molecules, policy, left_out=3, drop_last=True, world=(2,)),
        }
    for policy in ("dynamic", "packed", "tuple"):
        seeds |= {
            f"{policy}_most": plan_input(sizes(("equal", 9, most - 1, most)), policy, nodes=most, edges=most),
            f"{policy}_all_skipped": plan_input(molecules, policy, nodes=2, edges=1, oversize="skip"),
            f"{policy}_some_skipped": plan_input(molecules, policy, nodes=12, edges=30, oversize="skip", world=(2,)),
            f"{policy}_refused": plan_input(molecules, policy, nodes=12, oversize="error"),
            f"{policy}_alone": plan_input(molecules, policy, nodes=5, edges=9, world=(3,), balance="cost"),
            f"{policy}_one_node_too_many": plan_input(sizes(("equal", 20, 9, 16)), policy, nodes=18, edges=32),
            f"{policy}_one_edge_too_many": plan_input(sizes(("equal", 20, 9, 16)), policy, nodes=19, edges=31),
            f"{policy}_sampled": plan_input(molecules, policy, budget_sample=3, max_graphs=9),
        }
    return seeds | {
        "supergraph_most": plan_input(sizes(("equal", 9, most - 1, most)), "supergraph", blocks=(1, most),
                                      nodes_of_bandwidth=1),
        "supergraph_all_skipped": plan_input(molecules, "supergraph", blocks=(1, 2), oversize="skip"),
        "supergraph_some_skipped": plan_input(molecules, "supergraph", blocks=(4, 5), oversize="skip", world=(2,)),
        "supergraph_refused": plan_input(molecules, "supergraph", blocks=(4, 3), oversize="error"),
        "supergraph_alone": plan_input(molecules, "supergraph", blocks=(2, 3), world=(3,), balance="cost"),
        "supergraph_alone_in_whole_blocks": plan_input(sizes(("equal", 9, 128, 7)), "supergraph", blocks=(2, 9)),
        "supergraph_one_node_too_many": plan_input(sizes(("equal", 20, 9, 16)), "supergraph", blocks=(2, 9)),
        "supergraph_without_slots": plan_input(molecules, "supergraph", blocks=(0, 9)),
        "packed_looking_far": plan_input(molecules * 6, "packed", lookahead=4096, graphs=31),
        "packed_looking_at_one": plan_input(molecules, "packed", lookahead=1),
        "segment_too_long": plan_input(molecules, segments=((2, most),)),
        "world_of_none": plan_input(molecules, world=(0,)),
    }


def tables_seeds():
    table = "name,gap,u0\ngdb_1,0.5,-40.4\ngdb_2,,nan\n"
    return {
        "split": b"\0train a\nval b c\n# comment\n\ntest d\n",
        "split_gzip": b"\0" + gz("train a\n"),
        "split_twice": b"\0train a\ntest a\n",
        "split_unknown_word": b"\0valid a\n",
        "table": b"\1" + table.encode(),
        "table_by_name": b"\2" + table.encode(),
        "table_of_two": b"\3" + table.encode(),
        "table_gzip": b"\3" + gz(table),
        "words_in_a_column": b"\1id,smiles,gap\n1,CC,0.5\n2,C=C,NA\n",
        "quoted": b"\1id,\"a \"\"b\"\"\nc\",gap\n\"x,y\" ,1,2\n",
        "quote_without_end": b"\1id,\"gap\n1,2\n3,4\n",
        "text_behind_a_quote": b"\1id,\"gap\"x\n1,2\n",
        "ragged": b"\1id,gap\n1\n",
        "key_twice": b"\1id,gap\n1,2\n1,3\n",
        "column_twice": b"\3name,gap,gap,u0\n1,2,3,4\n",
        "infinite": b"\1id,gap\n1,-inf\n",
        "header_alone": b"\1id,gap\n",
        "nothing": b"\1",
    }


def filter_seeds():
    return {f"filter_{k:02}": text for k, text in enumerate([
        "model = schnet and policy = dynamic",
        "not (steps < 100 or seed >= 7) and label.note != 'x'",
        "label.note ~ \"^a (long|short) night$\"",
        "batch_graphs = 31.0 and world_size <= 2e0",
        "run ~ 2024.*-abc[d-f]{1,3}",
        "state = 'do\\'ne' or hardware = \"\"",
        "((((((model = x))))))",
        "not not not not model = x",
        "model ~ (",
        "model = ",
        "= schnet",
        "model ! schnet",
        "colour = red",
        "model = schnet policy",
        "steps > nan or steps < inf or steps = 1e999",
        "",
        "  ",
        "(" * 70 + "model = x" + ")" * 70,
        "model ~ '((a{1,100}){1,100}){1,100}'",
    ])}


def words_seeds():
    words = ["full", "radius:5:32", "knn:12", "qm9@0123456789abcdef", "a@b@c", "total.p95", "val.mae", "seconds_per_epoch",
             "Cl", "118", "-8.7664371*^-1", "+1e-400", "1e400", "0x10", "18446744073709551616", "nan", "", "a" * 129,
             "nothing.p95", "total.p50", ".", "*^"]
    seeds = {f"word_{k:02}": word for k, word in enumerate(words)}
    seeds["attempt_key"] = b"a20240105-101112-abcd\0\0\0\0\1\0\0\0\2"
    seeds["step_block_key"] = b"20240105-101112-abcd\0\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0\3"
    return seeds


# Native files.

def crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def native_frame(message):
    content = message.SerializeToString(deterministic=True)
    return struct.pack("<II", len(content), crc32c(content)) + content


def native_seeds():
    response = dataset_pb2.ExportDatasetResponse
    header = native_frame(response(header=dataset_pb2.ExportHeader(dataset=dataset_pb2.Dataset(name="ab"))))
    block = native_frame(response(block=dataset_pb2.RecordBlock(records=[b"xyz"])))
    split = native_frame(response(split=dataset_pb2.SplitBlock(split="test", graphs=[0])))
    end = native_frame(response(end=dataset_pb2.ExportEnd(graphs=1)))
    whole = b"packtrn1" + header + block + split + end
    return {
        "nothing": b"",
        "magic_alone": whole[:8],
        "newer": b"packtrn2" + whole[8:],
        "whole": whole,
        "cut_off": whole[:-1],
        "garbage_behind": whole + b"x",
        "count_too_high": whole[:8] + header + end,
        "no_header": whole[:8] + block,
        "wrong_checksum": whole[:-1] + b"\0",
        "long_frame": whole[:8] + struct.pack("<II", 1 << 30, 0) + b"abc",
        "records": dataset_pb2.RecordBlock(records=[b"abc", b"", b"hello"]).SerializeToString(),
    }


if __name__ == "__main__":
    write("archive", archive_seeds())
    write("batch_assembler", batch_seeds())
    write("byte_source", byte_source_seeds())
    write("checkpoint", checkpoint_seeds())
    write("format_extxyz", extxyz_seeds())
    write("format_sdf", sdf_seeds())
    write("format_smiles", smiles_seeds())
    write("graph_record", record_seeds())
    write("import_stream", import_seeds())
    native = native_seeds()
    write("native_file", native)
    write("format_native", {name: content for name, content in native.items() if name != "records"})
    write("plan", plan_seeds())
    write("plan_requests", plan_request_seeds())
    write("run_filter", filter_seeds())
    write("run_requests", run_seeds())
    write("tables", tables_seeds())
    write("words", words_seeds())
