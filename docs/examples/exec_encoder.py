#!/usr/bin/env python3
"""An encoder for `--encoder=exec:`: a barrier where a dispatch conflicts with one since the last."""
import sys


def accesses_of(line):  # "dispatch … # read a 0 64, atomic-add b 0 4"
    for access in filter(None, line.partition("  # ")[2].split(", ")):
        how, memory, begin, end = access.split()
        yield memory, (how, int(begin), int(end))


def conflicts(a, b):
    share_a_byte = max(a[1], b[1]) < min(a[2], b[2])
    return share_a_byte and not (a[0] == b[0] and a[0] not in ("write", "update"))


def encode(lines):
    since = {}  # Accesses since the last barrier, by memory.
    for line in lines:
        accesses = list(accesses_of(line))
        needs_barrier = since and "destroy" in line.split(" ")[:2] or any(
            conflicts(access, earlier) for memory, access in accesses for earlier in since.get(memory, ()))
        if needs_barrier:
            yield "barrier\n"
            since = {}
        for memory, access in accesses:
            since.setdefault(memory, []).append(access)
        yield line


while head := sys.stdin.buffer.readline():  # "program 812\n", then 812 bytes
    program = sys.stdin.buffer.read(int(head.split()[1])).decode()
    answer = "".join(encode(program.splitlines(keepends=True))).encode()
    sys.stdout.buffer.write(b"program %d\n%b" % (len(answer), answer))
    sys.stdout.buffer.flush()
