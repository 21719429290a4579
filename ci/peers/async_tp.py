#!/usr/bin/env python3
"""Compares the distributed GEMM with PyTorch's asynchronous tensor parallelism on the same GPUs:
    ci/peers/async_tp.py [--tidemark build/tidemark] [--out peers.json] [N ...]
C = A B, n x n, bf16, normal data, one process a GPU. A is sharded by rows, B and C by columns:
    plain   all_gather_into_tensor, then matmul
    fused   torch.ops.symm_mem.fused_all_gather_matmul (without a copy of A for the caller)
    local   matmul with A already gathered
All run in each iteration, in rotating order, each behind a barrier on the GPUs. The host queues ahead, so its launch time
does not count. While plain gathers the GPUs cool, which the others then gain from: tidemark times a product with its
exchange behind one alone, and `--kinds fused local` has PyTorch do the same. A time is that of the slowest rank; a rate is 2 n^3 / the median. NVLink multicast is off.
With --tidemark each round measures PyTorch, then tidemark. Needs PyTorch 2.11 and 2 to 8 NVLink GPUs of one host."""
import argparse
import json
import os
import pathlib
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

KINDS = ("plain", "fused", "local")
# Some hosts forbid multicast, and NCCL and PyTorch then fail where they could go without.
CHILD_ENV = {"TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NCCL_NVLS_ENABLE": "0", "PYTHONWARNINGS": "ignore"}
MPI_ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "NCCL_NVLS_ENABLE": "0"}
CYCLES_OF_US = 2_000  # of a GPU's clock


class Failed(Exception):
    """One line: why a size was not measured."""


def one_line(*texts):
    """The last line that says something, of the first text that has one."""
    for text in texts:
        lines = [line.strip() for line in text.splitlines() if line.strip(" -=*")]
        told = [line for line in lines if line.startswith("tidemark: ")] or lines[-1:]
        if told:
            return told[0][:300]
    return ""


# ---- one rank, a process of its own -------------------------------------------------------------------------------


