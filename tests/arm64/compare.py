#!/usr/bin/env python3
"""The same bytes on 64-bit ARM: compare.py NATIVE ARM64 FOLDER.

NATIVE and ARM64 are folders with `interlock` and the recorder's examples, built for either machine;
those of ARM64 run in QEMU's user mode. Both get the same commands, for every program of the corpus
and for campaigns of 2,000 programs each, and have to answer with the same status, standard output
and files, byte for byte. What they wrote stays in FOLDER. Status: 0 all equal, 1 something differs.
"""
import concurrent.futures
import itertools
import os
import pathlib
import shutil
import subprocess
import sys

EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
RUNS = 2000
ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDERS = ["recorder_example", "recorder_frame_example", "recorder_streams_example"]

# All programs at once: what is wrong, why, and what can go.
CORPUS = [
    ["check", "--all", "corpus"],
    ["check", "--all", "--format=json", "corpus"],
    ["check", "--all", "--format=sarif", "corpus"],
    ["bugs"],
    ["import", "corpus/graphs/gradient-norm.dot", "--accesses=corpus/graphs/gradient-norm.accesses"],
]

# Of each program: its text, its numbers on the CPU, its picture.
EACH_FILE = [
    ["print"],
    ["run", "--schedule=random", "--seed=7"],
    ["show", "--format=svg", "--output=-"],
]

# Each way to judge programs: an encoder that misses hazards, programs of several queues, and passes.
CAMPAIGNS = [
    ["--encoder=mlx-2024"],
    ["--encoder=interlock-scoped"],
    ["--queues"],
    ["--encoder=ggml-vulkan-25229"],
    ["--planner=ggml"],
    ["--backward=split-pytorch-180952"],
    ["--replay=pytorch-181723"],
]


class Machine:
    """One of the two builds, and the folder where its campaigns write."""

    def __init__(self, name, prefix, programs, folder):
        self.prefix = prefix
        self.programs = programs
        self.folder = folder / name
        self.folder.mkdir(parents=True)

    def answer(self, program, arguments, cwd=ROOT):
        """Returns the status of a command, its standard output, and what it says beside."""
        command = self.prefix + [str(self.programs / program)] + arguments
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode < 0 or done.returncode > 3:
            raise SystemExit(f"compare.py: {' '.join(command)}: status {done.returncode}\n"
                             + done.stderr.decode(errors="replace"))
        return done.returncode, done.stdout, done.stderr

    def recording(self, program):
        """Returns the status of a recorder's example, and the file that it wrote."""
        status, *_ = self.answer(program, ["stream.ilk"], cwd=self.folder)
        return status, (self.folder / "stream.ilk").read_bytes()

    def campaign(self, number, options):
        """Returns the answer of a campaign, and its files by name."""
        folder = self.folder / f"campaign{number}"
        folder.mkdir()
        arguments = ["fuzz", f"--runs={RUNS}", "--out=found", "--jobs=1", *options]
        # How far it is, which it says beside, depends on the time.
        answer = self.answer("interlock", arguments, cwd=folder)[:2]
        files = {path.name: path.read_bytes() for path in sorted((folder / "found").iterdir())}
        files["campaign.journal"] = without_build(files["campaign.journal"])
        return answer, files


def without_build(journal):
    """A journal without what names the build: its first line, and the sums that go on from there."""
    return b"\n".join(line.rpartition(b" ")[0] for line in journal.splitlines()[1:])


def compared_bytes(native, arm64):
    """Returns how many bytes two answers have in common; raises ValueError where they differ."""
    if native[0] != arm64[0]:
        raise ValueError(f"status {native[0]} here, {arm64[0]} on arm64")
    for here, there in zip(native[1:], arm64[1:]):
        if here == there:
            continue
        lines = list(itertools.zip_longest(here.splitlines(), there.splitlines()))
        number = next((i for i, (a, b) in enumerate(lines) if a != b), len(lines) - 1)
        shown = ["(the end)" if line is None else line[:300].decode(errors="replace")
                 for line in lines[number]]
        raise ValueError(f"line {number + 1}:\n    here:  {shown[0]}\n    arm64: {shown[1]}")
    return sum(len(part) for part in native[1:])


class Comparison:
    """Counts what was the same, and says what was not."""

    def __init__(self, native, arm64):
        self.machines = (native, arm64)
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        self.failures = 0

    def both(self, ask):
        return tuple(self.pool.map(ask, self.machines))

    def compare(self, what, native, arm64):
        try:
            return compared_bytes(native, arm64)
        except ValueError as difference:
            self.failures += 1
            print(f"differs: {what}: {difference}", flush=True)
            return 0

    def corpus(self):
        for arguments in CORPUS:
            answers = self.both(lambda machine: machine.answer("interlock", arguments))
            size = self.compare(" ".join(arguments), *answers)
            print(f"corpus: interlock {' '.join(arguments)}: {size} bytes", flush=True)

    def each_file(self):
        files = sorted(path.relative_to(ROOT) for path in ROOT.glob("corpus/**/*.ilk"))
        if len(files) < 300:
            raise SystemExit(f"compare.py: the corpus has {len(files)} programs only.")
        for arguments in EACH_FILE:
            asked = [(machine, [*arguments, str(file)]) for file in files for machine in self.machines]
            answers = list(self.pool.map(lambda a: a[0].answer("interlock", a[1]), asked))
            size = sum(self.compare(" ".join(asked[i][1]), answers[i], answers[i + 1])
                       for i in range(0, len(asked), 2))
            print(f"corpus: interlock {' '.join(arguments)}, {len(files)} programs: {size} bytes",
                  flush=True)

    def campaigns(self):
        for number, options in enumerate(CAMPAIGNS):
            what = f"fuzz --runs={RUNS} {' '.join(options)}"
            (native, here), (arm64, there) = self.both(lambda m: m.campaign(number, options))
            size = self.compare(what, native, arm64)
            if list(here) != list(there):
                self.failures += 1
                print(f"differs: {what}: files {list(here)} here, {list(there)} on arm64")
            for name in here.keys() & there.keys():
                size += self.compare(f"{what}: {name}", (0, here[name]), (0, there[name]))
            print(f"campaign: interlock {what}: {len(here)} files, {size} bytes", flush=True)

    def recorders(self):
        for program in RECORDERS:
            size = self.compare(program, *self.both(lambda machine: machine.recording(program)))
            print(f"recorder: {program}: {size} bytes", flush=True)


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    native, arm64, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    comparison = Comparison(Machine("native", [], native, folder),
                            Machine("arm64", EMULATOR, arm64, folder))
    comparison.recorders()
    comparison.campaigns()
    comparison.corpus()
    comparison.each_file()
    if comparison.failures:
        print(f"arm64: {comparison.failures} answers differ; what campaigns wrote is in {folder}.")
        return 1
    print("arm64: the same bytes as here.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
