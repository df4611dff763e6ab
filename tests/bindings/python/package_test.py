"""The Python package: values, errors, names, and that it says what the library says."""

import copy
import gc
import pickle
import re
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import interlock
from interlock import calls, library

ROOT = Path(__file__).resolve().parents[3]
HEADER = (ROOT / "bindings" / "c" / "interlock.h").read_text()
BUG = ROOT / "corpus" / "bugs" / "mlx-3630.ilk"


class Library(unittest.TestCase):
    def test_has_all_functions_of_the_header_that_are_declared_here(self):
        declared = set(re.findall(r"^ILK_API [^(]*?(ilk_\w+)\(", HEADER, re.M))
        self.assertGreater(len(declared), 60)
        self.assertLessEqual(set(library._FUNCTIONS), declared)
        # What the package has no use for.
        self.assertEqual(declared - set(library._FUNCTIONS), {"ilk_error_status", "ilk_finding_kind"})

    def test_takes_as_many_arguments_as_the_header_declares(self):
        text = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S)
        for name, arguments in re.findall(r"ILK_API [^;(]*?(ilk_\w+)\(([^)]*)\);", text):
            if name not in library._FUNCTIONS:
                continue
            count = 0 if arguments == "void" else arguments.count(",") + 1
            self.assertEqual(len(library._FUNCTIONS[name][1]), count, name)

    def test_has_the_options_and_the_abi_of_the_header(self):
        numbers = {int(n) for n in re.findall(r"ILK_\w+ =\s*(\d+)", HEADER.split("enum ilk_option {")[1].split("}")[0])}
        self.assertEqual(numbers, set(calls.OPTIONS.values()))
        self.assertIn(f"#define ILK_ABI_VERSION {library.ABI_VERSION}\n", HEADER)
        self.assertRegex(interlock.version(), r"^\d+\.\d+\.\d+$")

    def test_that_is_missing_is_told_when_it_is_needed_and_not_before(self):
        script = "import interlock\nprint('there')\ninterlock.check('interlock 1')"
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                             env={"PYTHONPATH": str(ROOT / "bindings/python"), "INTERLOCK_LIBRARY": "/nowhere.so"})
        self.assertEqual(run.stdout, "there\n")
        self.assertIn("Install Interlock, build it", run.stderr)

    def test_is_one_package_with_the_recorder_whatever_stands_first(self):
        folders = [str(ROOT / "bindings/python"), str(ROOT / "capture/torch")]
        script = "import interlock, importlib.util as u; print(interlock.version() and u.find_spec('interlock.torch').origin)"
        for order in (folders, folders[::-1]):
            run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                                 env={"PYTHONPATH": ":".join(order), "INTERLOCK_LIBRARY": library.library()._name})
            self.assertEqual(run.stdout.strip(), str(ROOT / "capture/torch/interlock/torch/__init__.py"), run.stderr)
        # The recorder alone needs no library.
        run = subprocess.run([sys.executable, "-c", "import interlock.torch.byte_ranges as b; print(b.__name__)"],
                             capture_output=True, text=True, env={"PYTHONPATH": folders[1]})
        if "No module named 'torch'" not in run.stderr:
            self.assertEqual(run.stdout, "interlock.torch.byte_ranges\n", run.stderr)


class Reports(unittest.TestCase):
    def test_are_those_of_the_bug(self):
        program = interlock.read(BUG)
        self.assertEqual(program.source, BUG.read_text())
        report = interlock.check(program)
        self.assertTrue(report.is_as_expected)
        (finding,) = report.findings
        self.assertEqual((finding.kind, finding.observability), ("WAR", "observable"))
        self.assertTrue(finding.is_observable)
        self.assertEqual((finding.memory, finding.begin, finding.end), ("g_bytes", 0, 4096))
        self.assertEqual((finding.first.label, finding.first.kernel, finding.first.tensor), ("reduce", "col_sum", "g"))
        self.assertEqual(program.source.splitlines()[finding.second.line - 1][:4], "vjp:")
        self.assertEqual(finding.expectation, "expect WAR reduce vjp")
        self.assertIn(finding.headline, str(report))
        self.assertIn(str(finding), str(report))
        self.assertEqual(report.json["findings"][0]["headline"], finding.headline)
        self.assertEqual(report.json["fewest_barriers"], report.fewest_barriers)
        self.assertEqual(report, interlock.check(program))
        self.assertFalse(interlock.check(program, ignore_expect=True).is_as_expected)

    def test_of_several_queues_have_no_bounds(self):
        for path in sorted((ROOT / "corpus/queues").glob("*.ilk"))[:8]:
            report = interlock.check(interlock.read(path))
            self.assertTrue(report.is_as_expected, path)
            self.assertEqual(report.fewest_barriers, report.json["fewest_barriers"])

    def test_keep_bytes_that_are_no_utf_8(self):
        text = b"interlock 1\n# \xff\nmemory a 4\n".decode("utf-8", "surrogateescape")
        program = interlock.parse(text)
        self.assertEqual(program.source, text)
        self.assertTrue(interlock.check(program).is_as_expected)


