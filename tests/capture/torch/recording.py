"""Records functions and scripts for the tests, and asks `interlock` about them.

INTERLOCK names the program; PYTHONPATH has capture/torch.
"""

import functools
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

from interlock.torch.program_text import blocks_of, used_storages, write_program
from interlock.torch.recorder import Recorder
from interlock.torch.streams import Streams

from golden import replay
from observed_run import ObservedRun
from recorded_program import RecordedProgram

kHere = Path(__file__).parent
kInterlock = os.environ["INTERLOCK"]
kStepCounts = {"transformer_step": 1, "norms_step": 2}


class Recording:
    """A function, or a script, recorded and observed at the same time."""

    def __init__(self, function, strides="ranges", is_observed=True, cuda=None, **options):
        self.run = ObservedRun() if is_observed else None
        self.recorder = Recorder(strides=strides, observer=self.run, **options)
        if cuda is not None:
            self.recorder.streams = Streams(self.recorder.add_sync, cuda)
        self.recorder.start()
        try:
            self.kept = function()
        finally:
            self.recorder.stop()
        self.folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(self.folder.cleanup)
        self.path = self._write("free.ilk", False)
        self.placed_path = self._write("placed.ilk", True)
        self.bases = [begin for begin, _ in blocks_of(used_storages(self.recorder))]
        self.text = Path(self.path).read_text("ascii")

    @functools.cached_property
    def placed(self):
        """The program where the run had it, read by the tests' own rules: of one stream."""
        return RecordedProgram(Path(self.placed_path).read_text("ascii"))

    def replay(self, drops_operands, program=None):
        """Executes the recording, or `program`, and compares it with the run."""
        return replay(program or self.placed, self.run, self.bases, drops_operands)

    def _write(self, name, addresses):
        path = os.path.join(self.folder.name, name)
        write_program(self.recorder, path, addresses=addresses)
        return path


def script(name):
    """Returns a function that runs a script of this folder and returns what it keeps."""

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scope = {"__name__": "__main__"}
            arguments, sys.argv = sys.argv, [name, str(kStepCounts.get(name, 1))]
            stdout, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="ascii")
            try:
                exec(compile((kHere / f"{name}.py").read_text(), name, "exec"), scope)
            finally:
                sys.stdout.close()
                sys.argv, sys.stdout = arguments, stdout
            return scope

    return run


def interlock(*arguments, text=None):
    """Returns exit status and output of `interlock`."""
    done = subprocess.run(
        [kInterlock, *arguments], input=text, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def figures(output):
    """Returns dispatches, accesses, barriers and the fewest barriers of a check."""
    line = next(line for line in output.splitlines() if " dispatches, " in line)
    words = line.replace(",", "").replace(";", "").split()
    return int(words[0]), int(words[2]), int(words[4]), int(words[words.index("order") + 1])
