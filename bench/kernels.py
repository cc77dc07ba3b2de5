"""Single operators beside the machine's limits and CLBlast; the standard
library only, unless --numpy asks for NumPy's figures.

bench/run.sh kernels [options] builds what this needs and starts it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import environment
from table import Table, write_json

COLUMNS = {
    "runtime": ("runtime", "%s"),
    "rate": ("rate", "%.1f"),
    "limit": ("limit", "%.1f"),
    "unit": ("unit", "%s"),
    "share": ("share", "%.2f"),
    "run_share": ("run share", "%.2f"),
    "clblast_gflops": ("CLBlast", "%.1f"),
    "numpy_gbps": ("NumPy", "%.1f"),
}
UNITS = {"gflops": "GFLOP/s", "gbps": "GB/s"}


def run_program(name, runtime, options):
    variables = environment.program_environment(runtime)
    # Shares of the multiply-adds that the formula has.
    variables.setdefault("TIMCL_WINOGRAD", "0")
    program = environment.PROGRAMS / name
    subprocess.check_call([program, *options], env=variables, stdout=sys.stderr)


def measure(runtime, options, only):
    """What the programs kernels and clblast find on the runtime."""
    with tempfile.TemporaryDirectory() as folder:
        clblast = os.path.join(folder, "clblast.json")
        kernels = os.path.join(folder, "kernels.json")
        run_program("clblast/clblast", runtime, ["--json", clblast, *options])
        options = ["--clblast", clblast, "--json", kernels, *options]
        options += ["--only", only]
        run_program("kernels", runtime, options)
        with open(kernels) as file:
            return [{"runtime": runtime, **result} for result in json.load(file)]


def numpy_rates():
    import numpy_kernels

    return numpy_kernels.measure()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="few repetitions")
    parser.add_argument(
        "--numpy", action="store_true", help="NumPy's rates, too (pip)"
    )
    parser.add_argument(
        "--only", default="", help="operators with this in their name"
    )
    environment.add_runtimes(parser)
    arguments = parser.parse_args()
    if arguments.numpy:
        environment.enter_virtual_environment()
    options = ["--quick"] if arguments.quick else []
    results = [measure(runtime, options, arguments.only) for runtime in arguments.runtime]
    numpy = numpy_rates() if arguments.numpy else {}
    columns = dict(COLUMNS)
    if not numpy:
        del columns["numpy_gbps"]
    table = Table("kernels", columns, name_width=34)
    for rows in zip(*results):
        for row in rows:
            (unit,) = UNITS.keys() & row.keys()
            if row["name"] in numpy:
                row["numpy_gbps"] = numpy[row["name"]]
            cells = {**row, "rate": row[unit], "unit": UNITS[unit]}
            table.add(row["name"], cells)
    write_json(arguments.json, [row for rows in results for row in rows])


if __name__ == "__main__":
    main()
