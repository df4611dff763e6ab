"""python3 -m interlock.torch [OPTIONS] SCRIPT ARGS...: runs a script and records it.

The exit status is the script's; 2 if the file cannot be written.
"""

import argparse
import os
import runpy
import sys
import traceback

from interlock.torch.program_text import write_program
from interlock.torch.recorder import Recorder, kOperationCountMax


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m interlock.torch",
        description="Runs SCRIPT and records what its PyTorch operations do to memory.",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write; else SCRIPT's name with .ilk"
    )
    parser.add_argument(
        "--strides",
        choices=("ranges", "rows"),
        default="ranges",
        help="strided tensors: exact ranges up to 64 runs and then one that bounds them (any pass "
        "reads that), or rows (up to 64 of them, likewise; planners do not read them)",
    )
    places = parser.add_mutually_exclusive_group()
    places.add_argument(
        "--addresses",
        action="store_true",
        help="tensors lie where the run had them, in blocks of memory",
    )
    places.add_argument(
        "--without-frees",
        action="store_true",
        help="leaves out where storages end: encoders for several queues take dispatches alone",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=kOperationCountMax,
        metavar="N",
        help="operations to record; the script runs on (default %(default)s)",
    )
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER)
    return parser.parse_args()


def _run(script: str, args: list) -> tuple:
    """Returns the script's globals, its exit status and what it raised."""
    sys.argv = [script, *args]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        return runpy.run_path(script, run_name="__main__"), 0, None
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return None, end.code or 0, None
        print(end.code, file=sys.stderr)
        return None, 1, None
    except BaseException as error:  # pylint: disable=broad-except
        traceback.print_exc()
        return None, 130 if isinstance(error, KeyboardInterrupt) else 1, error


def main() -> int:
    options = _options()
    if not os.path.isfile(options.script):
        print(f"interlock.torch: there is no script '{options.script}'.", file=sys.stderr)
        return 2
    stem = os.path.splitext(os.path.basename(options.script))[0]
    output = options.output or f"{stem}.ilk"
    recorder = Recorder(strides=options.strides, operation_count_max=options.limit)
    recorder.start()
    kept, status, error = _run(options.script, options.args)
    recorder.stop()
    del kept  # Until here it kept what the script has at its end.
    try:
        title = os.path.basename(options.script)
        write_program(
            recorder, output, title, error, options.addresses, not options.without_frees
        )
    except OSError as failure:
        print(f"interlock.torch: {output} cannot be written: {failure.strerror}.", file=sys.stderr)
        return 2
    strange = sum(recorder.not_understood.values())
    print(
        f"interlock.torch: {recorder.counts['dispatches']} dispatches in {output}; "
        + (f"{strange} operations not understood (the file names them)." if strange else
           "all operations understood."),
        file=sys.stderr,
    )
    return status


if __name__ == "__main__":
    sys.exit(main())
