#!/usr/bin/env python3
"""capture_overhead.py BUILD [--rounds=N] [--briefly]: what the layer costs an application.

Two tables: nanoseconds that the layer adds to a recorded command, by kind, of CPU time of its thread; and the
CPU time and the time of FFmpeg's filters under the layer, as a multiple of that without. All by turns, so that
other work on the machine meets all alike; the medians of the rounds. Of a capture only the run is timed: what
`interlock` does with the log comes after it.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# What each column asks of the layer; None: it is not there.
MODES = {
    "without": None,
    "layer": {},
    "--backtrace": {"INTERLOCK_CAPTURE_OPTIONS": "backtrace"},
    "--exact": {"INTERLOCK_CAPTURE_EXACT": "1"},
}
FILTERS = {"avgblur_vulkan": 20, "gblur_vulkan": 5, "chromaber_vulkan": 100, "scale_vulkan=160:120": 200}


def environment_of(mode, build, folder):
    """As `interlock capture` sets it (fuzz/cli/captured_environment.cc)."""
    environment = dict(os.environ)
    if MODES[mode] is None:
        return environment
    environment["VK_ADD_LAYER_PATH"] = str(build / "capture" / "layer")
    environment["VK_INSTANCE_LAYERS"] = "VK_LAYER_INTERLOCK_capture"
    environment["INTERLOCK_CAPTURE_DIR"] = folder
    environment.update(MODES[mode])
    return environment


def run(command, mode, build):
    """What it prints, its CPU time, and its time, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        done = subprocess.run(command, env=environment_of(mode, build, folder), capture_output=True, text=True)
        seconds = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{command[0]} ended with status {done.returncode}: {done.stderr}")
        if (MODES[mode] is not None) != bool(os.listdir(folder)):
            sys.exit(f"{command[0]} was not run as '{mode}' says: it needs a Vulkan loader that takes layers.")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return done.stdout, cpu, seconds


def print_row(cells):
    print("| " + " | ".join(cells) + " |")


def print_head(first, columns):
    print_row([first, *columns])
    print_row(["---"] + ["--:"] * len(columns))


def measure_commands(build, rounds, mode_of_application):
    command = [str(build / "tests" / "sample_application"), mode_of_application]
    found = {mode: {} for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            for line in run(command, mode, build)[0].splitlines():
                kind, nanoseconds = line.split()
                found[mode].setdefault(kind, []).append(float(nanoseconds))
    print_head("command, ns", ["without", *(f"{mode} adds" for mode in MODES if mode != "without")])
    for kind, alone in found["without"].items():
        base = statistics.median(alone)
        added = [statistics.median(found[mode][kind]) - base for mode in MODES if mode != "without"]
        print_row([kind, f"{base:.0f}", *(f"{nanoseconds:.0f}" for nanoseconds in added)])
    print()


def ffmpeg(name, frames):
    return ["ffmpeg", "-v", "error", "-init_hw_device", "vulkan=v:0", "-filter_hw_device", "v", "-f", "lavfi", "-i",
            "testsrc=size=320x240", "-vf", f"format=yuv420p,hwupload,{name},hwdownload,format=yuv420p",
            "-frames:v", str(frames), "-f", "null", "-"]


def measure_filters(build, rounds):
    print_head("filter, frames", ["CPU s without"] +
               [f"{mode}: CPU, time" for mode in MODES if mode != "without"])
    for name, frames in FILTERS.items():
        cpu = {mode: [] for mode in MODES}
        seconds = {mode: [] for mode in MODES}
        for _ in range(rounds):
            for mode in MODES:
                _, used, passed = run(ffmpeg(name, frames), mode, build)
                cpu[mode].append(used)
                seconds[mode].append(passed)
        base = {"cpu": statistics.median(cpu["without"]), "seconds": statistics.median(seconds["without"])}
        cells = [f"{statistics.median(cpu[mode]) / base['cpu']:.2f}, "
                 f"{statistics.median(seconds[mode]) / base['seconds']:.2f}" for mode in MODES if mode != "without"]
        print_row([f"`{name}`, {frames}", f"{base['cpu']:.2f}", *cells])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a folder with a release build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--briefly", action="store_true", help="one round of commands alone: whether it works")
    options = parser.parse_args()
    build = options.build.resolve()
    if options.briefly:
        return measure_commands(build, 1, "record-briefly")
    measure_commands(build, options.rounds, "record")
    if shutil.which("ffmpeg") is None:
        return print("There is no ffmpeg: its filters are not measured.")
    measure_filters(build, options.rounds)


if __name__ == "__main__":
    main()
