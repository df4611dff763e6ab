"""A backward pass that autograd takes to threads of its own: checkpoints, 70 deep in each other; and a
forward pass on a thread of the script."""

import threading

import torch
from torch.utils.checkpoint import checkpoint


def nested(depth, x, w):
    if depth == 0:
        return torch.tanh(x * w)
    return checkpoint(nested, depth - 1, x, w, use_reentrant=True)


def main():
    torch.manual_seed(3)
    w = torch.randn(4, requires_grad=True)
    x = torch.randn(4, requires_grad=True)
    results = []
    thread = threading.Thread(target=lambda: results.append(nested(70, x, w).sum()))
    thread.start()
    thread.join()
    results[0].backward()
    return w.grad, x.grad


kept = main()
