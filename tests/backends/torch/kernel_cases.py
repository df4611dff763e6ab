"""Kernels of the table beside PyTorch's functions and their gradients by autograd, in float64.

A case is a dispatch with inputs that a seed draws; what it must give is PyTorch's alone. How far it
may be off is what docs/numbers.md says, by the expression that stands there.
"""

import math
from typing import Callable, Dict, List, NamedTuple, Tuple

import torch
from torch.nn import functional as F

from rounded import Rounded, chain_sum, gamma, kUnderflow, kUnit, row_depth, row_mean, row_sum


class Input(NamedTuple):
    name: str
    values: torch.Tensor  # float32 or int32; a copy that the dispatch may update.


class Case(NamedTuple):
    kernel: str
    reads: List[Input]
    updates: List[Input]
    outputs: List[Tuple[str, Tuple[int, ...]]]  # Names and shapes of what it writes.
    attributes: Dict[str, str]
    expected: List[torch.Tensor]  # float64: of the outputs, or else of the updates.
    bounds: List[Rounded]


class Draw:
    """Shapes and values of a case, from a seed."""

    def __init__(self, seed: int):
        self.generator = torch.Generator().manual_seed(seed)
        self.rows = self.integer(1, 9)
        self.cols = self.integer(1, 6) if seed % 3 == 0 else self.integer(1, 160)
        self.scale = (1.0, 1e-8, 1e8)[seed % 5 if seed % 5 < 3 else 0]

    def integer(self, low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (1,), generator=self.generator))

    def normal(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        return torch.randn(*shape, generator=self.generator) * scale

    def ids(self, count: int, limit: int) -> torch.Tensor:
        return torch.randint(0, limit, (count,), generator=self.generator, dtype=torch.int32)


def exact(value: torch.Tensor) -> torch.Tensor:
    return value.double()


def gradients(function: Callable, inputs: List[torch.Tensor], cotangent: torch.Tensor):
    leaves = [value.detach().double().requires_grad_() for value in inputs]
    return torch.autograd.grad(function(*leaves), leaves, cotangent.double())


def rows_of_gradients(function: Callable, x, w, b, g) -> Tuple[torch.Tensor, torch.Tensor]:
    """Returns the gradient by x, and for each row alone that by w."""
    rows = [gradients(function, [x[r : r + 1], w, *b], g[r : r + 1]) for r in range(x.shape[0])]
    return torch.cat([row[0] for row in rows]), torch.stack([row[1] for row in rows])


# --- Norms -----------------------------------------------------------------------------------------

kEps = 2.0**-17


def rms_norm(x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + kEps) * w


def layer_norm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b, kEps)


def norm_inputs(draw: Draw):
    x = draw.normal(draw.rows, draw.cols, scale=draw.scale) + draw.scale * (draw.integer(0, 3) > 2) * 10
    return x, draw.normal(draw.cols), draw.normal(draw.cols), draw.normal(draw.rows, draw.cols)


def rms_root(x):
    return Rounded(1.0) / (row_mean(x * x) + kEps).sqrt()


def rms_norm_case(draw):
    x, w, _, _ = norm_inputs(draw)
    rx, rw = Rounded(exact(x)), Rounded(exact(w))
    bound = (rx * rms_root(rx)) * rw
    return Case("rms_norm", [Input("x", x), Input("w", w)], [], [("y", x.shape)],
                {"eps": repr(kEps)}, [rms_norm(exact(x), exact(w))], [bound])


def rms_norm_vjp_case(draw, stream=False):
    x, w, _, g = norm_inputs(draw)
    rx, rw, rg = (Rounded(exact(value)) for value in (x, w, g))
    r = rms_root(rx)
    if stream:
        count = float(draw.cols)
        c = -(row_sum((rw * rg) * rx) / (row_sum(rx * rx) + Rounded(kEps) * count))
        gx = (rx * c + rw * rg) * r
    else:
        gx = r * (rw * rg) - rx * (((r * r) * r) * row_mean((rw * rg) * rx))
    name = "rms_norm_vjp_stream" if stream else "rms_norm_vjp"
    expected = rows_of_gradients(rms_norm, x, w, [], g)
    return Case(name, [Input("x", x), Input("w", w), Input("g", g)], [],
                [("gx", x.shape), ("gw_rows", x.shape)], {"eps": repr(kEps)}, list(expected),
                [gx, (rg * rx) * r])


