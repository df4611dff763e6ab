"""The PyTorch recorder: its programs against the runs that they are of."""

import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch

from interlock.torch import operations
from interlock.torch.byte_ranges import bounds_of, exact_ranges, rows_of, shape_of

from recorded_program import RecordedProgram
from recording import Recording, figures, interlock, kHere, kStepCounts, script

kModels = tuple(kStepCounts)

# Operations that take tensors which they do not need with these arguments: a batch norm's backward
# pass in training the running statistics, a layer norm's the bias, for one.
kReadsMoreThanItNeeds = {
    "Aten.convolution_backward",
    "Aten.native_batch_norm_backward",
    "Aten.native_layer_norm_backward",
    "Aten.nll_loss_backward",
    "Aten.rrelu_with_noise_backward",
}


recordings = {}


def recording_of(name):
    if name not in recordings:
        recordings[name] = Recording(script(name))
    return recordings[name]


class RecordedModels(unittest.TestCase):
    def test_are_what_the_run_did(self):
        for name in kModels:
            with self.subTest(name):
                recording = recording_of(name)
                outcome = recording.replay(drops_operands=True)
                self.assertEqual(outcome.differences, [])
                self.assertGreater(len(outcome.kernels), 40)
                # Each operand in turn is left out, and found to be missing.
                self.assertGreater(outcome.dropped["write"], 250)
                self.assertGreater(outcome.dropped["read"], 400)
                self.assertEqual(outcome.missed["write"], set())
                self.assertLessEqual(outcome.missed["read"], kReadsMoreThanItNeeds)

    def test_have_the_same_statements_with_and_without_addresses(self):
        for name in kModels:
            recording = recording_of(name)
            free = RecordedProgram(recording.text)
            arrivals = [s for s in recording.placed.dispatches() if s.kernel == "Host.tensor"]
            self.assertGreaterEqual(len(arrivals), 2)
            self.assertEqual(
                [s.line for s in free.dispatches() if s.kernel != "Host.tensor"],
                [s.line for s in recording.placed.dispatches() if s.kernel != "Host.tensor"],
            )

    def test_are_clean_as_they_ran_also_where_the_allocator_placed_them(self):
        for name in kModels:
            recording = recording_of(name)
            for path in (recording.path, recording.placed_path):
                status, output = interlock("check", path)
                self.assertEqual(status, 0, output)
                self.assertIn("no findings", output)

    def test_are_encoded_and_planned(self):
        for name in kModels:
            recording = recording_of(name)
            _, recorded = interlock("check", recording.path)
            dispatches, _, barriers, fewest = figures(recorded)
            self.assertEqual(barriers, dispatches - 1)
            self.assertLess(fewest, barriers)
            status, encoded = interlock("encode", recording.path, "--encoder=interlock")
            self.assertEqual(status, 0)
            status, output = interlock("check", "-", text=encoded)
            self.assertEqual((status, figures(output)[2]), (0, fewest))
            status, planned = interlock(
                "encode", recording.path, "--planner=liveness", "--encoder=interlock"
            )
            self.assertEqual(status, 0)
            status, output = interlock("check", "-", text=planned)
            self.assertEqual((status, figures(output)[0]), (0, dispatches))

    def test_end_values_when_their_memory_is_given_back(self):
        text = recording_of("norms_step").text
        self.assertGreater(text.count("\nfree "), 100)
        program = RecordedProgram(text)
        # The first value that is freed and that somebody reads is freed before its last reader.
        for free in (s for s in program.statements if s.kind == "free"):
            readers = [d for d in program.dispatches() if free.reads[0] in d.reads]
            if readers:
                break
        lines = text.split("\n")
        lines.remove(free.line)
        lines.insert(lines.index(readers[-1].line), free.line)
        status, output = interlock("check", "-", text="\n".join(lines))
        self.assertEqual(status, 1)
        self.assertIn(f"use-after-free: {readers[-1].label} ", output)

    def test_name_modules_forward_and_backward(self):
        text = recording_of("transformer_step").text
        for label in (
            "Transformer.blocks.0.norm1.native_layer_norm",
            "Transformer.blocks.1.attention._softmax",
            "Transformer.blocks.1.GeluBackward0.gelu_backward",
            "Transformer.blocks.0.attention.qkv.AddmmBackward0.mm",
            "Transformer.tokens.weight.mul_",
        ):
            self.assertIn(f"\n{label}: dispatch ", text)
        self.assertIn("\ntensor Transformer.blocks.1.up.weight f32[64,16]\n", text)
        self.assertIn("# Not understood: nothing.\n", text)

    def test_are_the_same_bytes_each_time(self):
        once = _recorded_by_command("norms_step.py", "1")
        kept = (kHere / "../../../corpus/streams/torch-norms.ilk").read_text("ascii")
        # Another version of PyTorch may have other operations.
        if f"with PyTorch {torch.__version__}." not in kept:
            kept = _recorded_by_command("norms_step.py", "2")
        self.assertEqual(once, kept)


def _recorded_by_command(name, hash_seed):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", "-m", "interlock.torch", str(kHere / name)]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
        assert b"losses:" in done.stdout
        return Path(folder, name).with_suffix(".ilk").read_text("ascii")


