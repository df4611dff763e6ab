#!/usr/bin/env python3
"""A backward pass for `--backward=exec:`: each dispatch once, from the loss back, by a table of rules."""
import re
import sys

# Of each kernel the dispatches that take the cotangent g of its output y to those of its inputs:
# pN is operand N, dN what is added to its cotangent, t a tensor between two of them.
RULES = {
    "add": "copy g > d0; copy g > d1",
    "copy": "copy g > d0",
    "mul": "mul g p1 > d0; mul g p0 > d1",
    "scale": "scale g > d0",
    "silu": "silu_vjp p0 g > d0",
    "softmax": "softmax_vjp y g > d0",
    "col_sum": "col_sum_vjp g > d0",
    "row_sum": "row_sum_vjp g > d0",
    "matmul_nn": "matmul_nt g p1 > d0; matmul_tn p0 g > d1",
    "matmul_nt": "matmul_nn g p1 > d0; matmul_tn g p0 > d1",
    "matmul_tn": "matmul_nt p1 g > d0; matmul_nn p0 g > d1",
    "rms_norm": "rms_norm_vjp p0 p1 g > d0 t; col_sum t > d1",
    "layer_norm": "col_sum g > d2; layer_norm_vjp p0 p1 g > d0 t; col_sum t > d1",
}
DISPATCH = re.compile(r"(?:\S+: )?dispatch (\S+) reads (.+) writes (\S+)(.*)")


def backward(lines):
    request = dict(word.split("=") for word in lines[1].split()[2:])  # "# backward loss=y wrt=x:d_x"
    gradient_of = dict(pair.split(":") for pair in request["wrt"].split(","))
    shapes = {words[1]: words[2] for words in map(str.split, lines) if words[0] == "tensor"}
    own = next(mark for mark in ("b.", "bb.", "bbb.") if not any(name.startswith(mark) for name in shapes))
    cotangents = {name: gradient_of.get(name, own + "d." + name) for name in shapes}
    tensors = [f"tensor {cotangents[name]} {shapes[name]} = {'ones' if name == request['loss'] else 'zeros'}\n"
               for name in shapes if name in gradient_of or shapes[name].startswith("f32")]
    forwards = [DISPATCH.match(line.partition("  # ")[0].rstrip("\n")) for line in lines]
    active = set(gradient_of)  # What the loss may depend on through the tensors of the request.
    for forward in filter(None, forwards):
        if active & set(forward[2].split()):
            active.add(forward[3])
    dispatches, reached = [], {request["loss"]}
    for forward in filter(None, reversed(forwards)):
        if forward[3] not in reached & active:
            continue
        kernel, inputs, output, attributes = forward[1], forward[2].split(), forward[3], forward[4]
        names = {"g": cotangents[output], "y": output, "t": f"{own}r{len(tensors)}"}
        names |= {f"p{i}": name for i, name in enumerate(inputs)}
        for rule in RULES[kernel].split("; "):
            head, targets = rule.split(" > ")
            sums = []
            for target in targets.split():
                operand = 0 if target == "t" else int(target[1:])
                if target != "t":
                    names[target] = f"{own}t{len(tensors)}"
                    sums.append((names[target], cotangents[inputs[operand]]))
                    reached.add(inputs[operand])
                tensors.append(f"tensor {names[target]} {shapes[inputs[operand]]}\n")
            name, *reads = head.split()
            keeps = attributes if name in ("scale", "rms_norm_vjp", "layer_norm_vjp") else ""
            dispatches.append(f"dispatch {name} reads {' '.join(names[r] for r in reads)}"
                              f" writes {' '.join(names[t] for t in targets.split())}{keeps}\n")
            dispatches += [f"dispatch accumulate reads {term} updates {total}\n" for term, total in sums]
    first = next((i for i, forward in enumerate(forwards) if forward), len(lines))
    return lines[:first] + tensors + lines[first:] + dispatches


while head := sys.stdin.buffer.readline():  # "program 812\n", then 812 bytes
    program = sys.stdin.buffer.read(int(head.split()[1])).decode()
    answer = "".join(backward(program.splitlines(keepends=True))).encode()
    sys.stdout.buffer.write(b"program %d\n%b" % (len(answer), answer))
    sys.stdout.buffer.flush()