class Copies(unittest.TestCase):
    def test_of_programs_outlive_each_other(self):
        program = interlock.read(BUG)
        source, name = program.source, program.name
        pickled = pickle.dumps([program])
        copies = [copy.copy(program), copy.deepcopy([program])[0]] + pickle.loads(pickled)
        del program
        gc.collect()
        for made in copies:
            self.assertEqual((made.source, made.name), (source, name))
            self.assertEqual(len(interlock.check(made).findings), 1)

    def test_of_builders_are_refused(self):
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "a Builder has no copies"):
                copied(interlock.Builder())


class Finds(unittest.TestCase):
    def test_say_why_there_is_no_answer(self):
        failure = interlock.find("exec:false", run_count=1)
        self.assertIn("# The encoder ended with status 1 before it had answered.", failure.source)


class Errors(unittest.TestCase):
    def test_have_a_place_where_there_is_one(self):
        with self.assertRaises(interlock.BadInput) as caught:
            interlock.check("interlock 1\nmemory a 4096\ndispatch Produce writes b\n")
        self.assertEqual((caught.exception.line, caught.exception.column), (3, 25))
        with self.assertRaises(interlock.BadInput) as caught:
            interlock.read("/nowhere/at.ilk")
        self.assertIsNone(caught.exception.line)

    def test_are_told_apart(self):
        with self.assertRaisesRegex(ValueError, "Did you mean 'mlx-202"):
            interlock.encode("interlock 1\n", "mlx-2027")
        with self.assertRaises(interlock.NothingToDo):
            interlock.minimize("interlock 1\nmemory a 4\n")
        with self.assertRaisesRegex(TypeError, "5 is neither a Program nor the text of one"):
            interlock.check(5)
        with self.assertRaisesRegex(TypeError, "no option 'colour'"):
            interlock.check("interlock 1\n", colour=1)
        with self.assertRaisesRegex(ValueError, "seed=-1"):
            interlock.find("interlock", seed=-1)
        for seconds in (-1, float("nan"), float("inf")):
            with self.assertRaisesRegex(ValueError, "seconds="):
                interlock.check("interlock 1\n", seconds=seconds)
        with self.assertRaises(ValueError):
            interlock.Builder().memory("a b", 4)
        with self.assertRaises(ValueError):
            interlock.Builder().memory("a", -4)
        with self.assertRaises(ValueError):
            interlock.Builder().line("memory a\0 4")

    def test_leave_a_builder_as_it_was(self):
        builder = interlock.Builder().memory("a", 4)
        with self.assertRaises(ValueError):
            builder.barrier().dispatch("reads")
        self.assertEqual(builder.text, "interlock 1\nmemory a 4\nbarrier\n")
        builder.line("dispatch Add reads b")
        with self.assertRaises(interlock.BadInput) as caught:
            builder.build()
        self.assertEqual(caught.exception.line, 4)


class Threads(unittest.TestCase):
    def test_share_programs(self):
        program = interlock.read(BUG)
        expected = interlock.check(program)
        reports = [None] * 4

        def check(i):
            reports[i] = interlock.check(program)

        threads = [threading.Thread(target=check, args=(i,)) for i in range(len(reports))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(reports, [expected] * len(reports))


if __name__ == "__main__":
    unittest.main(verbosity=2)
