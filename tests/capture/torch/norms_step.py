"""Two training steps of a model of norms: batch, layer, group and RMS norms, and what is done in place.

Batch norms update their running statistics, which their schema in PyTorch 1.13 does not say.
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Norms(nn.Module):
    def __init__(self, channels, size):
        super().__init__()
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.batch = nn.BatchNorm2d(channels)
        self.group = nn.GroupNorm(2, channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, stride=2)
        self.batch2 = nn.BatchNorm2d(channels)
        width = channels * (size // 2) ** 2
        self.layer = nn.LayerNorm(width)
        self.rms = RmsNorm(width)
        self.noise = nn.RReLU()
        self.head = nn.utils.weight_norm(nn.Linear(width, 5))

    def forward(self, x):
        x = F.relu(self.batch(self.first(x)), inplace=True)
        x = self.group(x).mul_(0.5)
        x = self.noise(self.batch2(self.second(x)))
        x = self.layer(x.flatten(1))
        x = checkpoint(self.rms, x, use_reentrant=True)
        return self.head(x)


def main(step_count):
    torch.manual_seed(2)
    model = Norms(channels=4, size=6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    images = torch.randn(3, 3, 6, 6)
    labels = torch.randint(0, 5, (3,))
    average = torch.zeros(5)
    padded = torch.empty(3, 8)
    losses = []
    for _ in range(step_count):
        optimizer.zero_grad(set_to_none=True)
        logits = model(images)
        padded[:, :5] = logits.detach()
        padded[:, 5:] = 0
        torch.mean(logits.detach(), 0, out=average)
        loss = F.cross_entropy(logits, labels) + 0.01 * padded.sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        logits = model(images)
    print("losses:", " ".join(f"{loss:.6f}" for loss in losses))
    return model, logits


kept = main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
