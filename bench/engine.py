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
        if not self.process.stdout.readline().startswith(b"ready"):
            raise RuntimeError("%s did not start" % command)

    def run(self, x):
        """Seconds, output."""
        self.process.stdin.write(x.tobytes())
        self.process.stdin.flush()
        (seconds,) = struct.unpack("=d", self._read(8))
        size = 4 * int(np.prod(self.output_shape))
        output = np.frombuffer(self._read(size), np.float32)
        return seconds, output.reshape(self.output_shape)

    def _read(self, size):
        data = self.process.stdout.read(size)
        if len(data) != size:
            raise RuntimeError("%s ended early" % self.process.args)
        return data

    def close(self):
        self.process.stdin.close()
        self.process.wait()
