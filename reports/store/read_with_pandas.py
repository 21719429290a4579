#!/usr/bin/env python3
"""Makes pandas tables of a tidemark report: read_with_pandas.py report.h5

Numbers that refer to another table are joined to it; numbers that refer to text become the text.
"""
import sys

import h5py
import pandas


def table(report, name):
    """One table as a DataFrame: text in place of rows of string_index, names in place of verdicts."""
    data = report[name]
    rows = data[...]
    frame = pandas.DataFrame({column: list(rows[column]) for column in data.dtype.names})
    strings, index = bytes(report["strings"][...]), report["string_index"][...]
    for column, refers in zip(data.dtype.names, data.attrs["refers_to"]):
        verdicts = h5py.check_enum_dtype(data.dtype[column])
        if refers == b"strings":
            where = [index[row] for row in frame[column]]
            frame[column] = [strings[int(w["offset"]):int(w["offset"]) + int(w["length"])].decode()
                             for w in where]
        elif verdicts:
            frame[column] = frame[column].map({value: key for key, value in verdicts.items()})
        elif data.dtype[column].kind == "S":
            frame[column] = [text.decode() for text in frame[column]]
    return frame


def main(path):
    with h5py.File(path, "r") as report:
        results = table(report, "results")
        results = results.merge(table(report, "cases")[["case_id", "name"]], on="case_id")
        results = results.merge(table(report, "gpus")[["gpu_id", "uuid"]], on="gpu_id")
        for row in results.sort_values(["gpu_id", "case_id"]).itertuples():
            why = f": {row.reason}" if row.reason else ""
            print(row.uuid, row.name, row.verdict + why)
        for row in table(report, "metrics").itertuples():
            print(f"{row.name} {row.median:.1f} {row.unit}, median of {row.n}")


if __name__ == "__main__":
    main(sys.argv[1])
