"""The check, and the passes over programs. Each takes a program or its text, and `seconds`, after
which it raises Stopped; the keywords beside it are those of `calls.OPTIONS`."""

from typing import Any, Optional, Union

from interlock.calls import call
from interlock.library import encoded, library
from interlock.programs import Program, program_of
from interlock.reports import Report, report_of


def check(program: Union[Program, str], **options: Any) -> Report:
    """The exact verdict: what is unordered, clobbered or aliased, and which sync can go. Options:
    all_pairs, possible, own_reads, ignore_expect, hazard_count, observability_budget,
    redundancy_budget, seconds."""
    given = program_of(program)  # Lives as long as the call.
    return report_of(call(library().ilk_check, given.handle, **options))


def encode(program: Union[Program, str], encoder: str = "interlock", **options: Any) -> Program:
    """The program with the sync that an encoder places: one of `interlock list encoders`, or
    "exec:COMMAND" or "lib:FILE". Options: queue_count, seconds."""
    given = program_of(program)
    return Program(call(library().ilk_encode, given.handle, encoded(encoder), **options))


def plan(program: Union[Program, str], planner: str = "liveness", **options: Any) -> Program:
    """The program with a place for each tensor that has none, as one of `interlock list planners`
    has it. Options: seconds."""
    given = program_of(program)
    return Program(call(library().ilk_plan, given.handle, encoded(planner), **options))


def fix(program: Union[Program, str], **options: Any) -> Program:
    """The program with the smallest sync that is found to repair its hazards. Its source is that of
    the program with lines added and changed. Options: seconds."""
    given = program_of(program)
    return Program(call(library().ilk_fix, given.handle, **options))


def minimize(program: Union[Program, str], **options: Any) -> Program:
    """The smallest program found with the same finding. Raises NothingToDo where there is none.
    Options: any_kernels, possible, evaluation_count, seconds."""
    given = program_of(program)
    return Program(call(library().ilk_minimize, given.handle, **options))


def find(encoder: str, **options: Any) -> Optional[Program]:
    """Tries an encoder, named as for encode(), on programs that a seed makes. Returns the first that
    it gets wrong, made small, as it encodes it, or, where it gives no answer, as it was given it;
    comments at the beginning of its source say why. None if it got all of them right. Options:
    run_count (10,000), seed, seconds."""
    handle = call(library().ilk_find, encoded(encoder), **options)
    return None if handle is None else Program(handle)
