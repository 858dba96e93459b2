"""Repeats a training of packtrain-trainer in Torch, in f64 on the CPU, and compares the loss of each step.

    packtrain-trainer --dataset D --model M ... --precision f64 --lr 1e-3 --lr-schedule constant --steps 50 --write-steps DIR
    packtrain run export RUN --format csv >steps.csv
    losses_in_torch.py M DIR steps.csv --lr 1e-3

The models are written down as their papers have them, a message for each edge, and share no code with the trainer. Prints the
greatest difference relative to the loss, and ends with 1 where it is above --tolerance. Needs `torch`. One rank's steps only.
"""
import argparse
import csv
import json
import math
import pathlib
import sys

import torch
from torch.nn import functional

BUFFERS = ("centres", "no_weights", "orders", "class_of_token")
CUTOFF = 6.0


def shifted_softplus(x):
    return functional.softplus(x) - math.log(2)


def sum_by(values, index, rows):
    return torch.zeros((rows, *values.shape[1:]), dtype=values.dtype).index_add(0, index, values)


def mean_over_nodes(values, batch):
    return sum_by(values, batch["graph_of_node"], len(batch["n_node"])) / batch["n_node"].clamp(min=1)[:, None]


def edge_vectors(batch):
    vectors = batch["positions"][batch["senders"]] - batch["positions"][batch["receivers"]]
    if "cells" in batch:
        cells = batch["cells"][batch["graph_of_node"][batch["receivers"]]]
        vectors = vectors + torch.einsum("ei,eij->ej", batch["shifts"].double(), cells)
    return vectors


def gaussians(state, batch):
    distances = edge_vectors(batch).norm(dim=1, keepdim=True)
    return torch.exp(-((distances - state["centres"]) ** 2) / 0.1)


def interaction(state, layer, nodes, edges, batch):
    filters = shifted_softplus(shifted_softplus(edges @ state[f"{layer}_W1"]) @ state[f"{layer}_W2"])
    messages = (nodes @ state[f"{layer}_W3"])[batch["senders"]] * filters
    received = sum_by(messages, batch["receivers"], len(nodes)) / batch["in_degree"]
    return nodes + shifted_softplus(received @ state[f"{layer}_W4"]) @ state[f"{layer}_W5"]


def schnet(state, batch, options):
    nodes, edges = state["embedding"][batch["classes"]], gaussians(state, batch)
    for layer in range(options.layers or 3):
        nodes = interaction(state, f"layer{layer}", nodes, edges, batch)
    return mean_over_nodes(shifted_softplus(nodes @ state["readout_W6"]) @ state["readout_W7"], batch)


def mpeu(state, batch, options):
    nodes, edges = state["embedding"][batch["classes"]], gaussians(state, batch)
    for layer in range(options.layers or 3):
        ends = torch.cat([nodes[batch["senders"]], nodes[batch["receivers"]], edges], 1)
        edges = shifted_softplus(ends @ state[f"layer{layer}_W8"]) @ state[f"layer{layer}_W9"]
        nodes = interaction(state, f"layer{layer}", nodes, edges, batch)
    return mean_over_nodes(shifted_softplus(nodes @ state["readout_W6"]) @ state["readout_W7"], batch)


def linear(state, name, x):
    return x @ state[f"{name}_weights"] + state[f"{name}_bias"]


def silu_mlp(state, name, x):
    return linear(state, f"{name}_second", functional.silu(linear(state, f"{name}_first", x)))


