"""The tables of docs/apps.md and docs/peers.md, of the reports of runs."""

import string

from reports import UNKNOWN, DropCounts

# A reason with one of these does not say who is right.
OPEN = (UNKNOWN, "is not known here", "is not checked", "may count as")

APPLICATIONS_HEAD = (
    "| application | dispatches | passes | submissions | queues | not understood | findings "
    "| barriers / do / at least | sync that can go | both / only here / only there / no known reason |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n"
)

DROPS_HEAD = (
    "| application | tried | compared | both notice | only Interlock | only validation | neither "
    "| no known reason | cut | differences |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n"
)


def row_without(name, why, columns):
    return f"| {name} | {why}" + " |" * (columns - 1) + "\n"


def application_row(name, report):
    of = report.numbers
    agreement = f"{report.both} / {report.here} / {report.there} / {report.unknown}"
    cells = [
        name, of["dispatches"], of["passes"], of["submissions"], of["queues"],
        f"{of['not_understood']} of {of['submissions']}", of["findings"],
        f"{of['barriers']} / {of['barriers_kept']} / {of['barriers_least']}", of["sync"],
        agreement if report.is_compared else "–",
    ]
    return "| " + " | ".join(map(str, cells)) + " |\n"


class DropsTable:
    """One row for each application; below it the reasons of differences, by a letter each, and why runs
    were not compared.
    """

    def __init__(self):
        self._rows = []
        self._letters = {}
        self._total = DropCounts()

    def add(self, name, counts):
        self._rows.append(self._row(name, counts))
        for field in ("compared", "both", "only_here", "only_there", "neither", "unknown", "cut"):
            setattr(self._total, field, getattr(self._total, field) + getattr(counts, field))
        self._total.not_compared.update(counts.not_compared)

    def add_without(self, name, why):
        self._rows.append(row_without(name, why, 10))

    def _row(self, name, counts):
        differences = []
        for key, runs in sorted(counts.reasons.items()):
            letter = self._letters.setdefault(key, len(self._letters))
            differences.append(f"{letter_of(letter)} {runs}")
        cells = [name, counts.tried, counts.compared, counts.both, counts.only_here,
                 counts.only_there, counts.neither, counts.unknown, counts.cut,
                 ", ".join(differences)]
        return "| " + " | ".join(map(str, cells)).rstrip() + " |\n"

    def text(self):
        text = DROPS_HEAD + "".join(self._rows) + self._row("**all**", self._total)
        for (side, reason), letter in sorted(self._letters.items(), key=lambda each: each[1]):
            whose = "Interlock" if side == "here" else "validation"
            right = "open" if any(word in reason for word in OPEN) else "Interlock is right"
            text += f"\n- {letter_of(letter)}: only {whose} names it; {right}: {reason}."
        for why, runs in sorted(self._total.not_compared.items()):
            text += f"\n- {runs} tried, and not compared: {why}."
        return text if text.endswith("\n") else text + "\n"


def letter_of(index):
    """a, b, …, z, aa, …"""
    letters = string.ascii_lowercase
    return (letter_of(index // 26 - 1) if index >= 26 else "") + letters[index % 26]