def normalized(x):
    """(x - mean) r, with the document's bound of the variance: centered values add up to zero."""
    count = x.value.shape[-1]
    mean = row_mean(x)
    centered = x - mean
    variance = row_mean(centered * centered)
    tighter = mean.error**2 + gamma(row_depth(count) + 5) * (variance.value + mean.error**2)
    variance = Rounded(variance.value, torch.minimum(variance.error, tighter))
    r = Rounded(1.0) / (variance + kEps).sqrt()
    return centered * r, r


def layer_norm_case(draw):
    x, w, b, _ = norm_inputs(draw)
    n, _ = normalized(Rounded(exact(x)))
    bound = n * exact(w) + exact(b)
    return Case("layer_norm", [Input("x", x), Input("w", w), Input("b", b)], [], [("y", x.shape)],
                {"eps": repr(kEps)}, [layer_norm(exact(x), exact(w), exact(b))], [bound])


def layer_norm_vjp_case(draw):
    x, w, b, g = norm_inputs(draw)
    n, r = normalized(Rounded(exact(x)))
    wg = Rounded(exact(w)) * exact(g)
    gx = ((wg - row_mean(wg)) - n * row_mean(wg * n)) * r
    expected = rows_of_gradients(layer_norm, x, w, [b], g)
    return Case("layer_norm_vjp", [Input("x", x), Input("w", w), Input("g", g)], [],
                [("gx", x.shape), ("gw_rows", x.shape)], {"eps": repr(kEps)}, list(expected),
                [gx, Rounded(exact(g)) * n])


# --- Softmax and what is made of it ----------------------------------------------------------------


def exponentials(x):
    largest = x.max(-1, keepdim=True).values
    shifted = Rounded(exact(x)) - exact(largest)
    return shifted, shifted.exp()


def softmax_of(x):
    _, powers = exponentials(x)
    return powers / row_sum(powers)


def softmax_case(draw):
    x = draw.normal(draw.rows, draw.cols, scale=draw.integer(1, 8))
    return Case("softmax", [Input("x", x)], [], [("y", x.shape)], {}, [exact(x).softmax(-1)],
                [softmax_of(x)])


# The kernel reads y, which float32 rounds: off by half an ulp from PyTorch's.
def softmax_vjp_case(draw, stream=False):
    x = draw.normal(draw.rows, draw.cols, scale=draw.integer(1, 3))
    g = draw.normal(draw.rows, draw.cols, scale=draw.scale)
    (expected,) = gradients(lambda v: v.softmax(-1), [x], g)
    true_y = exact(x).softmax(-1)
    y = Rounded(true_y, kUnit * true_y + kUnderflow)
    bound = y * (Rounded(exact(g)) - row_sum(y * exact(g)))
    name = "softmax_vjp_stream" if stream else "softmax_vjp"
    return Case(name, [Input("y", true_y.float()), Input("g", g)], [], [("gx", x.shape)], {},
                [expected], [bound])


def cross_entropy_case(draw):
    x = draw.normal(draw.rows, draw.cols, scale=draw.integer(1, 8))
    labels = draw.ids(draw.rows, draw.cols)
    shifted, powers = exponentials(x)
    chosen = torch.arange(draw.rows), labels.long()
    bound = row_sum(powers).log()[:, 0] - shifted[chosen]
    expected = F.cross_entropy(exact(x), labels.long(), reduction="none")
    return Case("cross_entropy", [Input("logits", x), Input("labels", labels)], [],
                [("loss", (draw.rows,))], {}, [expected], [bound])


