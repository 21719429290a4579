#!/usr/bin/env python3
"""How long four ranks in a grid of 2 x 2 take to read both panels from each other: ci/peers/exchange_model.py

A rank reads from one owner at a time; an owner that two ranks read from serves each at half the rate. Ranks begin up to
25 us apart, and a shard costs 3 us more than its bytes (kernels/cuda/gemm/NOTES.md, "Several GPUs"). By turns: a shard of
A, one of B, and so on. Behind: all of A, then all of B. 32 MiB a panel at 300 GB/s; the slowest rank of 400 draws."""
import random
import statistics

RANKS, PANEL_MIB, GB_S, SHARD_US, LATE_US, DRAWS = 4, 32, 300, 3, 25, 400


def exchange_us(by_turns, shard_mib, draw):
    """Of each rank, from its own start."""
    count = PANEL_MIB // shard_mib
    size = shard_mib * 2**20 / GB_S / 1e3  # us alone
    owners = []
    for rank in range(RANKS):
        a, b = [rank ^ 1] * count, [rank ^ 2] * count
        owners.append([owner for pair in zip(a, b) for owner in pair] if by_turns else a + b)
    started = [draw.uniform(0, LATE_US) for _ in range(RANKS)]
    pause, left, shard, took = list(started), [size] * RANKS, [0] * RANKS, [None] * RANKS
    now = 0.0
    while None in took:
        open_ranks = [rank for rank in range(RANKS) if took[rank] is None]
        reading = [rank for rank in open_ranks if pause[rank] < 1e-9]
        served = [owners[rank][shard[rank]] for rank in reading]
        rates = {rank: 1 / served.count(owner) for rank, owner in zip(reading, served)}
        step = min([left[rank] / rates[rank] for rank in reading] + [pause[rank] for rank in open_ranks if rank not in rates])
        now += step
        for rank in open_ranks:
            if rank not in rates:
                pause[rank] -= step
                continue
            left[rank] -= step * rates[rank]
            if left[rank] > 1e-9:
                continue
            shard[rank] += 1
            left[rank], pause[rank] = size, SHARD_US
            if shard[rank] == 2 * count:
                took[rank] = now - started[rank]
    return took


def main():
    print("order     shards  median  5 to 95 %   ranks 0 and 3 alike, 0 and 1")
    for by_turns in (True, False):
        for shard_mib in (32, 16, 8, 4):
            drawn = [exchange_us(by_turns, shard_mib, random.Random(seed)) for seed in range(DRAWS)]
            slowest = sorted(max(took) for took in drawn)
            columns = list(zip(*drawn))
            alike = [statistics.correlation(columns[0], columns[other]) for other in (3, 1)]
            print(f"{'by turns' if by_turns else 'behind':9s} {shard_mib:2d} MiB  {statistics.median(slowest):3.0f} us  "
                  f"{slowest[DRAWS // 20]:3.0f} to {slowest[-DRAWS // 20]:3.0f} us  {alike[0]:.2f}, {alike[1]:.2f}")


if __name__ == "__main__":
    main()
