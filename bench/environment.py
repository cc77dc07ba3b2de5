"""Where the benchmarks keep things, and what each runtime needs.

environment.py RUNTIME PROGRAM [ARGUMENTS] starts a program of TIM-CL.
"""

import os
import pathlib
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "bench"
CACHES = FOLDER / "caches"
PROGRAMS = ROOT / "bazel-bin" / "bench"
RUNTIMES = ("machine", "intel")
NETWORKS = (
    "resnet50,mobilenet_v2,squeezenet1_1,vgg16,perceptron,densenet121,"
    "inception_v1,inception_v2,shufflenet_v2,mobilenet_v3_small,"
    "transformer_encoder,yolo_head,feature_pyramid,unet,lstm,gru"
)
QUANTIZED_NETWORKS = "resnet50,mobilenet_v2,mobilenet_v3_small"
TYPES = ("float32", "int8", "uint8")


def run_program(clone):
    """The program of bench/networks in a clone of the repository."""
    return pathlib.Path(clone) / "bazel-bin" / "bench" / "networks" / "run"


RUN = run_program(ROOT)


def program_environment(runtime, caches=CACHES):
    """For programs of TIM-CL: `runtime` is one of RUNTIMES."""
    if runtime not in RUNTIMES:
        raise SystemExit("runtime '%s': expected %s" % (runtime, RUNTIMES))
    environment = dict(os.environ, TIMCL_STRICT="1")
    for variable in ("POCL_CACHE_DIR", "TIMCL_CACHE_DIR"):
        folder = pathlib.Path(caches) / runtime / variable.lower()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment[variable] = str(folder)
    if runtime == "intel":
        script = ROOT / "tools" / "intel_runtime.sh"
        folder = subprocess.check_output([script], text=True).strip()
        environment["OCL_ICD_VENDORS"] = folder + "/vendors"
        environment["LD_LIBRARY_PATH"] = folder + "/venv/lib"
    return environment


def add_runtimes(parser):
    """The option --runtime, a list."""
    parser.add_argument(
        "--runtime",
        type=lambda text: text.split(","),
        default=["machine"],
        help="machine,intel",
    )


def enter_virtual_environment():
    """Starts this script again where requirements.txt is installed."""
    folder = FOLDER / "venv"
    if pathlib.Path(sys.prefix).resolve() == folder.resolve():
        return
    requirements = ROOT / "bench" / "requirements.txt"
    installed = folder / "requirements.txt"
    wanted = requirements.read_text()
    python = folder / "bin" / "python3"
    if not installed.exists() or installed.read_text() != wanted:
        print("Installing %s" % " ".join(wanted.split()), file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        install = ["-m", "pip", "install", "--quiet", "-r", requirements]
        subprocess.check_call([python, *install])
        installed.write_text(wanted)
    os.execv(python, [str(python), *sys.argv])


if __name__ == "__main__":
    os.execve(sys.argv[2], sys.argv[2:], program_environment(sys.argv[1]))
