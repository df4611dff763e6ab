"""What a check says, as values."""

import dataclasses
import enum
import json
from typing import Any, Dict, List, Optional, Tuple

from interlock.library import decoded, library

_NOT_JUDGED = (1 << 64) - 1
_OBSERVABILITY = ("unknown", "observable", "unobservable", "masked")


class Verdict(enum.Enum):
    """What a check comes to."""

    AS_EXPECTED = 0  # Nothing is found, or exactly what the `expect` lines say.
    UNEXPECTED = 1  # A finding that no line expects, or a line that does not hold.
    NONE = 2  # A limit ended the check before it could tell.


@dataclasses.dataclass(frozen=True)
class Access:
    """One of the two accesses of a finding."""

    dispatch: Optional[int]  # Its index in issue order; None of what the host or a barrier does.
    label: str  # Of the dispatch, or the index as text.
    kernel: Optional[str]  # None of what the host does.
    verb: str  # "reads", "writes", "updates", …
    begin: int  # Its whole range of bytes in the memory.
    end: int
    tensor: Optional[str]  # None of a range of the memory.
    line: int  # Of the source, where the dispatch stands.


@dataclasses.dataclass(frozen=True)
class Finding:
    """A finding; `str()` is what a report prints of it. Sentences may change their words."""

    kind: str  # "RAW", "WAR", "WAW", "clobber", … as `expect` lines have it.
    observability: str  # "observable", "unobservable", "masked", "unknown": not judged.
    memory: Optional[str]  # The bytes concerned.
    begin: int
    end: int
    first: Optional[Access]
    second: Optional[Access]
    headline: str
    details: Tuple[str, ...]
    fix: str
    witness: Tuple[str, ...]  # A schedule that shows it, as moves away from reference order.
    expectation: str  # The line that expects it.
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def is_observable(self) -> bool:
        return self.observability == "observable"


@dataclasses.dataclass(frozen=True)
class Report:
    """What `interlock check` says of a program; `str()` is what it prints."""

    verdict: Verdict
    findings: Tuple[Finding, ...]  # Observable ones first.
    summary: str
    text: str
    json: Dict[str, Any]  # All of it, as docs/json.md says.
    dispatches: int
    barriers: int
    fewest_barriers: Optional[int]  # None: not judged, as with several queues.
    longest_chain: Optional[int]

    def __str__(self) -> str:
        return self.text

    @property
    def is_as_expected(self) -> bool:
        return self.verdict is Verdict.AS_EXPECTED


def _access(handle: Optional[int]) -> Optional[Access]:
    if not handle:
        return None
    functions = library()
    dispatch = functions.ilk_access_dispatch(handle)
    return Access(
        dispatch=None if dispatch == _NOT_JUDGED else dispatch,
        label=decoded(functions.ilk_access_label(handle)),
        kernel=decoded(functions.ilk_access_kernel(handle)),
        verb=decoded(functions.ilk_access_verb(handle)),
        begin=functions.ilk_access_begin(handle),
        end=functions.ilk_access_end(handle),
        tensor=decoded(functions.ilk_access_tensor(handle)),
        line=functions.ilk_access_line(handle),
    )


def _finding(handle: int) -> Finding:
    functions = library()

    def listed(count: Any, item: Any) -> Tuple[str, ...]:
        return tuple(decoded(item(handle, i)) for i in range(count(handle)))

    return Finding(
        kind=decoded(functions.ilk_finding_word(handle)),
        observability=_OBSERVABILITY[functions.ilk_finding_observability(handle)],
        memory=decoded(functions.ilk_finding_memory(handle)),
        begin=functions.ilk_finding_begin(handle),
        end=functions.ilk_finding_end(handle),
        first=_access(functions.ilk_finding_first(handle)),
        second=_access(functions.ilk_finding_second(handle)),
        headline=decoded(functions.ilk_finding_headline(handle)),
        details=listed(functions.ilk_finding_detail_count, functions.ilk_finding_detail),
        fix=decoded(functions.ilk_finding_fix(handle)),
        witness=listed(functions.ilk_finding_witness_count, functions.ilk_finding_witness),
        expectation=decoded(functions.ilk_finding_expectation(handle)),
        text=decoded(functions.ilk_finding_text(handle)),
    )


def report_of(handle: int) -> Report:
    """Takes everything out of a report of the library, and frees it."""
    functions = library()

    def number(which: int) -> Optional[int]:
        value = functions.ilk_report_number(handle, which)
        return None if value == _NOT_JUDGED else value

    try:
        findings: List[Finding] = [
            _finding(functions.ilk_report_finding(handle, i))
            for i in range(functions.ilk_report_finding_count(handle))
        ]
        return Report(
            verdict=Verdict(functions.ilk_report_verdict(handle)),
            findings=tuple(findings),
            summary=decoded(functions.ilk_report_summary(handle)),
            text=decoded(functions.ilk_report_text(handle)),
            json=json.loads(functions.ilk_report_json(handle)),
            dispatches=number(0),
            barriers=number(2),
            fewest_barriers=number(3),
            longest_chain=number(4),
        )
    finally:
        functions.ilk_report_free(handle)
