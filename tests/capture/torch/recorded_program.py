"""Reads recorded programs for the tests, by rules of its own: what the recorder's writer takes for
granted is not taken from it."""

import re
from typing import Dict, List, NamedTuple, Tuple

kItemBytes = {"f32": 4, "i32": 4, "u8": 1}


class Range(NamedTuple):
    memory: str
    begin: int
    end: int


class Statement(NamedTuple):
    kind: str  # "dispatch", "free" or "barrier".
    label: str
    kernel: str
    reads: List[Range]  # What is updated is read and written.
    writes: List[Range]
    is_partial: bool
    line: str


class RecordedProgram:
    """Memories, tensors and statements of a file. A tensor without a place is a memory of its own."""

    def __init__(self, text: str):
        self.memories: Dict[str, int] = {}
        self.tensors: Dict[str, Range] = {}
        self.initial: List[str] = []
        self.outputs: List[str] = []
        self.statements: List[Statement] = []
        lines = text.split("\n")
        assert lines[0] == "interlock 1"
        for line in lines[1:]:
            line = line.split("#")[0].rstrip()
            if line:
                self._read(line)

    def dispatches(self) -> List[Statement]:
        return [s for s in self.statements if s.kind == "dispatch"]

    def _read(self, line: str) -> None:
        words = line.split()
        if words[0] == "memory":
            self.memories[words[1]] = int(words[2])
        elif words[0] == "tensor":
            self._read_tensor(words)
        elif words[0] == "output":
            self.outputs += words[1:]
        elif words[0] in ("barrier", "free"):
            value = [self.tensors[words[1]]] if words[0] == "free" else []
            self.statements.append(Statement(words[0], "", "", value, [], False, line))
        else:
            self.statements.append(self._dispatch(line))

    def _read_tensor(self, words: List[str]) -> None:
        name = words[1]
        dtype, extents = re.fullmatch(r"(f32|i32|u8)\[([0-9,]+)\]", words[2]).groups()
        size = kItemBytes[dtype]
        for extent in extents.split(","):
            size *= int(extent)
        if "at" in words or "view" in words:
            place = words[words.index("at" if "at" in words else "view") + 1]
            other, offset = place.rsplit("+", 1)
            base = self.tensors[other] if "view" in words else Range(other, 0, 0)
            begin = base.begin + int(offset)
            self.tensors[name] = Range(base.memory, begin, begin + size)
        else:
            self.memories[name] = size
            self.tensors[name] = Range(name, 0, size)
        assert self.tensors[name].end <= self.memories[self.tensors[name].memory]
        if "=" in words:
            self.initial.append(name)

    def _dispatch(self, line: str) -> Statement:
        label, rest = re.fullmatch(r"([\w.@]+): dispatch (.*)", line).groups()
        # A range with rows has spaces inside.
        tokens = re.findall(r"[^\s\[]+(?:\[[^\]]*\])?", rest)
        clause, is_partial = "", False
        operands: Dict[str, List[Range]] = {"reads": [], "writes": [], "updates": []}
        for token in tokens[1:]:
            if token in operands:
                clause = token
            elif token == "partial":
                is_partial = True
            else:
                operands[clause] += self.ranges_of(token)
        return Statement(
            "dispatch",
            label,
            tokens[0],
            operands["reads"] + operands["updates"],
            operands["writes"] + operands["updates"],
            is_partial,
            line,
        )

    def ranges_of(self, operand: str) -> List[Range]:
        match = re.fullmatch(
            r"([\w.]+)(?:\[(\d+):(\d+)(?: rows (\d+) pitch (\d+) width (\d+))?\])?", operand
        )
        name, begin, end, rows, pitch, width = match.groups()
        whole = self.tensors[name]
        if begin is None:
            return [whole]
        low = whole.begin + int(begin)
        assert whole.begin + int(end) <= whole.end, operand
        if rows is None:
            return [Range(whole.memory, low, whole.begin + int(end))]
        return [
            Range(whole.memory, low + row * int(pitch), low + row * int(pitch) + int(width))
            for row in range(int(rows))
        ]


def split_operands(statement: Statement) -> List[Tuple[str, Range]]:
    """Returns each range of a dispatch with what it is: "read", "write" or "update"."""
    both = [("update", r) for r in statement.writes if r in statement.reads]
    reads = [("read", r) for r in statement.reads if r not in statement.writes]
    return reads + both + [("write", r) for r in statement.writes if r not in statement.reads]
