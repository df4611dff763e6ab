#!/usr/bin/env python3
"""A planner for `--planner=exec:`: large values first, each as low as it fits while it lives."""
import sys


def lives_of(lines, options):  # By name: its bytes, the lines of its first and its last use.
    lives, value_of = {}, {}
    keeps_all = not any(line.startswith("output ") for line in lines)
    for number, line in enumerate(lines):
        statement, _, comment = line.partition("  # ")
        words = statement.split()
        if words[0] == "tensor":
            name, is_input = words[1], " = " in statement
            if comment.startswith("place "):
                keeps = keeps_all or is_input and options["keep-inputs"] != "0"
                lives[name] = [int(comment.split()[1]), 0 if is_input else None, len(lines) if keeps else 0]
            base = words[4].split("+")[0] if words[3:4] in (["view"], ["donates"]) else name
            value_of[name] = value_of.get(base, base)
            continue
        for value in {value_of[w.split("[")[0]] for w in words if w.split("[")[0] in value_of} & lives.keys():
            size, first, last = lives[value]
            if first is None and words[0] != "output":
                is_written = f"write {value} 0 {size}" in comment.strip().split(", ") and " partial" not in statement
                first = number if is_written else 0
            lives[value] = [size, first, len(lines) if words[0] == "output" else max(number, last)]
    return {name: (size, first or 0, last) for name, (size, first, last) in lives.items()}


def place(lives, align):
    places = {}  # By name: begin and end.
    for name, (size, first, last) in sorted(lives.items(), key=lambda item: -item[1][0]):
        offset = 0
        for begin, end in sorted(places[o] for o in places if lives[o][1] <= last and first <= lives[o][2]):
            if offset + size <= begin:
                break
            offset = max(offset, -(-end // align) * align)
        places[name] = offset, offset + size
    return places


def plan(lines):
    options = dict(word.split("=") for word in lines[1].split()[2:])  # "# plan align=32 slack=0 …"
    places = place(lives_of(lines, options), int(options["align"]))
    yield lines[0]
    if places:
        yield f"memory pool {max(end for _, end in places.values())}\n"
    for line in lines[2:]:
        head, equals, value = line.partition("  # ")[0].rstrip("\n").partition(" = ")
        is_placed = head.startswith("tensor ") and head.split()[1] in places
        yield f"{head} at pool+{places[head.split()[1]][0]}{equals}{value}\n" if is_placed else line


while head := sys.stdin.buffer.readline():  # "program 812\n", then 812 bytes
    program = sys.stdin.buffer.read(int(head.split()[1])).decode()
    answer = "".join(plan(program.splitlines(keepends=True))).encode()
    sys.stdout.buffer.write(b"program %d\n%b" % (len(answer), answer))
    sys.stdout.buffer.flush()
