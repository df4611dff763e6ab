"""What a report of `interlock capture --syncval` says, in numbers; and what a barrier that is left out adds.

A report has a block for each process that submitted something, from its line `captured: …` on; a program
that is judged in windows has lines of agreement for each. All of them count.
"""

import collections
import re

UNKNOWN = "there is no known reason"

# Of a block: a name, and the expression that has the number.
COUNTS = (
    ("dispatches", r"^  (\d+) dispatch"),
    ("passes", r"^  graphics: (\d+) pass"),
    ("submissions", r"^  \d+ dispatch.* (\d+) submission"),
    ("queues", r"^  \d+ dispatch.* (\d+) queues?\.$"),
    ("not_understood", r"^  (\d+) of \d+ submissions? ha"),
    ("sync", r"^(\d+) redundant pieces? of sync"),
    ("sync", r"^(\d+) pieces? of sync can go, each within its window"),
)
SUMMARY = re.compile(r"^\d+ dispatch.*, \d+ access.*; (?:no findings|(\d+) findings?)\b")
PAIRS = re.compile(r"^(\d+) findings are between (\d+) pairs? of commands, each told once\.$")
BARRIERS = re.compile(r"^barriers: (\d+)(?: of (\d+) do)?.*\.$")
AGREEMENT = re.compile(r"^agreement with .*: both (\d+), only here (\d+), only there (\d+)\.$")
REASON = re.compile(r"^  only (here|there), (\d+): (.*)\.$")
LEFT_OUT = re.compile(r"^  barriers that were left out \(n(\d+)\): [1-9]")
# A comparison that may lack something, on either side.
CUT = re.compile(r"^  (?:The pairs of the program are too many to look at|What is found here is cut"
                 r"|\d+ more of its messages were not compared)")
# Of a run: something was not understood, or not judged.
DOUBT = re.compile(r"^(?:No verdict|What was not understood may hide more)\b")


class Report:
    """The numbers of one run, all processes added up."""

    def __init__(self, text):
        self.numbers = collections.Counter()
        self.both = self.here = self.there = 0
        self.reasons = collections.Counter()  # By side and reason: hazards.
        self.is_compared = False  # With validation.
        self.has_left_out = False  # A barrier, really.
        self.is_cut = False  # What was compared.
        self.is_in_doubt = False
        blocks = re.split(r"(?m)^(?=captured: )", text)[1:]
        self.is_judged = bool(blocks)
        for block in blocks:
            self._add(block.splitlines())

    def _add(self, lines):
        for name, expression in COUNTS:
            matches = [re.match(expression, line) for line in lines]
            self.numbers[name] += sum(int(match[1]) for match in matches if match)
        self._add_findings(lines)
        self._add_barriers(lines)
        for line in lines:
            self._add_agreement(line)
            self.has_left_out = self.has_left_out or bool(LEFT_OUT.match(line))
            self.is_cut = self.is_cut or bool(CUT.match(line))
            self.is_in_doubt = self.is_in_doubt or bool(DOUBT.match(line))

    def _add_findings(self, lines):
        """Each window with findings has a line; those between the same two commands are one."""
        matches = [match for match in map(SUMMARY.match, lines) if match]
        self.numbers["findings"] += sum(int(match[1] or 0) for match in matches)
        pairs = [match for match in map(PAIRS.match, lines) if match]
        self.numbers["findings"] -= sum(int(match[1]) - int(match[2]) for match in pairs)

    def _add_barriers(self, lines):
        """The last line is about all windows."""
        about = [line for line in lines if BARRIERS.match(line)]
        if not about:
            return
        kept, among = BARRIERS.match(about[-1]).groups()
        least = re.search(r"at least (\d+) must stay", about[-1])
        self.numbers["barriers"] += int(among or kept)
        self.numbers["barriers_kept"] += int(kept)
        self.numbers["barriers_least"] += int(least[1] if least else kept)

    def _add_agreement(self, line):
        if match := AGREEMENT.match(line):
            self.is_compared = True
            self.both += int(match[1])
            self.here += int(match[2])
            self.there += int(match[3])
        elif match := REASON.match(line):
            self.reasons[match[1], match[3]] += int(match[2])

    @property
    def unknown(self):
        return sum(count for (_, reason), count in self.reasons.items() if reason == UNKNOWN)


class Drop:
    """What the report of a run without one barrier has beyond that of the application as it is.

    None of it counts that the application has by itself.
    """

    def __init__(self, report, baseline):
        def more(of):
            return of(report) > of(baseline)

        # What both name both have noticed, also where one of them has named less elsewhere.
        is_noticed = more(lambda each: each.both)
        self.is_noticed_here = is_noticed or more(lambda each: each.both + each.here)
        self.is_noticed_there = is_noticed or more(lambda each: each.both + each.there)
        added = report.reasons - baseline.reasons
        self.reasons = set(added)  # By side and reason.
        self.is_unknown = any(reason == UNKNOWN for _, reason in added)
        self.is_cut = report.is_cut or report.is_in_doubt


# Why a run without one barrier counts as none.
NO_REPORT = "the run ended without a report"
NOT_LEFT_OUT = "the barrier was not asked for in this run, or had nothing to leave out"
NOT_COMPARED = "validation did not judge the run"


def why_no_drop(report):
    """Nothing where a barrier was really left out, and somebody else has judged the same run."""
    if not report.is_judged:
        return NO_REPORT
    if not report.has_left_out:
        return NOT_LEFT_OUT
    return "" if report.is_compared else NOT_COMPARED


class DropCounts:
    """Of the runs of one application."""

    def __init__(self):
        self.compared = self.both = self.only_here = self.only_there = self.neither = 0
        self.unknown = self.cut = 0
        self.not_compared = collections.Counter()  # By why not.
        self.reasons = collections.Counter()  # By side and reason: runs.

    def add(self, drop):
        self.compared += 1
        self.both += drop.is_noticed_here and drop.is_noticed_there
        self.only_here += drop.is_noticed_here and not drop.is_noticed_there
        self.only_there += drop.is_noticed_there and not drop.is_noticed_here
        self.neither += not drop.is_noticed_here and not drop.is_noticed_there
        self.unknown += drop.is_unknown
        self.cut += drop.is_cut
        self.reasons.update(drop.reasons)

    def add_other(self, why):
        """A run that counts as none."""
        self.not_compared[why] += 1

    @property
    def tried(self):
        return self.compared + sum(self.not_compared.values())
