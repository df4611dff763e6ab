#!/usr/bin/env python3
"""How soon planted bugs are found: engines.py INTERLOCK LIBFUZZER AFL MUTATOR FOLDER.

LIBFUZZER and AFL are fuzz_spine_fuzzer for either engine, both without sanitizers. Each engine begins
with an empty program, on one core, with the seeds 1 to 5. Prints the tables of docs/campaigns.md.
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

BUGS = ["none", "mlx-2024", "ggml-vulkan-27805"]
SEEDS = range(1, 6)
EXECUTIONS_MAX = 20_000  # Until a bug is found; far more than it takes.
RATE_EXECUTIONS = 2_000


def run(command, folder, **environment):
    """Returns what a command says on both outputs, and how long it took in seconds."""
    begin = time.monotonic()
    done = subprocess.run([str(part) for part in command], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    return done.stdout.decode(errors="replace"), time.monotonic() - begin


def number(pattern, text):
    found = re.search(pattern, text)
    if found is None:
        raise SystemExit(f"engines.py: no '{pattern}' in:\n{text[-2000:]}")
    return float(found[1])


class Interlock:
    name = "`interlock fuzz`"
    options = []

    def __init__(self, program):
        self.program = program

    def start(self, encoder, folder, *options):
        return run([self.program, "fuzz", f"--encoder={encoder}", "--jobs=1", *self.options, *options],
                   folder)

    def rate(self, folder):
        text, seconds = self.start("interlock", folder, f"--runs={EXECUTIONS_MAX}")
        return number(r"(\d+) programs", text) / seconds

    def find(self, bug, seed, folder):
        text, seconds = self.start(bug, folder, f"--seed={seed}", "--max-finds=1")
        return seconds, self.executions(text)

    def executions(self, text):
        return number(r"--first-run=(\d+)", text) + 1


class GuidedInterlock(Interlock):
    name = "`interlock fuzz --guided`"
    options = ["--guided"]

    def executions(self, text):
        return number(r"Again: .* --runs=(\d+)", text)


class LibFuzzer:
    name = "libFuzzer"

    def __init__(self, program):
        self.program = program

    def start(self, seed, folder, executions, **environment):
        return run([self.program, f"-seed={seed}", "-max_len=8192", f"-runs={executions}",
                    "-print_final_stats=1", "-artifact_prefix=./"], folder, **environment)

    def rate(self, folder):
        text, seconds = self.start(1, folder, RATE_EXECUTIONS)
        return number(r"number_of_executed_units: (\d+)", text) / seconds

    def find(self, bug, seed, folder):
        text, seconds = self.start(seed, folder, EXECUTIONS_MAX, INTERLOCK_ENCODER=bug)
        if "deadly signal" not in text:
            raise SystemExit(f"engines.py: libFuzzer does not find {bug} with seed {seed}")
        return seconds, number(r"number_of_executed_units: (\d+)", text)


class Afl:
    name = "AFL++"

    def __init__(self, program, mutator):
        self.program = program
        self.mutator = mutator

    def start(self, seed, folder, executions, **environment):
        (folder / "seeds").mkdir()
        (folder / "seeds/empty.ilk").write_text("interlock 1\n")
        script = pathlib.Path(__file__).resolve().parent / "afl_environment.sh"
        return run(["bash", "-c", f'source {script}; exec afl-fuzz "$@"', "afl-fuzz", "-s", seed,
                    "-i", "seeds", "-o", "out", "-E", executions, "--", self.program],
                   folder, MUTATOR=str(self.mutator), **environment)

    def rate(self, folder):
        _, seconds = self.start(1, folder, RATE_EXECUTIONS)
        stats = (folder / "out/default/fuzzer_stats").read_text()
        return number(r"execs_done +: (\d+)", stats) / seconds

    def find(self, bug, seed, folder):
        text, seconds = self.start(seed, folder, EXECUTIONS_MAX, AFL_BENCH_UNTIL_CRASH="1",
                                   INTERLOCK_ENCODER=bug)
        crashes = sorted((folder / "out/default/crashes").glob("id:*"))
        if not crashes:
            raise SystemExit(f"engines.py: AFL++ does not find {bug} with seed {seed}:\n{text[-2000:]}")
        return seconds, number(r"execs:(\d+)", crashes[0].name)


def main():
    if len(sys.argv) != 6:
        print(__doc__, file=sys.stderr)
        return 2
    interlock, libfuzzer, afl, mutator, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    engines = [Interlock(interlock), GuidedInterlock(interlock), LibFuzzer(libfuzzer), Afl(afl, mutator)]

    def fresh(name):
        (folder / name).mkdir(parents=True)
        return folder / name

    rates = [engine.rate(fresh(f"rate{i}")) for i, engine in enumerate(engines)]
    print("| | " + " | ".join(engine.name for engine in engines) + " |")
    print("|---|" + "---|" * len(engines))
    print("| executions a second | " + " | ".join(f"{rate:.0f}" for rate in rates) + " |", flush=True)
    for bug in BUGS:
        cells = []
        for i, engine in enumerate(engines):
            finds = [engine.find(bug, seed, fresh(f"{bug}-{i}-{seed}")) for seed in SEEDS]
            seconds, executions = ([find[k] for find in finds] for k in (0, 1))
            cells.append(f"{statistics.median(seconds):.2f} s, {max(seconds):.2f} s at most; "
                         f"{statistics.median(executions):.0f} executions")
        print(f"| `{bug}` | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
