"""SGD on the minimal model in PyTorch, vectorised as a careful user would: what the C loop is measured against.

    python3 torch_loop.py SECONDS [K N D H BATCH]

Prints steps a second on one thread. z = phi(x_t) + w sum_j softmax_j(beta x_j . x_t) l_j, one copy, random labels.
"""
import sys
import time

import torch


def main():
    seconds = float(sys.argv[1])
    K, N, D, H, batch = [int(a) for a in sys.argv[2:7]] or [4000, 100, 63, 512, 128]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    items = torch.randn(K, D) / D**0.5
    labels = torch.ones(K)
    labels[K // 2:] = -1
    mlp = torch.nn.Sequential(torch.nn.Linear(D, H), torch.nn.ReLU(), torch.nn.Linear(H, H), torch.nn.ReLU(),
                              torch.nn.Linear(H, 1))
    w = torch.zeros((), requires_grad=True)
    beta = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([*mlp.parameters(), w, beta], lr=0.1)

    def step():
        index = torch.randint(K, (batch, N))
        x, sign = items[index], labels[index]
        target = x[:, 0]  # the others are exchangeable, so that the target's place does not matter
        p = torch.softmax(beta * torch.bmm(x, target.unsqueeze(2)).squeeze(2), dim=1)
        z = mlp(target).squeeze(1) + w * (p * sign).sum(1)
        loss = torch.nn.functional.softplus(-sign[:, 0] * z).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    for _ in range(20):
        step()
    steps, start, cpu = 0, time.perf_counter(), time.thread_time()
    while time.perf_counter() - start < seconds:
        for _ in range(10):
            step()
        steps += 10
    print(f"{steps / (time.perf_counter() - start):.1f} {steps / (time.thread_time() - cpu):.1f}")


main()
