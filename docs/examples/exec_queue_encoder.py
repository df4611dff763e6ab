#!/usr/bin/env python3
"""An encoder for `--encoder=exec: --queue-kind=serial`: dispatches go to two queues in turn, each with
a timeline semaphore, and wait for the latest dispatch on the other queue that they conflict with."""
import sys


def accesses_of(comment):  # "read a 0 64, atomic-add b 0 4"
    for access in filter(None, comment.strip().split(", ")):
        how, memory, begin, end = access.split()
        yield how, memory, int(begin), int(end)


def conflicts(a, b):
    share_a_byte = a[1] == b[1] and max(a[2], b[2]) < min(a[3], b[3])
    return share_a_byte and not (a[0] == b[0] and a[0] not in ("write", "update"))


def encode(lines):
    most = int(lines[1].partition(" most=")[2])  # "# queues kind=serial most=4"; 0: any number.
    count = min(2, most or 2)
    yield lines[0]
    yield from (f"q{queue}: queue serial\n" for queue in range(1, count + 1))
    issued = [[] for _ in range(count)]  # By queue: what each of its dispatches accesses.
    waited = [[0] * count for _ in range(count)]  # By queue and other queue: up to which of those.
    number = 0
    for line in lines[2:]:
        statement, _, comment = line.rstrip("\n").partition("  # ")
        if not (statement.startswith("dispatch ") or ": dispatch " in statement):
            yield line
            continue
        accesses, here = list(accesses_of(comment)), number % count
        for there in range(count):
            latest = max((value for value, earlier in enumerate(issued[there], 1)
                          if any(conflicts(a, b) for a in accesses for b in earlier)), default=0)
            if there != here and latest > waited[here][there]:
                yield f"wait s{there + 1}={latest} on q{here + 1}\n"
                waited[here][there] = latest
        issued[here].append(accesses)
        number += 1
        yield f"{statement} on q{here + 1}\nsignal s{here + 1}={len(issued[here])} on q{here + 1}\n"


while head := sys.stdin.buffer.readline():  # "program 812\n", then 812 bytes
    program = sys.stdin.buffer.read(int(head.split()[1])).decode()
    answer = "".join(encode(program.splitlines(keepends=True))).encode()
    sys.stdout.buffer.write(b"program %d\n%b" % (len(answer), answer))
    sys.stdout.buffer.flush()
