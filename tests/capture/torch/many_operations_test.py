"""Operations of many kinds, and the modules and optimizers that have ways of their own: recorded, and
replayed with the real operations. `./dev torch` runs it."""

import unittest
import warnings

import torch
from torch import nn
from torch.nn import functional as F

from recording import Recording, interlock


def training(make_module, make_input, make_optimizer):
    """Returns a function that trains a module for two steps."""

    def run():
        torch.manual_seed(1)
        module = make_module()
        optimizer = make_optimizer(module.parameters())
        for _ in range(2):
            result = module(make_input())
            while isinstance(result, tuple):
                result = result[0]
            optimizer.zero_grad()
            (result * result).mean().backward()
            optimizer.step()
        return module, optimizer

    return run


def differentiated():
    torch.manual_seed(2)
    x = torch.randn(6, 8, requires_grad=True)
    square = x[:, :6] @ x[:, :6].t() + 6 * torch.eye(6)
    parts = (
        torch.fft.rfft(x).abs(),
        torch.cumsum(x, 1).prod(1),
        x.sort(1).values[:, :2],
        F.pad(x, (1, 1)).unfold(1, 3, 2),
        torch.einsum("ij,kj->ik", x, x).logsumexp(1),
        x.topk(3).values,
        torch.where(x > 0, x, -x),
        x[x > 0],
        x.clamp(-1, 1).std(),
        F.interpolate(x.view(1, 1, 6, 8), scale_factor=2, mode="bilinear"),
        F.max_pool2d(x.view(1, 1, 6, 8), 2),
        torch.linalg.norm(x),
        x.svd()[1],
        torch.linalg.solve(square, x),
    )
    sum(part.sum() for part in parts).backward()
    return x


def in_place():
    torch.manual_seed(3)
    z = torch.randn(6, 8)
    z.scatter_(1, torch.arange(6)[:, None], 5.0)
    z.index_add_(0, torch.tensor([1, 1]), z[:2].clone())
    z.masked_fill_(z > 2, 0.0)
    z.cumsum_(0).t_().add_(1).clamp_(min=0).sqrt_().addcmul_(z, z, value=2.0)
    z[2:4] = z[0]
    z.index_fill_(0, torch.tensor([1]), 7.0)
    w = torch.empty(3, 3).random_(5).tril_().fill_diagonal_(1.0)
    q = torch.linspace(0, 1, 5).lerp_(torch.ones(5), 0.3)
    sorted_z = torch.sort(z, out=(torch.empty(0), torch.empty(0, dtype=torch.long)))
    drawn = z.new_empty(4).exponential_(), torch.multinomial(torch.ones(5), 3), torch.randperm(7)
    counts = torch.histc(z, 5), torch.bincount(torch.tensor([1, 2, 2])), torch.nonzero(z)
    others = torch.renorm(z, 2, 0, 1.0), torch.cdist(z, z), torch.searchsorted(q, q)
    return z, w, q, sorted_z, drawn, counts, others


def in_bfloat16():
    torch.manual_seed(4)
    module = nn.Linear(8, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = module(torch.randn(4, 8)).sum()
    loss.backward()
    return module, loss


def mixed_convolutions():
    norm = nn.InstanceNorm2d(3, affine=True, track_running_stats=True)
    last = nn.AdaptiveAvgPool2d(2), nn.LocalResponseNorm(2)
    return nn.Sequential(nn.ConvTranspose2d(2, 3, 3), norm, nn.PReLU(), nn.Dropout2d(0.3), *last)


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)


kOptimizers = torch.optim
kCases = {
    "differentiated": differentiated,
    "in place": in_place,
    "bfloat16": in_bfloat16,
    "lstm": training(
        lambda: nn.LSTM(5, 4, num_layers=2, bidirectional=True, dropout=0.2),
        lambda: torch.randn(3, 2, 5),
        lambda p: kOptimizers.Adam(p, foreach=True, amsgrad=True),
    ),
    "gru": training(
        lambda: nn.GRU(5, 4), lambda: torch.randn(3, 2, 5), lambda p: kOptimizers.ASGD(p)
    ),
    "encoder": training(encoder, lambda: torch.randn(3, 2, 8), kOptimizers.Adam),
    "embedding bag": training(
        lambda: nn.EmbeddingBag(10, 4), lambda: torch.randint(0, 10, (3, 4)), kOptimizers.Adagrad
    ),
    "embedding of a largest norm": training(
        lambda: nn.Embedding(10, 4, max_norm=0.5),
        lambda: torch.randint(0, 10, (3, 4)),
        lambda p: kOptimizers.RMSprop(p, momentum=0.9),
    ),
    "convolutions": training(
        mixed_convolutions, lambda: torch.randn(2, 2, 5, 5), kOptimizers.Adamax
    ),
    "spectral norm": training(
        lambda: nn.utils.spectral_norm(nn.Linear(4, 4)), lambda: torch.randn(3, 4), kOptimizers.NAdam
    ),
    "batch norm without momentum": training(
        lambda: nn.Sequential(nn.BatchNorm1d(4, momentum=None), nn.GLU(1), nn.FeatureAlphaDropout(0.2)),
        lambda: torch.randn(5, 4, 3),
        kOptimizers.Rprop,
    ),
}


class ManyOperations(unittest.TestCase):
    def test_are_what_the_run_did(self):
        kernels = set()
        for name, function in kCases.items():
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                recording = Recording(function)
                outcome = recording.replay(drops_operands=False)
                self.assertEqual(outcome.differences, [])
                self.assertEqual(dict(recording.recorder.not_understood), {})
                for path in (recording.path, recording.placed_path):
                    status, output = interlock("check", path)
                    self.assertEqual(status, 0, output)
                kernels |= outcome.kernels
        print(f"replayed operations of {len(kernels)} kinds:", *sorted(kernels))
        self.assertGreater(len(kernels), 150)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main(verbosity=2)
