"""Training and inference speed on a benchmark: queries a second of whole training steps, milliseconds a query to rank.

    python bench/training_speed.py BENCHMARK [--models gqe query2box query2particles]
        [--encodings baseline dice sinusoidal] [--steps 1000]

Steps are those of `kgreckon train`, mixed types in proportion to their queries, data drawn on the device. Inference is
encoding and scoring all entities, captured once for each type. Evaluation ranks all hard answers of the testing
queries; beside it stands the released code's inference followed by a plain loop over queries and answers. On a GPU the
stages of a step are timed one by one as well.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from rich.console import Console

from captured import CapturedAnswers
from kgreckon.benchmark import Benchmark, Split
from kgreckon.cli.console import print_table
from kgreckon.evaluation import EvaluationQueries, evaluate_scores
from kgreckon.models.devices import device_for
from kgreckon.models.losses import smoothed_cross_entropy
from kgreckon.models.neural import ENCODINGS, NeuralSettings, QueryModel
from kgreckon.models.neural.captured_steps import CapturedSteps
from kgreckon.models.neural.device_queries import DeviceQueries, model_for, training_queries
from kgreckon.query import Batch

# What the released code reaches on an H200, batch 1024, dimension 300, FB15k's sizes: queries/s, ms a query.
RELEASED = {"gqe": (19_600, 0.034), "query2box": (19_300, 0.032), "query2particles": (18_300, 0.029)}


def synchronise(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def training_rate(steps: CapturedSteps, shares: np.ndarray, count: int, device: torch.device) -> float:
    """Queries a second over `count` steps on types drawn in proportion."""
    order = np.random.default_rng(0).choice(len(shares), size=count, p=shares)
    for place in order[:20]:
        steps.run(place)
    synchronise(device)
    start = perf_counter()
    for place in order:
        steps.run(place)
    synchronise(device)
    return count * steps.settings.batch_size / (perf_counter() - start)


def inference_time(model: QueryModel, queries: list[DeviceQueries], device: torch.device) -> float:
    """Milliseconds a query to encode and to score all entities, in batches of 1024."""
    entity = [each for each in queries if not each.shape.denotes_numbers and len(each) >= 1024]
    batches = [Batch(each.shape, each.ids[:1024]) for each in entity]
    answer = CapturedAnswers(model, 1024, device)
    for batch in batches:  # and what is replayed is what the model says
        torch.testing.assert_close(answer(batch), model.answer(batch), rtol=1e-2, atol=1e-2)
    synchronise(device)
    start = perf_counter()
    for _ in range(5):
        for batch in batches:
            answer(batch)
    synchronise(device)
    return 1000 * (perf_counter() - start) / (5 * sum(map(len, batches)))


def plain_ranking_time(model: QueryModel, queries: EvaluationQueries, count: int = 300) -> float:
    """Milliseconds a query to rank hard answers one by one, by a plain loop over scores that are already there."""
    own = max((each for each in queries.sets if not each.shape.denotes_numbers), key=len)
    count = min(count, len(own))
    scores = model.answer(Batch(own.shape, own.ids[:count]))
    start = perf_counter()
    for place in range(count):
        easy, hard = own.answers(place, place + 1)
        row = scores[place].clone()
        row[easy.item] = -torch.inf
        for answer in hard.item:
            others = row.clone()
            others[hard.item] = -torch.inf
            (1 + (others > row[answer]).sum()).item()
    return 1000 * (perf_counter() - start) / count


def stages(model: QueryModel, queries: DeviceQueries, settings: NeuralSettings) -> dict[str, float]:
    """Microseconds of each stage of an eager step on one type, on a GPU; launches count, which capture saves."""
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    model.train()
    names = ("draw", "encode", "score and loss", "backward", "optimizer")
    total = dict.fromkeys(names, 0.0)
    for round_ in range(12):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(6)]
        optimizer.zero_grad(set_to_none=True)
        events[0].record()
        batch, positives = queries.draw(settings.batch_size, settings.answers)
        events[1].record()
        state = model.encode(batch)
        events[2].record()
        scores = model.scores(state, batch.shape.denotes_numbers)
        loss = smoothed_cross_entropy(scores, positives, 0.1)
        events[3].record()
        loss.backward()
        events[4].record()
        optimizer.step()
        events[5].record()
        torch.cuda.synchronize()
        if round_ >= 2:
            for index, name in enumerate(names):
                total[name] += 100 * events[index].elapsed_time(events[index + 1])
    return total


def main() -> None:
    """Measure the models named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("benchmark")
    parser.add_argument("--models", nargs="*", default=list(RELEASED))
    parser.add_argument("--encodings", nargs="*", default=list(ENCODINGS))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--dimension", type=int, default=300)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", choices=["tf32", "bf16"], default="bf16")
    parser.add_argument("--json", default=None)
    arguments = parser.parse_args()
    out = Console(width=150, highlight=False)
    device = device_for(arguments.device)
    torch.set_float32_matmul_precision("high")
    benchmark = Benchmark.open(arguments.benchmark)
    start = perf_counter()
    queries = training_queries(benchmark, device)
    synchronise(device)
    out.print(f"{sum(map(len, queries)):,} training queries on {device} in {perf_counter() - start:.1f} s")
    start = perf_counter()
    testing = EvaluationQueries.load(benchmark, Split.TEST, device)
    synchronise(device)
    out.print(f"{len(testing):,} testing queries with their answers in {perf_counter() - start:.1f} s")
    shares = np.array([len(each) for each in queries], dtype=np.float64)
    shares /= shares.sum()
    rows, found = [], []
    sizes = {"batch_size": arguments.batch_size, "dimension": arguments.dimension}
    for name in arguments.models:
        for encoding in arguments.encodings:
            settings = NeuralSettings.choose({"model": name, "encoding": encoding, **sizes})
            model = model_for(benchmark, settings, torch.Generator().manual_seed(0)).to(device)
            model.train()
            steps = CapturedSteps(model, queries, settings, arguments.precision == "bf16")
            start = perf_counter()
            steps.prepare()
            synchronise(device)
            captured = perf_counter() - start
            rate = training_rate(steps, shares, arguments.steps, device)
            inference = inference_time(model, queries, device)
            ranked = max(len(testing) / evaluate_scores(model.answer, testing).seconds for _ in range(2))
            released = RELEASED[name]
            plain = plain_ranking_time(model, testing)
            gains = f"{rate / released[0]:.1f}", f"{released[1] / inference:.1f}"
            speeds = (
                round(rate),
                gains[0],
                f"{inference:.5f}",
                gains[1],
                round(ranked),
                f"{ranked * (released[1] + plain) / 1000:.1f}",
            )
            rows.append((name, encoding, round(captured, 1), *speeds))
            row = {"model": name, "encoding": encoding, "training_queries_per_second": rate,
                   "inference_ms_per_query": inference, "evaluated_queries_per_second": ranked,
                   "plain_ranking_ms_per_query": plain}  # fmt: skip
            if device.type == "cuda":
                torch.cuda.synchronize()
                two_hops = next(each for each in queries if each.shape.text == "(i,(rp,(e)),(rp,(e)))")
                row["stages_us"] = stages(model, two_hops, settings)
                row["memory_gib"] = torch.cuda.max_memory_allocated() / 2**30
                torch.cuda.reset_peak_memory_stats()
            found.append(row)
            del steps, model
    columns = ("model", "encoding", "capture, s", "training, queries/s", "× released")
    columns += ("inference, ms/query", "× released", "evaluated, queries/s", "× with a plain loop")  # type: ignore[assignment]
    print_table(
        out,
        f"batch {arguments.batch_size}, dimension {arguments.dimension}, {device}, {arguments.precision}",
        columns,
        rows,
    )
    for row in found:
        if "stages_us" in row:
            out.print(f"{row['model']} {row['encoding']}: {json.dumps(row['stages_us'])} {row['memory_gib']:.1f} GiB")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
