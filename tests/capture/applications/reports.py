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
BARRIERS = re.compile(r"^barriers: (\d+)(?: of (\d+) do)?.*\.$")
AGREEMENT = re.compile(r"^agreement with .*: both (\d+), only here (\d+), only there (\d+)\.$")
REASON = re.compile(r"^  only (here|there), (\d+): (.*)\.$")
OTHER_KIND = re.compile(r"^  beside these there are (\d+) of another kind")
LEFT_OUT = re.compile(r"^  barriers that were left out \(n(\d+)\): [1-9]")


class Report:
    """The numbers of one run, all processes added up."""

    def __init__(self, text):
        self.numbers = collections.Counter()
        self.both = self.here = self.there = self.other_kind = 0
        self.reasons = collections.Counter()  # By side and reason: hazards.
        self.is_compared = False  # With validation.
        self.has_left_out = False  # A barrier, really.
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

    def _add_findings(self, lines):
        """Each window with findings has a line."""
        matches = [match for match in map(SUMMARY.match, lines) if match]
        self.numbers["findings"] += sum(int(match[1] or 0) for match in matches)

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
        elif match := OTHER_KIND.match(line):
            self.other_kind += int(match[1])

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

        self.is_noticed_here = more(lambda each: each.both + each.here)
        self.is_noticed_there = more(lambda each: each.both + each.there + each.other_kind)
        added = report.reasons - baseline.reasons
        self.reasons = set(added)  # By side and reason.
        self.is_unknown = any(reason == UNKNOWN for _, reason in added)


def counts_as_drop(report):
    """A barrier was really left out, and somebody else has judged the same run."""
    return report.has_left_out and report.is_compared


class DropCounts:
    """Of the runs of one application."""

    def __init__(self):
        self.compared = self.both = self.only_here = self.only_there = self.neither = 0
        self.unknown = 0
        self.reasons = collections.Counter()  # By side and reason: runs.

    def add(self, drop):
        self.compared += 1
        self.both += drop.is_noticed_here and drop.is_noticed_there
        self.only_here += drop.is_noticed_here and not drop.is_noticed_there
        self.only_there += drop.is_noticed_there and not drop.is_noticed_here
        self.neither += not drop.is_noticed_here and not drop.is_noticed_there
        self.unknown += drop.is_unknown
        self.reasons.update(drop.reasons)
