#!/usr/bin/env python3
"""Runs what a page shows: run_page.py PAGE INTERLOCK FOLDER.

Each line "    $ COMMAND" of PAGE is given to bash in FOLDER, which is made anew and where `corpus` and
`docs` are those of the tree; the indented lines after it, up to one that is not indented or begins
with a prompt, must be what it prints on standard output. A line "…" stands for any lines.
Exit status: 0 all is printed, 1 something is not, 2 the page shows nothing.
"""

import itertools
import os
import pathlib
import shutil
import subprocess
import sys

PROMPT = "    $ "


def shown_commands(page):
    """Yields (command, lines that it is said to print)."""
    command, lines = None, []
    for line in page.splitlines() + [""]:
        if command is not None and line.startswith("    ") and not line.startswith(PROMPT):
            lines.append(line[4:])
            continue
        if command is not None:
            yield command, lines
            command, lines = None, []
        if line.startswith(PROMPT):
            command = line[len(PROMPT):]


def prints(printed, shown):
    """Whether `printed` is `shown`, in which "…" stands for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(prints(printed[at:], shown[1:]) for at in range(len(printed) + 1))
    return bool(printed) and printed[0] == shown[0] and prints(printed[1:], shown[1:])


def main():
    page, interlock, folder = (pathlib.Path(argument).absolute() for argument in sys.argv[1:])
    root = pathlib.Path(__file__).absolute().parent.parent.parent
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("corpus", "docs"):
        (folder / name).symlink_to(root / name)
    environment = dict(os.environ, PATH=f"{interlock.parent}:{os.environ['PATH']}")
    count = failure_count = 0
    for count, (command, shown) in enumerate(shown_commands(page.read_text(encoding="utf-8")), 1):
        run = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             check=False)
        printed = run.stdout.splitlines()
        if not prints(printed, shown):
            failure_count += 1
            print(f"$ {command}\n(exit status {run.returncode}; what the page says | what it prints)")
            for left, right in itertools.zip_longest(shown, printed, fillvalue="<none>"):
                print(f"{'  ' if left == right else '! '}{left} | {right}")
            print(run.stderr)
    print(f"{page.name}: {count} commands, of which {failure_count} print something else")
    if count == 0:
        return 2
    return 1 if failure_count else 0


if __name__ == "__main__":
    sys.exit(main())
