"""Two training steps of a small transformer: attention with a mask, dropout, weight tying, AdamW."""

import math
import sys

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, head_count):
        super().__init__()
        self.head_count = head_count
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).chunk(3, dim=-1)
        shape = (batch, length, self.head_count, width // self.head_count)
        q, k, v = (part.view(shape).transpose(1, 2) for part in parts)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        later = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        weights = scores.masked_fill(later, -math.inf).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, head_count):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, head_count)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))


class Transformer(nn.Module):
    def __init__(self, token_count, width, head_count, layer_count, length):
        super().__init__()
        self.tokens = nn.Embedding(token_count, width)
        self.positions = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList(Block(width, head_count) for _ in range(layer_count))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)


def main(step_count):
    torch.manual_seed(1)
    model = Transformer(token_count=50, width=16, head_count=2, layer_count=2, length=6)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    ids = torch.randint(0, 50, (2, 7))
    losses = []
    for _ in range(step_count):
        optimizer.zero_grad(set_to_none=True)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    print("losses:", " ".join(f"{loss:.6f}" for loss in losses))
    return model


model = main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
