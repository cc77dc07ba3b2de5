"""What the tests share.  TIMCL_DEVICE chooses where they run, as for programs."""

import pathlib
import sys

import numpy as np
import pytest

import timcl
from timcl import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "samples" / "digits"
sys.path.insert(0, str(DIGITS))


class Foreign:
    """An array of another library: DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def relu():
    """A compiled graph y = relu(x) of [2, 3]."""
    graph = timcl.Graph()
    x = graph.input((2, 3), name="x")
    graph.output(graph.op("Relu", [x]), "y")
    return graph.compile()


@pytest.fixture
def on_host():
    """Calls of timcl.values run where kernels are not built."""
    with timcl.values.eager("host"):
        yield


needs_importers = pytest.mark.skipif(
    not _core.has_importers,
    reason="this build has no importers of models (libtim-cl-models)",
)
