#!/usr/bin/env python3
"""How long 'tidemark fuzz' takes to find each fault of the virtual device that a program can show, and how many steps are left.

    ci/lab/fuzz/fuzz_faults.py build/tidemark [--seconds 30] [--jobs 1] [--only REGEX] >FAULTS.csv

Faults of what no document promises, of peers, stress and GEMMs are left out: no drawn program has these. The last line counts.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
TABLE = r'\b(load|im2col_load|im2col_store|multicast|store|program|consume|read)_fault\(\s*kFault\w+,\s*"([a-z0-9_]+)"'


def fault_names():
    texts = [open(path).read() for path in sorted(glob.glob(f"{ROOT}/kernels/virtual/**/*.?pp", recursive=True))]
    return [name for text in texts for _, name in re.findall(TABLE, text)]


def hunt(program, fault, seconds, seed):
    """(found, seconds, steps of the smallest program or None)"""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        ran = subprocess.run([program, "fuzz", "--device", "virtual", "--fault", fault, "--for", f"{seconds}s", "--seed", str(seed),
                              "--json", f"{folder}/p.json"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        took = time.monotonic() - began
        if ran.returncode not in (0, 1, 4):  # 4: not one batch within the time
            sys.exit(f"{fault}: exit {ran.returncode}: {ran.stdout}")
        steps = len(json.load(open(f"{folder}/p.json"))["steps"]) if os.path.exists(f"{folder}/p.json") else None
        return ran.returncode == 1, took, steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    names = [name for name in fault_names() if re.search(given.only, name)]
    print("fault,found,seconds with minimizing,steps left")
    found = []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        hunts = pool.map(lambda name: (name, *hunt(given.program, name, given.seconds, given.seed)), names)
        for name, is_found, took, steps in hunts:
            print(f"{name},{'yes' if is_found else 'no'},{took:.1f},{'' if steps is None else steps}", flush=True)
            found += [steps] if is_found else []
    steps = [each for each in found if each is not None]
    mean = f", {sum(steps) / len(steps):.1f} steps left in the mean of {len(steps)}" if steps else ""
    print(f"{len(found)} of {len(names)} faults found in {given.seconds:g} s each{mean}")


if __name__ == "__main__":
    main()
