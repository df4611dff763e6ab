"""Interlock for Python: finds missing and useless synchronization in GPU command streams.

    import interlock

    report = interlock.check(open("step.ilk").read())
    for finding in report.findings:
        print(finding)

docs/python.md has the rest. Everything runs in libinterlock.so, which is loaded when it is first
needed; `interlock.torch`, the recorder of PyTorch, needs nothing of it.
"""

from pkgutil import extend_path

# Recorders may be installed elsewhere.
__path__ = extend_path(__path__, __name__)

from interlock.errors import BadInput, Error, NothingToDo, Stopped
from interlock.builder import Builder
from interlock.passes import check, encode, find, fix, minimize, plan
from interlock.programs import Program, parse, read
from interlock.reports import Access, Finding, Report, Verdict

__all__ = [
    "Access", "BadInput", "Builder", "Error", "Finding", "NothingToDo", "Program", "Report",
    "Stopped", "Verdict", "check", "encode", "find", "fix", "minimize", "parse", "plan", "read",
    "version",
]


def version() -> str:
    """Of the library that is loaded: "0.1.0"."""
    from interlock.library import library

    return library().ilk_version().decode()