def measure(rank, ranks, port, n, warmup, pairs, pause_us, kinds):
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory  # noqa: F401, defines torch.ops.symm_mem

    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks, device_id=device)
    group = dist.group.WORLD.group_name
    torch.manual_seed(1 + rank)
    shard = torch.randn(n // ranks, n, device=device, dtype=torch.bfloat16)
    b = torch.randn(n // ranks, n, device=device, dtype=torch.bfloat16).t()  # K-major, as weights and tidemark's panels
    a = torch.empty(n, n, device=device, dtype=torch.bfloat16)
    gathered = torch.empty_like(a)
    c = torch.empty(n, n // ranks, device=device, dtype=torch.bfloat16)
    token = torch.zeros(1, device=device)
    dist.all_gather_into_tensor(a, shard)

    def plain():
        dist.all_gather_into_tensor(gathered, shard)
        return torch.matmul(gathered, b, out=c)

    def fused():
        return torch.ops.symm_mem.fused_all_gather_matmul(shard, [b], gather_dim=0, group_name=group, return_A=False)[1][0]

    def local():
        return torch.matmul(a, b, out=c)

    run = {"plain": plain, "fused": fused, "local": local}
    rows = slice(None, None, 61)
    expected = local()[rows].float()
    for kind in kinds:
        c.fill_(float("nan"))
        difference = (run[kind]()[rows].float() - expected).abs().max() / expected.abs().max()
        if not difference.item() < 0.02:
            raise Failed(f"the {kind} product is wrong: it differs from the local one by {difference.item():.3g} of its range")
    del expected, difference

    def timed(kind):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(pause_us * CYCLES_OF_US)
        dist.all_reduce(token)
        start.record()
        run[kind]()
        end.record()
        return start, end

    times = []
    for i in range(warmup + pairs):
        order = [kinds[(i + j) % len(kinds)] for j in range(len(kinds))]
        events = {kind: timed(kind) for kind in order}
        torch.cuda.synchronize()
        if i >= warmup:
            times.append([events[kind][0].elapsed_time(events[kind][1]) for kind in kinds])
    mine = torch.tensor(times, device=device)
    dist.all_reduce(mine, op=dist.ReduceOp.MAX)
    if rank == 0:
        slowest = mine.t().tolist()
        print(json.dumps({
            "ms": dict(zip(kinds, slowest)), "torch": torch.__version__, "gpu": torch.cuda.get_device_name(device),
            "nccl": ".".join(map(str, torch.cuda.nccl.version())), "cuda": torch.version.cuda}))
    dist.barrier()
    dist.destroy_process_group()


def child(given):
    try:
        measure(**json.loads(given))
    except BaseException as error:  # whatever it is, the parent prints one line of it
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        print(f"rank {json.loads(given)['rank']}: {type(error).__name__}: {first}", file=sys.stderr, flush=True)
        os._exit(1)  # peers hang in a collective: nothing is torn down


# ---- the parent, which needs no PyTorch ---------------------------------------------------------------------------


def end_all(started):
    left = [each for each in started if each.poll() is None]
    for sent, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 60)):  # mpirun ends its ranks on the first alone
        for each in left:
            os.killpg(each.pid, sent)
        until = time.monotonic() + patience
        while left and time.monotonic() < until:
            time.sleep(0.05)
            left = [each for each in left if each.poll() is None]


def run_all(commands, env, timeout, folder):
    """Runs the commands beside each other and returns what the first one printed. One that fails ends all."""
    logs = [(open(folder / f"{i}.out", "w+"), open(folder / f"{i}.err", "w+")) for i in range(len(commands))]
    started = []
    try:
        for command, (out, err) in zip(commands, logs):
            started.append(subprocess.Popen(command, env={**os.environ, **env}, stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL, start_new_session=True))
        until = time.monotonic() + timeout
        while True:
            codes = [each.poll() for each in started]
            bad = next((i for i, code in enumerate(codes) if code), None)
            if bad is not None:
                for file in logs[bad]:
                    file.seek(0)
                raise Failed(one_line(logs[bad][1].read(), logs[bad][0].read(),
                                      f"process {bad} ended with {codes[bad]} and said nothing"))
            if all(code == 0 for code in codes):
                logs[0][0].seek(0)
                return logs[0][0].read()
            if time.monotonic() > until:
                raise Failed(f"no result after {timeout} s; --timeout allows more")
            time.sleep(0.05)
    except OSError as error:
        raise Failed(f"{commands[0][0]} cannot be started: {error.strerror}") from error
    finally:
        end_all(started)
        for out, err in logs:
            out.close()
            err.close()


def torch_round(options, n, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = {"ranks": options.gpus, "port": port, "n": n, "warmup": options.warmup, "pairs": options.pairs,
             "pause_us": options.pause_us, "kinds": options.kinds}
    printed = run_all([[sys.executable, os.path.abspath(__file__), "--child", json.dumps({**given, "rank": rank})]
                       for rank in range(options.gpus)], CHILD_ENV, options.timeout, folder)
    return json.loads(one_line_of_json(printed))


def one_line_of_json(text):
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return line
    raise Failed("rank 0 printed no result")


def tidemark_round(options, n, index, folder):
    report = options.reports / f"{n}-{index}.h5"
    report.unlink(missing_ok=True)
    arguments = [word.replace("{n}", str(n)) for word in shlex.split(options.bench)]
    run_all([["mpirun", "--bind-to", "none", "-n", str(options.gpus), options.tidemark, "bench", *arguments,
              "--out", str(report)]], MPI_ENV, options.timeout, folder)
    shown = json.loads(run_all([[options.tidemark, "show", "--json", str(report)]], {}, options.timeout, folder))
    return {"report": report.name, **speeds_of(shown, n)}


def speeds_of(report, n):
    """The rate of the slowest GPU, sample by sample, and the efficiency, each as a median."""
    cases = {case["case_id"]: case["name"] for case in report["cases"]}
    results = {each["result_id"] for each in report["results"] if cases[each["case_id"]] == "gemm.distributed.speed"}
    found = {}
    for index, metric in enumerate(report["metrics"]):
        if metric["result_id"] in results:
            found.setdefault(metric["name"], []).append(index)
    samples = {}
    for sample in report["samples"]:
        samples.setdefault(sample["metric_id"], []).append(sample["value"])

    def slowest(name):
        metrics = found.get(f"{name}_{n}") or (found.get(name) if n == 8192 else None)  # 8192 has plain names
        if not metrics:
            return None
        unit = report["metrics"][metrics[0]]["unit"]
        values = [min(each) for each in zip(*(samples.get(metric, []) for metric in metrics))]
        return statistics.median(values) / (100 if unit == "%" else 1) if values else None

    rate = slowest("rate")
    if rate is None:
        raise Failed(f"tidemark's report has no rate of gemm.distributed.speed at {n}")
    return {"tflops": rate, "efficiency": slowest("efficiency")}


def summary_of(size):
    """Medians of all rounds: rates in TFLOP/s, efficiencies as shares."""
    n, made = size["n"], {}
    times = {kind: [ms for each in size["pytorch"] for ms in each["ms"].get(kind, ())] for kind in KINDS}
    for kind in (kind for kind in KINDS if times[kind]):
        made[kind] = 2 * n**3 / statistics.median(times[kind]) * 1e-9
        made[f"{kind}_efficiency"] = statistics.median(
            local / ms for local, ms in zip(times["local"], times[kind]))
    if size["tidemark"]:
        made["tidemark"] = statistics.median(each["tflops"] for each in size["tidemark"])
        shares = [each["efficiency"] for each in size["tidemark"] if each["efficiency"] is not None]
        made["tidemark_efficiency"] = statistics.median(shares) if shares else None
        if "fused" in made:
            made["tidemark_over_fused"] = made["tidemark"] / made["fused"]
    return made


def table_of(sizes, gpus):
    def figure(summary, name, form):
        value = summary.get(name)
        return format("-" if value is None else format(value, form), ">10")

    lines = [f"{gpus} GPUs, TFLOP/s of all together (slowest rank, median), efficiency = local time / time",
             f"{'n':>6}{'plain':>10}{'fused':>10}{'tidemark':>10}{'t./fused':>10}   "
             f"efficiency:{'plain':>10}{'fused':>10}{'tidemark':>10}"]
    for size in sizes:
        of = size["summary"]
        lines.append(f"{size['n']:>6}" + "".join(figure(of, name, ".1f") for name in ("plain", "fused", "tidemark")) +
                     figure(of, "tidemark_over_fused", ".3f") + " " * 14 +
                     "".join(figure(of, f"{name}_efficiency", ".3f") for name in ("plain", "fused", "tidemark")))
    return "\n".join(lines)


def visible_gpus():
    """How many GPUs PyTorch sees, asked of a process of its own: this one holds none of them."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return int(run_all([[sys.executable, "-c", "import torch; print(torch.cuda.device_count())"]], CHILD_ENV, 120,
                               pathlib.Path(folder)))
        except Failed as error:
            raise Failed(f"PyTorch cannot be used by {sys.executable}: {error}") from error


class OneLine(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"ci/peers/async_tp.py: {message}; --help shows what it takes\n")


def options_of(arguments):
    def at_least(least):
        def read(text):
            if not text.isdecimal() or int(text) < least:
                raise argparse.ArgumentTypeError(f"'{text}' is no whole number of at least {least}")
            return int(text)
        return read

    parser = OneLine(prog="ci/peers/async_tp.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=at_least(1), metavar="N", help="edges of the products (8192 16384 32768)")
    parser.add_argument("--gpus", type=at_least(2), metavar="P", help="2 to 8 (all)")
    parser.add_argument("--pairs", type=at_least(30), default=50, help="iterations a round (50, at least 30)")
    parser.add_argument("--warmup", type=at_least(1), default=20, help="iterations before them (20)")
    parser.add_argument("--pause-us", type=at_least(1), default=1000, metavar="US",
                        help="a GPU rests before each product, while the host queues it (1000)")
    parser.add_argument("--rounds", type=at_least(1), default=3, help="PyTorch, then tidemark, this often (3)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="what PyTorch times; local always")
    parser.add_argument("--timeout", type=at_least(1), default=300, metavar="S", help="seconds a measurement may take (300)")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="everything, as JSON")
    parser.add_argument("--tidemark", metavar="PATH", help="the program to alternate with")
    parser.add_argument("--reports", type=pathlib.Path, metavar="DIR", help="keeps tidemark's reports: N-ROUND.h5")
    parser.add_argument("--bench", default="gemm.distributed.speed --n {n}", metavar="ARGUMENTS",
                        help="of tidemark bench (%(default)s)")
    options = parser.parse_args(arguments)
    options.sizes = options.sizes or [8192, 16384, 32768]
    options.kinds = [kind for kind in KINDS if kind == "local" or kind in options.kinds]  # each once
    try:
        visible = visible_gpus()
    except Failed as error:
        parser.exit(5, f"ci/peers/async_tp.py: {error}\n")
    if visible < 2:
        parser.exit(5, f"ci/peers/async_tp.py: PyTorch sees {visible} GPUs here; run it where there are 2 to 8\n")
    options.gpus = options.gpus or min(visible, 8)
    if options.gpus > min(visible, 8):
        parser.error(f"--gpus {options.gpus}: 2 to {min(visible, 8)} are possible here")
    for n in options.sizes:
        if n % options.gpus:
            parser.error(f"{n} does not divide among {options.gpus} GPUs")
    if options.tidemark and not os.access(options.tidemark, os.X_OK):
        parser.error(f"--tidemark '{options.tidemark}' is no program")
    if options.tidemark:
        options.tidemark = os.path.abspath(options.tidemark)
    if options.out and not options.out.resolve().parent.is_dir():
        parser.error(f"--out '{options.out}': its folder does not exist")
    return options


def main():
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
        return 0
    options = options_of(sys.argv[1:])
    failed = False
    sizes = [{"n": n, "pytorch": [], "tidemark": [], "errors": []} for n in options.sizes]

    def attempt(size, name, measured):
        nonlocal failed
        try:
            size[name].append(measured())
            print(f"{size['n']} {name}: done", file=sys.stderr)
        except (Failed, ValueError, KeyError) as error:
            failed = True
            size["errors"].append(f"{name}: {error}")
            print(f"{size['n']} {name}: {error}", file=sys.stderr)

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        options.reports = options.reports or folder
        options.reports.mkdir(parents=True, exist_ok=True)
        for index in range(1, options.rounds + 1):
            for size in sizes:
                attempt(size, "pytorch", lambda: torch_round(options, size["n"], folder))
                if options.tidemark:
                    attempt(size, "tidemark", lambda: tidemark_round(options, size["n"], index, folder))
    for size in sizes:
        size["summary"] = summary_of(size)
    print(table_of(sizes, options.gpus))
    if options.out:
        named = [pathlib.PurePath(argument).name or argument for argument in sys.argv[1:]]  # whose folders are nobody's business
        options.out.write_text(json.dumps({"gpus": options.gpus, "arguments": named, "sizes": sizes}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"ci/peers/async_tp.py: {error}")
