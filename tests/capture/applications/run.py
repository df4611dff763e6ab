#!/usr/bin/env python3
"""Captures the applications of list.txt beside synchronization validation, each once, and prints a table.

With --drop, COUNT times more, each time without one of their barriers, by turns over the applications:
COUNT runs in which a barrier was really left out and validation judged the same run. What FOLDER has of
an earlier run is not done again. What is left out does not depend on --jobs.
"""

import argparse
import concurrent.futures
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time

import applications
import tables
from reports import Drop, DropCounts, Report, why_no_drop

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS_MAX = 300  # Of one run.


class Runner:
    """Captures, and keeps reports: of an application `NAME.txt`, without barrier 7 `NAME.drop7.txt`."""

    def __init__(self, interlock, folder):
        self._interlock = os.path.abspath(interlock)
        self._folder = folder
        self._screen = threading.Lock()
        self._lock = threading.Lock()
        self._running = set()
        os.makedirs(folder, exist_ok=True)

    def report(self, application, dropped=None):
        """The report of a run, which is made if there is none."""
        name = application.name + ("" if dropped is None else f".drop{dropped}")
        path = os.path.join(self._folder, name + ".txt")
        if not os.path.exists(path):
            if application.needs_screen:
                with self._screen:
                    self._capture(application, dropped, path)
            else:
                self._capture(application, dropped, path)
        with open(path, encoding="utf-8", errors="replace") as report:
            return Report(report.read())

    def barriers(self, application):
        """The numbers of the barriers that the application as it is has executed."""
        numbers = set()
        for name in sorted(os.listdir(self._folder)):
            # One program for each process.
            if not re.fullmatch(re.escape(application.name) + r"(\.\d+)?\.ilk", name):
                continue
            with open(os.path.join(self._folder, name), encoding="utf-8", errors="replace") as text:
                matches = (re.match(r"s\d+\.b\d+\.c\d+\.n(\d+): barrier ", line) for line in text)
                numbers.update(int(match[1]) for match in matches if match)
        return sorted(numbers)

    def complaint(self, application):
        """Of a run without a verdict: the first line that it had to say."""
        with open(os.path.join(self._folder, application.name + ".txt.err"), encoding="utf-8",
                  errors="replace") as errors:
            return errors.readline().strip()[:60]

    def _capture(self, application, dropped, path):
        words = [self._interlock, "capture"]
        if not application.is_dry:
            words.append("--syncval")  # Without dispatches there is nothing to validate.
        if dropped is None:
            words += ["-o", os.path.join(self._folder, application.name + ".ilk")]
        else:
            words.append(f"--drop-barrier={dropped}")
        words += application.options + ["--"] + application.command
        began = time.monotonic()
        with open(path + ".part", "wb") as out, open(path + ".err", "wb") as errors:
            status = self._wait(words, out, errors)
            out.write(f"status {status}\n".encode())
        os.rename(path + ".part", path)
        print(f"{os.path.basename(path)[:-4]}: status {status}, {time.monotonic() - began:.1f} s",
              file=sys.stderr, flush=True)

    def _wait(self, words, out, errors):
        """In a group of its own, so that what it started can be ended with it."""
        with self._lock:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                                       start_new_session=True)
            self._running.add(process)
        try:
            return process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "none: it took too long"
        finally:
            with self._lock:
                self._running.discard(process)

    def kill(self):
        with self._lock:
            for process in self._running:
                os.killpg(process.pid, signal.SIGKILL)


def in_turn(barriers):
    """Each application and barrier, by turns over the applications. `barriers`: theirs, by application."""
    for turn in range(max(map(len, barriers.values()), default=0)):
        for application, numbers in barriers.items():
            if turn < len(numbers):
                yield application, numbers[turn]


def run_drops(runner, pool, baselines, wanted):
    """What runs without one barrier show, by application, until so many were compared.

    `baselines`: the reports of the applications as they are. Each batch has what is missing, so that
    which runs there are depends on no clock.
    """
    counts = {application: DropCounts() for application in baselines}
    candidates = in_turn({application: runner.barriers(application) for application in baselines})
    compared = 0
    while compared < wanted:
        batch = list(itertools.islice(candidates, wanted - compared))
        if not batch:
            print(f"run.py: only {compared} runs could be compared.", file=sys.stderr)
            break
        reports = pool.map(lambda each: runner.report(*each), batch)
        for (application, _), report in zip(batch, reports):
            why = why_no_drop(report)
            if why:
                counts[application].add_other(why)
            else:
                counts[application].add(Drop(report, baselines[application]))
                compared += 1
    return counts


def capture_all(runner, pool, every):
    """The report of each application that is installed, in the order of the list."""
    installed = [application for application in every if application.is_installed()]
    return dict(zip(installed, pool.map(runner.report, installed)))


def applications_table(runner, every, reports):
    text = tables.APPLICATIONS_HEAD
    for application in every:
        report = reports.get(application)
        if report is None:
            text += tables.row_without(application.name, f"not installed ({application.package})", 10)
        elif not report.is_judged:
            why = f"no verdict: {runner.complaint(application)}"
            text += tables.row_without(application.name, why, 10)
        else:
            text += tables.application_row(application.name, report)
    return text


def drops_table(every, reports, counts):
    table = tables.DropsTable()
    for application in every:
        if application in counts:
            table.add(application.name, counts[application])
        elif application.is_dry:
            table.add_without(application.name, "– (`--dry`: nothing to validate)")
        else:
            table.add_without(application.name, "not compared" if application in reports
                              else f"not installed ({application.package})")
    return table.text()


def run(arguments):
    shared = os.path.dirname(os.path.abspath(arguments.folder))
    every = applications.read_list(arguments.list, shared)
    runner = Runner(arguments.interlock, arguments.folder)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        try:
            reports = capture_all(runner, pool, every)
            ran = applications.versions(every, shared)
            produced = {"apps.md": ran + applications_table(runner, every, reports)}
            if arguments.drop > 0:
                baselines = {each: report for each, report in reports.items()
                             if report.is_compared and not each.is_dry}
                counts = run_drops(runner, pool, baselines, arguments.drop)
                produced["peers.md"] = ran + drops_table(every, reports, counts)
        except KeyboardInterrupt:
            runner.kill()
            os._exit(130)
    for name, text in produced.items():
        print(text)
        with open(os.path.join(arguments.folder, name), "w", encoding="utf-8") as document:
            document.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("interlock")
    parser.add_argument("folder")
    parser.add_argument("--drop", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", default=os.path.join(HERE, "list.txt"))
    run(parser.parse_args())


if __name__ == "__main__":
    main()