class PlantedFaults(unittest.TestCase):
    def test_mutations_that_the_schema_leaves_out_are_found(self):
        with mock.patch.object(operations, "kUnmarkedMutations", {}):
            recording = Recording(script("norms_step"))
        outcome = recording.replay(drops_operands=False)
        labels = {difference.label for difference in outcome.differences}
        self.assertIn("Norms.batch.native_batch_norm", labels)
        self.assertIn("Norms.noise.rrelu_with_noise", labels)

    def test_an_operation_that_is_not_seen_is_found(self):
        recording = recording_of("norms_step")
        text = Path(recording.placed_path).read_text("ascii")
        for kernel in ("Aten.mul_.Tensor", "Aten.native_group_norm", "Aten.add_.Tensor"):
            lines = text.split("\n")
            lines.remove(next(line for line in lines if f"dispatch {kernel} " in line))
            outcome = recording.replay(False, RecordedProgram("\n".join(lines)))
            self.assertNotEqual(outcome.differences, [], kernel)


class Threads(unittest.TestCase):
    def test_of_autograd_and_of_the_script_are_seen(self):
        recording = Recording(script("nested_step"))
        threads = {
            label: {o.thread for o in recording.run.operations if label in (o.label or "")}
            for label in ("tanh_backward", "randn")
        }
        # Past depth 60 autograd goes on on a thread of its own; the script's one has ended.
        self.assertEqual([len(ids) for ids in threads.values()], [1, 1])
        self.assertNotEqual(threads["tanh_backward"], threads["randn"])
        outcome = recording.replay(drops_operands=True)
        self.assertEqual(outcome.differences, [])
        self.assertIn("Aten.tanh_backward", outcome.kernels)
        self.assertEqual(outcome.missed["write"], set())
        self.assertEqual(interlock("check", recording.path)[0], 0)


def strided_work():
    """More runs than are told apart, parts of rows, transposed, overlapping and resized tensors."""
    torch.manual_seed(5)
    x = torch.randn(90, 8)
    buffer = torch.empty(90, 8)
    buffer[:, :3] = x[:, 5:]
    buffer[:, 3:] = x[:, :5]
    x[:, :3].mul_(2.0)
    few = torch.zeros(6, 8)
    few[:, 2:5].add_(x[:6, 2:5])
    windows = x.as_strided((5, 4), (2, 1)).sum(1)
    product = torch.mm(few.t(), few)
    small = torch.empty(0)
    torch.add(product, product, out=small)
    torch.addmm(torch.empty(3, 3), x[:3, :3], x[6:9, :3], beta=0)
    table = torch.zeros(8, 3)
    table.index_put_((torch.tensor([1, 1, 5]),), x[:3, :3], accumulate=True)
    return x, buffer, few, windows, small, table, x.double().t()[1::2].sum(), (x > 0).sum()


class StridedTensors(unittest.TestCase):
    def test_are_what_the_run_did(self):
        for strides in ("ranges", "rows"):
            with self.subTest(strides):
                recording = Recording(strided_work, strides)
                outcome = recording.replay(drops_operands=True)
                self.assertEqual(outcome.differences, [])
                self.assertEqual(outcome.missed["write"], set())
                self.assertLessEqual(outcome.missed["read"], kReadsMoreThanItNeeds)
                bounded = recording.recorder.counts["strided, bounded"]
                (self.assertGreater if strides == "ranges" else self.assertEqual)(bounded, 0)
                self.assertEqual(" rows " in recording.text, strides == "rows")
                self.assertEqual(interlock("check", recording.path)[0], 0)

    def test_have_the_bytes_of_their_elements(self):
        draw = random.Random(6)
        for _ in range(2000):
            rank = draw.randint(0, 4)
            sizes = [draw.choice((0, 1, 1, 2, 2, 3, 5)) for _ in range(rank)]
            strides = [draw.choice((0, 1, 2, 3, 4, 6, 8, 24)) for _ in range(rank)]
            offset, item_bytes = draw.randint(0, 5), draw.choice((1, 2, 4, 8))
            elements = {offset}
            for size, stride in zip(sizes, strides):
                elements = {e + stride * i for e in elements for i in range(size)}
            expected = {e * item_bytes + i for e in elements for i in range(item_bytes)}
            shape = shape_of(offset, sizes, strides, item_bytes)
            if shape is None:
                self.assertEqual(expected, set())
                continue
            self.assertEqual(_bytes_of(exact_ranges(shape, 1000)), expected)
            self.assertEqual(_bytes_of(rows_of(shape, 1000)), expected)
            (bounds,) = bounds_of(shape)
            self.assertEqual((bounds.begin, bounds.end), (min(expected), max(expected) + 1))
            for operand in rows_of(shape, 1000):
                self.assertTrue(operand.rows == 1 or operand.width <= operand.pitch)
            ranges = exact_ranges(shape, 1000)
            self.assertTrue(all(a.end < b.begin for a, b in zip(ranges, ranges[1:])))


def _bytes_of(operands):
    found = set()
    for begin, end, rows, pitch, width in operands:
        if rows == 1:
            found |= set(range(begin, end))
        for row in range(rows if rows > 1 else 0):
            found |= set(range(begin + row * pitch, begin + row * pitch + width))
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main(verbosity=2)
