#!/usr/bin/env python3
"""Reads a tidemark report with h5py and NumPy alone: read_with_h5py.py report.h5

Every table is a dataset of rows whose fields have names. Free text is kept once: other tables hold
the row of `string_index` where it stands in the bytes of `strings`.
"""
import sys

import h5py


def text(report, index):
    where = report["string_index"][index]
    start = int(where["offset"])
    return bytes(report["strings"][start:start + int(where["length"])]).decode()


def main(path):
    with h5py.File(path, "r") as report:
        print("launch", report.attrs["run_id"].decode(), report.attrs["created_utc"].decode())
        print("complete", report.attrs["complete"], "seed", hex(report.attrs["seed"]))
        print("tables", " ".join(sorted(report)))
        results, cases, gpus = report["results"], report["cases"], report["gpus"]
        verdicts = h5py.check_enum_dtype(results.dtype["verdict"])
        names = {value: name for name, value in verdicts.items()}
        units = dict(zip(results.dtype.names, results.attrs["units"]))
        print("unit of seconds", units["seconds"].decode())
        for row in results[...]:
            name = cases[row["case_id"]]["name"].decode()
            uuid = gpus[row["gpu_id"]]["uuid"].decode()
            print(name, "on", uuid, names[row["verdict"]], text(report, row["reason"]))
        for row in report["metrics"][...]:
            print(text(report, row["name"]), row["median"], text(report, row["unit"]),
                  "of", row["n"], "samples")


if __name__ == "__main__":
    main(sys.argv[1])
