"""PyTorch as the oracle of the kernel table: forward functions and autograd's gradients in float64.

INTERLOCK names the program, which executes the kernels: kernel_oracle_test.py [CASES [SEED]]
Exit status 1 if a value is further off than docs/numbers.md says. A table tells how near it came.
"""

import os
import subprocess
import sys

import numpy
import torch

from elementary_cases import kElementaryCases
from kernel_cases import Draw, kCases

kAllCases = {**kCases, **kElementaryCases}
kMemory = "out"
kValueCountMax = 2048  # Of `values(…)`.
# How far the document's expression, in float64, may be from PyTorch's function in float64: this part
# of the bound for float32.
kExpressionPart = 2.0**-16
kSecondOrder = 1 + 2.0**-10


def words_of(values):
    """Returns the shortest texts that read back as these numbers."""
    array = values.detach().contiguous().flatten().numpy()
    if array.dtype == numpy.int32:
        return ",".join(str(value) for value in array)
    return ",".join(numpy.format_float_scientific(value, unique=True, trim="-") for value in array)


def tensor_line(name, values, place=""):
    kind = "i32" if values.dtype == torch.int32 else "f32"
    extents = ",".join(str(size) for size in values.shape)
    return f"tensor {name} {kind}[{extents}]{place} = values({words_of(values)})"


def program_of(cases):
    """Returns a program of all cases, and where in its one output each result begins."""
    lines, commands, begins, size = [], [], [], 0

    def place(count):
        nonlocal size
        begins.append(size)
        size += count
        return f" at {kMemory}+{4 * begins[-1]}"

    for index, case in enumerate(cases):
        words = {"reads": [], "writes": [], "updates": []}
        for value in case.reads:
            words["reads"].append(f"{value.name}{index}")
            lines.append(tensor_line(words["reads"][-1], value.values))
        for name, shape in case.outputs:
            words["writes"].append(f"{name}{index}")
            extents = ",".join(str(extent) for extent in shape)
            count = int(numpy.prod(shape))
            lines.append(f"tensor {words['writes'][-1]} f32[{extents}]{place(count)}")
        for value in case.updates:
            words["updates"].append(f"{value.name}{index}")
            where = place(value.values.numel())
            lines.append(tensor_line(words["updates"][-1], value.values, where))
        operands = " ".join(f"{mode} {' '.join(names)}" for mode, names in words.items() if names)
        attributes = "".join(f" {key}={value}" for key, value in case.attributes.items())
        commands.append(f"dispatch {case.kernel} {operands}{attributes}")
    head = ["interlock 1", f"memory {kMemory} {4 * size}"]
    whole = f"tensor all f32[{size}] at {kMemory}+0"
    return "\n".join([*head, *lines, whole, *commands, ""]), begins


def executed(text):
    """Returns all elements of the output memory after the program has run."""
    command = [os.environ["INTERLOCK"], "plot", "-", "--tensor=all", "--csv=-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()[1:]
    # Each is the shortest text that reads back as its float32.
    values = numpy.array([line.split(",")[1] for line in lines], dtype=numpy.float32)
    return torch.from_numpy(values.astype(numpy.float64))


def is_small(case):
    values = [value.values.numel() for value in case.reads + case.updates]
    return max(values) <= kValueCountMax


class Judge:
    """The largest error of a kernel, as a part of its bound; and what is out of bounds."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.value_count = 0
        self.unbounded_count = 0  # A quotient by what may be zero.
        self.largest = 0.0
        self.complaints = []

    def compare(self, seed, name, found, expected, bound):
        expected, found = expected.flatten(), found.flatten()
        error, value = bound.error.flatten(), bound.value.flatten()
        self.value_count += found.numel()
        self.unbounded_count += int(error.isinf().sum())
        off = (found - expected).abs()
        parts = torch.where(off == 0, torch.zeros_like(off), off / error)
        self.largest = max(self.largest, float(parts.max()))
        for what, is_wrong in (
            ("is out of bounds", ~(off <= error * kSecondOrder)),
            ("has another expression", ~((value - expected).abs() <= self._slack(error, expected))),
        ):
            if bool(is_wrong.any()):
                at = int(is_wrong.nonzero()[0])
                self.complaints.append(
                    f"{self.kernel}, seed {seed}: {name}[{at}] {what}: {float(found[at])!r}; PyTorch "
                    f"has {float(expected[at])!r}, the bound is {float(error[at]):.3g}."
                )

    @staticmethod
    def _slack(error, expected):
        return error * kExpressionPart + expected.abs() * 2.0**-44


def judge_kernel(kernel, make, case_count, first_seed, spoils=None):
    seeds, cases = [], []
    for seed in range(first_seed, first_seed + case_count):
        case = make(Draw(seed))
        if is_small(case):
            seeds.append(seed)
            cases.append(case)
    text, begins = program_of(cases)
    found = executed(text)
    if spoils is not None:
        spoils(found)
    judge, position = Judge(kernel), 0
    for seed, case in zip(seeds, cases):
        names = [name for name, _ in case.outputs] or [value.name for value in case.updates]
        for name, expected, bound in zip(names, case.expected, case.bounds):
            begin = begins[position]
            part = found[begin : begin + expected.numel()]
            judge.compare(seed, name, part, expected, bound)
            position += 1
    return judge


def not_found():
    """Returns the kernels where a value that is off by a thousandth is within the bounds."""

    def spoil(found):
        largest = int(found.abs().argmax())
        found[largest] *= 1.001

    return [k for k, make in kAllCases.items() if not judge_kernel(k, make, 3, 1, spoil).complaints]


def not_compared():
    """Returns the kernels of the table that have no case here."""
    command = [os.environ["INTERLOCK"], "list", "kernels"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
    return sorted(set(names) - set(kAllCases))


def main():
    case_count = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    first_seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    judges = [judge_kernel(k, make, case_count, first_seed) for k, make in kAllCases.items()]
    print("| kernel | values | unbounded | error / bound |")
    print("|---|---|---|---|")
    for judge in judges:
        counts = f"{judge.value_count} | {judge.unbounded_count}"
        print(f"| `{judge.kernel}` | {counts} | {judge.largest:.2f} |")
    print(f"Not compared: {', '.join(not_compared())}.")
    complaints = [complaint for judge in judges for complaint in judge.complaints]
    complaints += [f"{k}: a value that is off by a thousandth is not found." for k in not_found()]
    print(*complaints, sep="\n")
    failed = sum(bool(judge.complaints) for judge in judges)
    print(f"{len(judges) - failed} passed, {failed} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
