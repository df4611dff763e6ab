"""The rules of docs/numbers.md, over tensors: beside each exact value a bound on how far any float32
evaluation of the same expression may be from it.

Written from that document, and sharing nothing with backends/float64/: what this says of a bound is
what the document says.
"""

import math

import torch

kUnit = 2.0**-24
kUnderflow = 2.0**-150


class Rounded:
    """float64 values, and the error bound of each. Inputs have none. An infinite one: anything."""

    def __init__(self, value, error=None):
        self.value = torch.as_tensor(value, dtype=torch.float64)
        self.error = torch.zeros_like(self.value) if error is None else error

    @staticmethod
    def of(value):
        return value if isinstance(value, Rounded) else Rounded(value)

    def __add__(self, other):
        other = Rounded.of(other)
        value, error = self.value + other.value, self.error + other.error
        own = kUnit * (value.abs() + error)
        is_exact = (self.value == 0) & (self.error == 0) | (other.value == 0) & (other.error == 0)
        return Rounded(value, error + torch.where(is_exact, torch.zeros_like(own), own))

    def __neg__(self):
        return Rounded(-self.value, self.error)

    def __sub__(self, other):
        return self + -Rounded.of(other)

    def __mul__(self, other):
        other = Rounded.of(other)
        error = (
            self.value.abs() * other.error
            + other.value.abs() * self.error
            + self.error * other.error
        )
        return _rounded(self.value * other.value, error)

    def __truediv__(self, other):
        other = Rounded.of(other)
        value = self.value / other.value
        margin = other.value.abs() - other.error
        error = (self.error + value.abs() * other.error) / margin
        return _rounded(value, torch.where(margin > 0, error, torch.full_like(error, math.inf)))

    def sqrt(self):
        root = self.value.sqrt()
        above = (self.value + self.error).sqrt() - root
        below = root - (self.value - self.error).clamp(min=0).sqrt()
        return _rounded(root, torch.maximum(above, below))

    def exp(self):
        value = self.value.exp()
        return _rounded(value, (self.value + self.error).exp() - value, 4)

    def log(self):
        value = self.value.log()
        above = (self.value + self.error).log() - value
        return _rounded(value, torch.maximum(above, value - (self.value - self.error).log()), 4)

    def sin(self):
        return Rounded(self.value.sin(), self.error + 2.0**-23)

    def cos(self):
        return Rounded(self.value.cos(), self.error + 2.0**-23)

    def sum(self, dimension, depth, keepdim=False):
        """A sum in which no term passes through more than `depth` additions that round."""
        value = self.value.sum(dimension, keepdim=keepdim)
        error = self.error + gamma(depth) * (self.value.abs() + self.error)
        return Rounded(value, error.sum(dimension, keepdim=keepdim))

    def __getitem__(self, key):
        return Rounded(self.value[key], self.error[key])


def gamma(depth):
    """Of so many roundings one after another, the relative error."""
    return depth * kUnit / (1 - depth * kUnit)


# An error without a bound stays without one: infinity times zero is NaN.
def _rounded(value, error, units=1):
    error = torch.nan_to_num(error, nan=math.inf, posinf=math.inf)
    return Rounded(value, error + units * kUnit * (value.abs() + error) + kUnderflow)


def row_depth(count):
    """Of a row: 32 partial sums of every 32nd term, and then a tree."""
    return math.ceil(count / 32) - 1 + math.ceil(math.log2(min(count, 32)))


def row_sum(terms):
    return terms.sum(-1, row_depth(terms.value.shape[-1]), keepdim=True)


def row_mean(terms):
    return row_sum(terms) / float(terms.value.shape[-1])


def chain_sum(terms, dimension):
    """One addition after another, from zero."""
    return terms.sum(dimension, terms.value.shape[dimension] - 1)