def cross_entropy_vjp_case(draw):
    x = draw.normal(draw.rows, draw.cols, scale=draw.integer(1, 8))
    labels, g = draw.ids(draw.rows, draw.cols), draw.normal(draw.rows, scale=draw.scale)
    one_hot = F.one_hot(labels.long(), draw.cols).double()
    bound = (softmax_of(x) - one_hot) * exact(g)[:, None]
    (expected,) = gradients(
        lambda v: F.cross_entropy(v, labels.long(), reduction="none"), [x], g
    )
    return Case("cross_entropy_vjp", [Input("logits", x), Input("labels", labels), Input("g", g)],
                [], [("glogits", x.shape)], {}, [expected], [bound])


# --- Embedding and rope ----------------------------------------------------------------------------


def embedding_case(draw):
    table, ids = draw.normal(draw.integer(1, 9), draw.cols), draw.ids(draw.rows, 9)
    ids = ids % table.shape[0]
    expected = F.embedding(ids.long(), exact(table))
    return Case("embedding", [Input("ids", ids), Input("table", table)], [],
                [("y", tuple(expected.shape))], {}, [expected], [Rounded(expected)])


def embedding_vjp_case(draw):
    row_count = draw.integer(1, 5)
    ids, g = draw.ids(draw.rows, row_count), draw.normal(draw.rows, draw.cols, scale=draw.scale)
    (expected,) = gradients(
        lambda table: F.embedding(ids.long(), table), [torch.zeros(row_count, draw.cols)], g
    )
    parts = []
    for row in range(row_count):
        terms = Rounded(exact(g)[ids.long() == row])
        parts.append(terms.sum(0, max(terms.value.shape[0] - 1, 0)))
    bound = Rounded(torch.stack([p.value for p in parts]), torch.stack([p.error for p in parts]))
    return Case("embedding_vjp", [Input("ids", ids), Input("g", g)], [],
                [("gtable", (row_count, draw.cols))], {}, [expected], [bound])


kRopeBase = 10000.0


def rope_inputs(draw):
    pairs = (draw.cols + 1) // 2
    start = draw.integer(0, 2000)
    exponent = torch.arange(pairs, dtype=torch.float64) / pairs * math.log(kRopeBase)
    angle = (torch.arange(draw.rows).double()[:, None] + start) * torch.exp(-exponent)
    x = draw.normal(draw.rows, 2 * pairs, scale=draw.scale)
    turned = Rounded(angle, (6 * exponent + 5) * kUnit * angle)
    return x, start, angle, turned