def painn(state, batch, options):
    scalars = state["embedding"][batch["classes"]]
    columns, rows = scalars.shape[1], len(scalars)
    vectors = torch.zeros(rows, 3, columns, dtype=scalars.dtype)
    between = edge_vectors(batch)
    distances = between.norm(dim=1, keepdim=True).clamp(min=1e-6)
    directions = (between / distances)[:, :, None]
    radial = torch.sin(distances * torch.arange(1, 21) * math.pi / CUTOFF) / distances
    cutoff = torch.where(distances < CUTOFF, (torch.cos(distances * math.pi / CUTOFF) + 1) / 2, 0)
    for layer in range(options.layers or 3):
        name = f"layer{layer}"
        sent = silu_mlp(state, f"{name}_message", scalars)[batch["senders"]]
        parts = (sent * (linear(state, f"{name}_filter", radial) * cutoff)).split(columns, 1)
        moved = vectors[batch["senders"]] * parts[1][:, None] + directions * parts[2][:, None]
        scalars = scalars + sum_by(parts[0], batch["receivers"], rows)
        vectors = vectors + sum_by(moved, batch["receivers"], rows)
        u, v = (vectors @ state[f"{name}_mixing"]).split(columns, 2)
        lengths = (v.square().sum(1) + 1e-8).sqrt()
        gates = silu_mlp(state, f"{name}_update", torch.cat([scalars, lengths], 1)).split(columns, 1)
        scalars = scalars + gates[2] + gates[1] * (u * v).sum(1)
        vectors = vectors + u * gates[0][:, None]
    return mean_over_nodes(silu_mlp(state, "readout", scalars), batch)


def extreme(values, index, rows, which):
    start = torch.full((rows, values.shape[1]), -math.inf if which == "amax" else math.inf, dtype=values.dtype)
    return start.scatter_reduce(0, index[:, None].expand_as(values), values, which)


def pna(state, batch, options):
    rows, receivers = len(batch["graph_of_node"]), batch["receivers"].long()
    is_real = (torch.arange(rows) < batch["n_node"].sum())[:, None]
    has_neighbours = sum_by(torch.ones(len(receivers), 1), receivers, rows) > 0
    log_degree = torch.log(batch["in_degree"] + 1)
    scalers = (1, log_degree / options.mean_log_degree, options.mean_log_degree / log_degree)
    nodes = batch["node_features"].double()
    for layer in range(options.layers or 64):
        name = f"layer{layer}"
        nodes = nodes if layer == 0 else nodes.relu()
        messages = linear(state, f"{name}_message", torch.cat([nodes[receivers], nodes[batch["senders"]]], 1))
        mean = sum_by(messages, receivers, rows) / batch["in_degree"]
        variance = sum_by((messages - mean[receivers]).square(), receivers, rows) / batch["in_degree"]
        deviation = torch.where(variance > 1e-5, variance.clamp(min=1e-5).sqrt(), 0)
        aggregates = [mean, *(extreme(messages, receivers, rows, which) for which in ("amin", "amax")), deviation]
        aggregates = torch.where(has_neighbours, torch.cat(aggregates, 1), 0)
        updated = linear(state, f"{name}_update", torch.cat([nodes, *(aggregates * scaler for scaler in scalers)], 1))
        nodes = torch.where(is_real, linear(state, f"{name}_last", updated), 0)
    pooled = extreme(nodes, batch["graph_of_node"].long(), len(batch["n_node"]), "amax")
    pooled = torch.where((batch["n_node"] > 0)[:, None], pooled, 0)
    return linear(state, "readout", pooled) if "readout_weights" in state else pooled


def ggnn(state, batch, options):
    choice = "score" in state
    classes = state["class_of_token"][batch["tokens"]].long() if choice else batch["classes"]
    nodes = state["embedding"][classes]
    for _ in range(options.layers or 8):
        messages = torch.zeros_like(nodes)
        for ends, back in ((("senders", "receivers"), 0), (("receivers", "senders"), 1)):
            for kind in batch["edge_types"].unique():
                edges = batch["edge_types"] == kind
                sent = nodes[batch[ends[0]][edges]] @ state[f"type{2 * int(kind) + back}"]
                messages = messages.index_add(0, batch[ends[1]][edges], sent)
        nodes = torch.gru_cell(messages, nodes, state["unit_message_weights"], state["unit_state_weights"],
                               state["unit_message_bias"], state["unit_state_bias"])
    if not choice:
        return mean_over_nodes(linear(state, "readout_second", linear(state, "readout_first", nodes).relu()), batch)
    slots = torch.where(batch["is_slot"][:, None] > 0, nodes, 0)
    slots = sum_by(slots, batch["graph_of_node"], len(batch["n_node"]))[batch["graph_of_node"]]
    return (torch.cat([nodes, slots, nodes * slots], 1) @ state["score"])[:, 0]


