"""REINFORCE: balance a pole by trial and error.

The policy says how likely each push is. After an episode, the logarithms of the probabilities of
what was done are weighed with what came of it; their gradient makes good actions likelier.
"""

import math
import random

import torch
from torch import nn
from torch.distributions import Categorical


class Pole:
    """A pole on a fixed joint, pushed left or right; it has fallen beyond 0.3 radians."""

    LONGEST = 80

    def reset(self):
        self.angle, self.speed, self.steps = random.uniform(-0.1, 0.1), 0.0, 0
        return self.state()

    def state(self):
        return torch.tensor([self.angle, self.speed])

    def step(self, action):
        push = 6.0 if action == 1 else -6.0
        self.speed += 0.04 * (9.8 * math.sin(self.angle) + push)
        self.angle += 0.04 * self.speed
        self.steps += 1
        return self.state(), abs(self.angle) > 0.3 or self.steps == self.LONGEST


def returns(count, discount=0.98):
    """The discounted number of steps still to come, at each step, made comparable."""
    total, found = 0.0, []
    for _ in range(count):
        total = 1.0 + discount * total
        found.insert(0, total)
    found = torch.tensor(found)
    return (found - found.mean()) / (found.std() + 1e-6)


random.seed(0)
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-2)
pole, lengths = Pole(), []

for episode in range(100):
    state, done, log_probs = pole.reset(), False, []
    while not done:
        action = Categorical(logits=policy(state))
        chosen = action.sample()
        log_probs.append(action.log_prob(chosen))
        state, done = pole.step(chosen.item())

    loss = -(torch.stack(log_probs) * returns(len(log_probs))).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lengths.append(len(log_probs))
    if episode % 20 == 19:
        mean = sum(lengths[-20:]) / 20
        print(f"episode {episode + 1:3d}  mean length {mean:.1f}  loss {loss.item():.3f}")
