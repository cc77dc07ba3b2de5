"""A process that runs one network, see bench/networks/serve.h."""

import struct
import subprocess

import numpy as np


class Engine:
    def __init__(self, command, output_shape, environment=None):
        self.output_shape = output_shape
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        ready, _, self.notes = self.process.stdout.readline().partition(b" ")
        if ready.strip() != b"ready":
            raise RuntimeError("%s did not start" % command)

    def run(self, inputs):
        """One input after the other; the seconds of each and the outputs."""
        count = len(inputs)
        stdin = self.process.stdin
        stdin.write(struct.pack("=q", count) + inputs.tobytes())
        stdin.flush()
        seconds = self._read(np.float64, (count,))
        return seconds, self._read(np.float32, (count, *self.output_shape))

    def resident_mb(self):
        """Memory of the process that is not swapped out, in 10^6 bytes."""
        with open("/proc/%d/status" % self.process.pid) as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024 / 1e6
        raise RuntimeError("%s has no memory" % self.process.args)

    def _read(self, dtype, shape):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        data = self.process.stdout.read(size)
        if len(data) != size:
            raise RuntimeError("%s ended early" % self.process.args)
        return np.frombuffer(data, dtype).reshape(shape)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
