"""An encoder that forgets: it compares a dispatch with the latest 16 accesses alone."""
import collections
import sys


def accesses_of(line):
    parts = (part.split() for part in line.partition("  # ")[2].split(","))
    return [(how, memory, int(begin), int(end)) for how, memory, begin, end in filter(None, parts)]


def conflicts(a, b):
    if a[1] != b[1] or a[2] >= b[3] or b[2] >= a[3]:
        return False
    return a[0] != b[0] or not (a[0] == "read" or a[0].startswith("atomic"))


def encode(text):
    ring = collections.deque(maxlen=16)
    for line in text.splitlines():
        accesses = accesses_of(line)
        if any(conflicts(a, b) for a in ring for b in accesses):
            ring.clear()
            yield "barrier"
        ring.extend(accesses)
        yield line


while head := sys.stdin.buffer.readline():
    program = sys.stdin.buffer.read(int(head.split()[1])).decode()
    answer = "".join(line + "\n" for line in encode(program)).encode()
    sys.stdout.buffer.write(b"program %d\n%s" % (len(answer), answer))
    sys.stdout.buffer.flush()
