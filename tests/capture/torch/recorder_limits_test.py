"""The PyTorch recorder: streams, limits, and what it does not understand."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch

from interlock.torch import operations, record, streams
from interlock.torch.__main__ import main
from interlock.torch.names import word_of

from recorded_program import RecordedProgram
from recording import Recording, interlock, script
from stream_stand_ins import FakeCuda


class Streams(unittest.TestCase):
    """Of stand-ins for torch.cuda: what its calls become. No GPU is asked."""

    def test_become_queues_and_events_semaphores(self):
        for waits in (False, True):
            cuda = FakeCuda()
            status, output = interlock("check", "-", text=cuda.two_streams(waits))
            self.assertEqual(status, 0 if waits else 1, output)
            self.assertEqual("RAW hazard: use" in output, not waits)

    def test_the_host_waits_for_what_it_waits_for(self):
        cuda = FakeCuda()
        lines = cuda.host_waits()
        self.assertEqual(
            lines,
            [
                "signal event1=1 on cuda0.stream1",
                "host waits event1=1",
                "host idle on cuda0.stream1",
                "host idle",
                "signal event1=2 on cuda0.default",
                "wait event1=2 on cuda0.stream1",
            ],
        )


    def test_have_the_operations_that_run_on_them(self):
        for waits in (False, True):
            cuda = FakeCuda()

            def work():
                made = torch.tensor([1.0, 2.0, 3.0, 4.0]) + 1.0
                side = cuda.Stream(7)
                if waits:
                    side.wait_stream(cuda, cuda.default)
                cuda.current = side
                doubled = made * 2
                cuda.current = cuda.default
                return made, doubled

            # Tensors of the CPU pass for those of a device.
            with mock.patch.multiple(streams, kDeviceType="cpu", kHostType="none"):
                recording = Recording(work, is_observed=False, cuda=cuda)
            self.assertIn("cuda0.default: queue legacy-default\n", recording.text)
            arrival = "dispatch Host.tensor writes input on cpu\nhost idle on cpu\n"
            self.assertIn(arrival, recording.text)
            self.assertIn("\nmul: dispatch Aten.mul.Tensor reads ", recording.text)
            self.assertIn(" on cuda0.stream1\n", recording.text)
            status, output = interlock("check", recording.path)
            self.assertEqual(status, 0 if waits else 1, output)
            self.assertEqual("RAW hazard: mul " in output, not waits)


    def test_show_memory_that_is_used_again_too_early(self):
        """What torch.Tensor.record_stream() is for: the allocator gives bytes to another tensor while a
        stream that it does not know of still reads them."""
        for waits in (False, True):
            cuda, addresses, size = FakeCuda(), [], 1 << 18
            torch.empty(4 * size)  # From here on malloc keeps such sizes, and fills holes.

            def work():
                side = cuda.Stream(7)
                made = torch.full((size,), 1.0)
                side.wait_stream(cuda, cuda.default)
                cuda.current = side
                doubled = made * 2
                cuda.current = cuda.default
                if waits:
                    cuda.default.wait_stream(cuda, side)
                addresses.append(made.data_ptr())
                del made
                kept = [torch.full((size // 2,), 3.0) for _ in range(8)]
                addresses.extend(tensor.data_ptr() for tensor in kept)
                return doubled, kept

            with mock.patch.multiple(streams, kDeviceType="cpu", kHostType="none"):
                recording = Recording(work, is_observed=False, cuda=cuda)
            self.assertTrue(any(0 <= a - addresses[0] < 4 * size for a in addresses[1:]))
            self.assertEqual(interlock("check", recording.path)[0], 0)
            status, output = interlock("check", recording.placed_path)
            self.assertEqual(status, 0 if waits else 1, output)
            self.assertEqual("WAR hazard: full" in output, not waits)


class Limits(unittest.TestCase):
    def test_what_is_not_understood_is_named(self):
        def work():
            dense = torch.randn(3, 3)
            return dense.to_sparse() + dense.to_sparse(), dense * 2

        recording = Recording(work, is_observed=False)
        self.assertIn("times: torch.sparse_coo operand of Aten.", recording.text)
        self.assertIn("dispatch Aten.mul.Tensor ", recording.text)
        self.assertEqual(interlock("check", recording.path)[0], 0)

    def test_a_failure_of_the_recorder_does_not_end_the_script(self):
        def fails(operation):
            raise KeyError(operation)

        with mock.patch.object(operations, "results_are_written", fails):
            recording = Recording(lambda: torch.ones(3) + torch.ones(3), is_observed=False)
        self.assertEqual(recording.kept.tolist(), [2.0, 2.0, 2.0])
        self.assertIn("# Not understood, 2 times: Aten.ones (KeyError).\n", recording.text)
        self.assertIn("# Not understood, 1 times: Aten.add.Tensor (KeyError).\n", recording.text)

    def test_a_part_of_a_script_is_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "part.ilk")
            x = torch.ones(2, requires_grad=True)
            with self.assertRaises(ZeroDivisionError):
                with record(str(path)) as recorder:
                    (x * 3.0).sum().backward()
                    1 // 0
            torch.ones(2).add_(1.0)
            text = path.read_text("ascii")
            self.assertIn("\ntensor input f32[2] = random(0)\n", text)
            self.assertIn("# Not all of the run: it ended with ZeroDivisionError.\n", text)
            self.assertEqual(recorder.counts["dispatches"], text.count(": dispatch "))
            self.assertNotIn("Aten.add_", text)
            self.assertEqual(interlock("check", str(path))[0], 0)

    def test_every_encoder_takes_it_with_frees_and_without(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "frees.ilk")
            for frees in (True, False):
                with record(str(path), frees=frees):
                    kept = torch.ones(4)
                    for _ in range(3):
                        kept = kept * 2.0
                text = path.read_text("ascii")
                self.assertEqual("\nfree " in text, frees)
                self.assertEqual("# Without frees: " in text, not frees)
                self.assertEqual(interlock("check", str(path))[0], 0)
                for encoder in ("interlock", "semaphores", "streams", "edges", "mlx-cuda"):
                    status, output = interlock("encode", str(path), f"--encoder={encoder}")
                    self.assertEqual(status, 0, output)
        with self.assertRaises(SystemExit) as refused:
            self.command("--addresses", "--without-frees", "x.py")
        self.assertEqual(refused.exception.code, 2)

    def test_end_the_recording_and_not_the_script(self):
        recording = Recording(script("norms_step"), operation_count_max=50)
        self.assertIn("# Not all of the run: recording ended at operation 50.", recording.text)
        self.assertEqual(recording.recorder.counts["operations"], 50)

    def test_many_operands_are_several_dispatches(self):
        def work():
            parts = [torch.full((2,), float(i)) for i in range(600)]
            torch._foreach_add_(parts, 1.0)
            return torch.cat(parts), parts

        recording = Recording(work)
        self.assertIn("# 2 operations have more operands than a dispatch", recording.text)
        self.assertEqual(interlock("check", recording.path)[0], 0)

    def test_two_views_of_one_array_are_one_memory(self):
        import numpy

        def work():
            array = numpy.arange(8, dtype=numpy.float32)
            whole, part = torch.from_numpy(array), torch.from_numpy(array[4:])
            part.mul_(2.0)
            return whole + 1.0, array

        recording = Recording(work)
        program = RecordedProgram(recording.text)
        kernels = ("Aten.mul_.Tensor", "Aten.add.Tensor")
        mul, add = [s for s in program.dispatches() if s.kernel in kernels]
        self.assertEqual(mul.writes[0].memory, add.reads[0].memory)
        outcome = recording.replay(drops_operands=True)
        self.assertEqual((outcome.differences, outcome.missed["write"]), ([], set()))

    def test_of_the_command_line_are_told(self):
        exits, raises = "import sys; sys.exit(3)", "import torch; torch.ones(2) + 1; raise ValueError"
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "out.ilk")
            for text, status, told in (
                (exits, 3, "Not understood: nothing."),
                (raises, 1, "it ended with ValueError."),
            ):
                script_path = Path(folder, "one.py")
                script_path.write_text(text)
                self.assertEqual(self.command("-o", str(output), str(script_path))[0], status)
                self.assertIn(told, output.read_text("ascii"))
            missing = str(Path(folder, "missing.py"))
            status, told = self.command(missing)
            self.assertEqual((status, told), (2, f"interlock.torch: there is no script '{missing}'.\n"))
            status, told = self.command("-o", f"{folder}/no/out.ilk", str(script_path))
            self.assertEqual(status, 2)
            self.assertIn("no/out.ilk cannot be written: No such file or directory.", told)

    def command(self, *arguments):
        """Returns exit status and standard error of `python3 -m interlock.torch`, run here."""
        with mock.patch.multiple(sys, argv=["interlock.torch", *arguments], path=list(sys.path)):
            with contextlib.redirect_stderr(io.StringIO()) as stderr:
                return main(), stderr.getvalue()


class Names(unittest.TestCase):
    """Of what is recorded: none is a word of the format."""

    def test_are_changed_exactly_where_the_format_takes_the_word(self):
        words = (
            "reads writes updates atomics partial approximate order on indirect uniform actual "
            "transitions discards none device graphics copy memory tensor barrier weight"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "name.ilk")
            for word in words.split():
                name = word_of(word)
                statuses = []
                for spelled in (word, name):
                    path.write_text(f"interlock 1\ntensor {spelled} f32[1]\n")
                    statuses.append(interlock("print", str(path))[0])
                self.assertEqual(statuses, [0 if name == word else 2, 0], word)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main(verbosity=2)