def cross_entropy(scores, batch):
    losses = []
    for graph in range(len(batch["n_node"])):
        own = batch["graph_of_node"] == graph
        candidates = own & (batch["is_candidate"] > 0) & (batch["is_slot"] == 0)
        right = candidates & (batch["is_target"] > 0)
        if (own & (batch["is_slot"] > 0)).any() and right.any():
            losses.append(scores[candidates].logsumexp(0) - scores[right].logsumexp(0))
    return torch.stack(losses).mean() if losses else None


def loss_of(outputs, batch, model):
    """None where no graph has a label."""
    if outputs.dim() == 1:
        return cross_entropy(outputs, batch)
    known = batch["weights"] > 0
    if not known.any():
        return None
    error = (outputs - batch["targets"])[known]
    return (error.abs() if model == "pna" else error.square()).sum() / known.sum()


MODELS = {model.__name__: model for model in (schnet, mpeu, painn, pna, ggnn)}


def load(file):
    tensors = torch.load(file, weights_only=True)
    return {name: tensor.double() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}


def repeat(options):
    """Yields the loss of each step, which is no number where no graph has a label."""
    state = load(options.folder / "parameters.pt")
    parameters = [tensor.requires_grad_() for name, tensor in state.items() if name not in BUFFERS]
    adam = torch.optim.Adam(parameters, lr=options.lr)
    for step in range(len(list(options.folder.glob("step-*.rank-0.pt")))):
        batch = load(options.folder / f"step-{step}.rank-0.pt")
        adam.zero_grad()
        loss = loss_of(MODELS[options.model](state, batch, options), batch, options.model)
        if loss is not None:
            loss.backward()
        for parameter in parameters:  # without a gradient, one moves by its momentum
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        adam.step()
        yield math.nan if loss is None else loss.item()


def difference(mine, other):
    """Relative; two losses that are no number are equal."""
    if math.isnan(mine) or math.isnan(other):
        return 0 if math.isnan(mine) and math.isnan(other) else math.inf
    return abs(mine - other) / abs(other)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("folder", type=pathlib.Path, help="of --write-steps")
    parser.add_argument("steps", type=pathlib.Path, help="as `packtrain run export` writes them")
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--layers", type=int, help="where the training names them")
    parser.add_argument("--mean-log-degree", type=float, help="of PNA: mean_log_degree of `packtrain run show`")
    parser.add_argument("--tolerance", type=float, default=1e-9)
    options = parser.parse_args()
    with open(options.steps, encoding="utf-8") as file:
        told = {int(row["step"]): float(row["loss"]) for row in csv.DictReader(file)}
    losses = [loss for _, loss in sorted(told.items())]
    repeated = list(repeat(options))
    if len(repeated) != len(losses):
        parser.error(f"{len(repeated)} files of steps, but {len(losses)} losses")
    worst = max(map(difference, repeated, losses))
    numbers = [loss for loss in losses if math.isfinite(loss)]
    print(json.dumps({"model": options.model, "steps": len(told), "steps_with_labels": len(numbers),
                      "first_loss": numbers[0] if numbers else None, "last_loss": numbers[-1] if numbers else None,
                      "max_relative_difference": worst if math.isfinite(worst) else None}))
    return 0 if worst <= options.tolerance else 1


if __name__ == "__main__":
    sys.exit(main())
