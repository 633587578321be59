"""SGD on the one-layer transformer in PyTorch, vectorised, with one query a sequence: what the C loop is measured
against.

    python3 torch_transformer.py SECONDS [K N D H BATCH]

Prints steps a second on one thread. Tokens (x, label), LayerNorm, one head whose last position alone is asked for,
added to the last token, then the MLP; random labels, one copy.
"""
import sys
import time

import torch


def main():
    seconds = float(sys.argv[1])
    K, N, D, H, batch = [int(a) for a in sys.argv[2:7]] or [4000, 100, 63, 512, 128]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    labels = torch.ones(K, 1)
    labels[K // 2:] = -1
    items = torch.cat([torch.randn(K, D) / D**0.5, labels], 1)
    d = D + 1
    norm = torch.nn.LayerNorm(d)
    query, key, value = (torch.nn.Linear(d, d, bias=False) for _ in range(3))
    mlp = torch.nn.Sequential(torch.nn.Linear(d, H), torch.nn.ReLU(), torch.nn.Linear(H, H), torch.nn.ReLU(),
                              torch.nn.Linear(H, 1))
    modules = torch.nn.ModuleList([norm, query, key, value, mlp])
    optimizer = torch.optim.SGD(modules.parameters(), lr=0.01)

    def step():
        index = torch.randint(K, (batch, N + 1))
        index[:, 0] = index[:, N]  # the copy; the others are exchangeable, so that its place does not matter
        tokens = items[index]
        sign = tokens[:, N, D].clone()
        tokens[:, N, D] = 0
        u = norm(tokens)
        last = u[:, N:]
        p = torch.softmax(query(last) @ key(u).transpose(1, 2), dim=2)
        z = mlp((last + p @ value(u)).squeeze(1)).squeeze(1)
        loss = torch.nn.functional.softplus(-sign * z).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    for _ in range(5):
        step()
    steps, start, cpu = 0, time.perf_counter(), time.thread_time()
    while time.perf_counter() - start < seconds:
        for _ in range(5):
            step()
        steps += 5
    print(f"{steps / (time.perf_counter() - start):.1f} {steps / (time.thread_time() - cpu):.1f}")


main()