def rope(x, angle):
    pairs = torch.view_as_complex(x.reshape(x.shape[0], -1, 2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(1)


def rope_bound(x, turned, sign):
    first, second = Rounded(exact(x[:, 0::2])), Rounded(exact(x[:, 1::2]))
    sine, cosine = turned.sin(), turned.cos()
    sine = Rounded(sign * sine.value, sine.error)
    even, odd = first * cosine - second * sine, first * sine + second * cosine
    merged = [torch.stack(pair, -1).flatten(1)
              for pair in ((even.value, odd.value), (even.error, odd.error))]
    return Rounded(*merged)


def rope_case(draw):
    x, start, angle, turned = rope_inputs(draw)
    return Case("rope", [Input("x", x)], [], [("y", x.shape)],
                {"base": repr(kRopeBase), "start": str(start)}, [rope(exact(x), angle)],
                [rope_bound(x, turned, 1)])


def rope_vjp_case(draw):
    x, start, angle, turned = rope_inputs(draw)
    (expected,) = gradients(lambda v: rope(v, angle), [torch.zeros_like(x)], x)
    return Case("rope_vjp", [Input("g", x)], [], [("gx", x.shape)],
                {"base": repr(kRopeBase), "start": str(start)}, [expected],
                [rope_bound(x, turned, -1)])


# --- Others ----------------------------------------------------------------------------------------


def silu_parts(x):
    rx = Rounded(exact(x))
    return rx, Rounded(1.0) + (-rx).exp()


def silu_case(draw):
    x = draw.normal(draw.rows, draw.cols, scale=draw.integer(1, 10))
    rx, divisor = silu_parts(x)
    return Case("silu", [Input("x", x)], [], [("y", x.shape)], {}, [F.silu(exact(x))],
                [rx / divisor])


def silu_vjp_case(draw):
    x = draw.normal(draw.rows, draw.cols, scale=draw.integer(1, 10))
    g = draw.normal(draw.rows, draw.cols, scale=draw.scale)
    rx, divisor = silu_parts(x)
    s = Rounded(1.0) / divisor
    bound = Rounded(exact(g)) * (s * (Rounded(1.0) + rx * (Rounded(1.0) - s)))
    (expected,) = gradients(F.silu, [x], g)
    return Case("silu_vjp", [Input("x", x), Input("g", g)], [], [("gx", x.shape)], {},
                [expected], [bound])


def matmul_case(draw, kind):
    inner = draw.integer(1, 40)
    cols = min(draw.cols, 40)
    a, b = draw.normal(draw.rows, inner, scale=draw.scale), draw.normal(inner, cols)
    bound = chain_sum(Rounded(exact(a)[:, :, None]) * exact(b)[None], 1)
    left = a.t().contiguous() if kind == "tn" else a
    right = b.t().contiguous() if kind == "nt" else b
    return Case(f"matmul_{kind}", [Input("a", left), Input("b", right)], [],
                [("y", (draw.rows, cols))], {}, [exact(a) @ exact(b)], [bound])


def adamw_case(draw):
    g, p, m = (draw.normal(draw.rows, draw.cols) for _ in range(3))
    v = draw.normal(draw.rows, draw.cols).abs()
    step, lr, beta1, beta2, eps, decay = draw.integer(1, 40), 2.0**-7, 0.875, 0.984375, 2.0**-20, 0.125
    parameter = torch.nn.Parameter(exact(p))
    parameter.grad = exact(g)
    optimizer = torch.optim.AdamW([parameter], lr, (beta1, beta2), eps, decay)
    optimizer.state[parameter] = {
        "step": torch.tensor(float(step - 1)), "exp_avg": exact(m), "exp_avg_sq": exact(v)}
    optimizer.step()
    state = optimizer.state[parameter]
    rg, rp = Rounded(exact(g)), Rounded(exact(p))
    new_m = Rounded(exact(m)) * beta1 + (Rounded(1.0) - beta1) * rg
    new_v = Rounded(exact(v)) * beta2 + (Rounded(1.0) - beta2) * (rg * rg)

    def corrected(moment, beta):
        power = torch.tensor(beta**step, dtype=torch.float64)
        return moment / (Rounded(1.0) - Rounded(power, (step - 1) * kUnit * power))

    ratio = corrected(new_m, beta1) / (corrected(new_v, beta2).sqrt() + eps)
    new_p = rp * (Rounded(1.0) - Rounded(lr) * decay) - Rounded(lr) * ratio
    return Case("adamw", [Input("g", g)], [Input("p", p), Input("m", m), Input("v", v)], [],
                {"lr": repr(lr), "step": str(step), "beta1": repr(beta1), "beta2": repr(beta2),
                 "eps": repr(eps), "weight_decay": repr(decay)},
                [parameter.detach(), state["exp_avg"], state["exp_avg_sq"]], [new_p, new_m, new_v])


kCases: Dict[str, Callable[[Draw], Case]] = {
    "layer_norm": layer_norm_case,
    "layer_norm_vjp": layer_norm_vjp_case,
    "rms_norm": rms_norm_case,
    "rms_norm_vjp": rms_norm_vjp_case,
    "rms_norm_vjp_stream": lambda draw: rms_norm_vjp_case(draw, stream=True),
    "softmax": softmax_case,
    "softmax_vjp": softmax_vjp_case,
    "softmax_vjp_stream": lambda draw: softmax_vjp_case(draw, stream=True),
    "cross_entropy": cross_entropy_case,
    "cross_entropy_vjp": cross_entropy_vjp_case,
    "embedding": embedding_case,
    "embedding_vjp": embedding_vjp_case,
    "rope": rope_case,
    "rope_vjp": rope_vjp_case,
    "silu": silu_case,
    "silu_vjp": silu_vjp_case,
    "matmul_nn": lambda draw: matmul_case(draw, "nn"),
    "matmul_nt": lambda draw: matmul_case(draw, "nt"),
    "matmul_tn": lambda draw: matmul_case(draw, "tn"),
    "adamw": adamw_case,
}
