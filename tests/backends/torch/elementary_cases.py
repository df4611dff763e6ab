"""Kernels that add, multiply and move, beside PyTorch's functions and their gradients."""

from typing import Callable, Dict

import torch

from kernel_cases import Case, Draw, Input, exact, gradients
from rounded import Rounded, chain_sum, row_sum


def matrices(draw, count):
    return [draw.normal(draw.rows, draw.cols, scale=draw.scale) for _ in range(count)]


def unary(kernel, x, expected, bound=None, attributes=None, name="x"):
    outputs = [("y", tuple(expected.shape))]
    return Case(kernel, [Input(name, x)], [], outputs, attributes or {}, [expected],
                [Rounded(expected) if bound is None else bound])


def binary(kernel, function):
    def make(draw):
        a, b = matrices(draw, 2)
        bound = function(Rounded(exact(a)), Rounded(exact(b)))
        return Case(kernel, [Input("a", a), Input("b", b)], [], [("y", a.shape)], {},
                    [function(exact(a), exact(b))], [bound])

    return make


def scale_case(draw):
    (x,) = matrices(draw, 1)
    factor = float(draw.normal(1))
    return unary("scale", x, exact(x) * factor, Rounded(exact(x)) * factor, {"factor": repr(factor)})


def accumulate_case(draw):
    g, acc = matrices(draw, 2)
    bound = Rounded(exact(acc)) + Rounded(exact(g))
    return Case("accumulate", [Input("g", g)], [Input("acc", acc)], [], {},
                [exact(acc).add_(exact(g))], [bound])


def sgd_case(draw):
    g, p = matrices(draw, 2)
    rate = float(draw.normal(1))
    parameter = torch.nn.Parameter(exact(p))
    parameter.grad = exact(g) * (1.0 if rate >= 0 else -1.0)  # SGD takes no negative rate.
    torch.optim.SGD([parameter], abs(rate)).step()
    bound = Rounded(exact(p)) - Rounded(rate) * exact(g)
    return Case("sgd", [Input("g", g)], [Input("p", p)], [], {"lr": repr(rate)},
                [parameter.detach()], [bound])


def row_sum_case(draw):
    (x,) = matrices(draw, 1)
    return unary("row_sum", x, exact(x).sum(-1), row_sum(Rounded(exact(x)))[:, 0])


def col_sum_case(draw):
    (x,) = matrices(draw, 1)
    return unary("col_sum", x, exact(x).sum(0), chain_sum(Rounded(exact(x)), 0))


def sum_vjp(kernel, dimension):
    def make(draw):
        (x,) = matrices(draw, 1)
        g = draw.normal(draw.cols if dimension == 0 else draw.rows, scale=draw.scale)
        (expected,) = gradients(lambda v: v.sum(dimension), [x], g)
        return unary(kernel, g, expected, name="g")

    return make


def transpose_case(draw):
    (x,) = matrices(draw, 1)
    return unary("transpose", x, exact(x).t().contiguous())


def concat_case(draw):
    (a,), b = matrices(draw, 1), draw.normal(draw.rows, draw.integer(1, 40))
    expected = torch.cat([exact(a), exact(b)], 1)
    return Case("concat", [Input("a", a), Input("b", b)], [], [("y", tuple(expected.shape))], {},
                [expected], [Rounded(expected)])


# The VJP of concat.
def split_case(draw):
    (a,), b = matrices(draw, 1), draw.normal(draw.rows, draw.integer(1, 40))
    g = draw.normal(draw.rows, a.shape[1] + b.shape[1])
    expected = gradients(lambda left, right: torch.cat([left, right], 1), [a, b], g)
    return Case("split", [Input("g", g)], [], [("ga", a.shape), ("gb", b.shape)], {},
                [part.contiguous() for part in expected], [Rounded(part) for part in expected])


kElementaryCases: Dict[str, Callable[[Draw], Case]] = {
    "add": binary("add", lambda a, b: a + b),
    "mul": binary("mul", lambda a, b: a * b),
    "scale": scale_case,
    "accumulate": accumulate_case,
    "sgd": sgd_case,
    "row_sum": row_sum_case,
    "row_sum_vjp": sum_vjp("row_sum_vjp", 1),
    "col_sum": col_sum_case,
    "col_sum_vjp": sum_vjp("col_sum_vjp", 0),
    "transpose": transpose_case,
    "concat": concat_case,
    "split": split_case,
}
