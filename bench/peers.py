"""Runs an ONNX model in ONNX Runtime or OpenVINO for another process.

peers.py onnxruntime|openvino MODEL THREADS speaks the protocol of
bench/networks/serve.h on standard input and output; what it says of the model
stands behind "ready" as JSON.
"""

import json
import os
import struct
import sys
import time

import numpy as np


def onnxruntime_runner(path, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # No lists of constants that it folded.
    # All but the caller, counted from 1.
    processors = sorted(os.sched_getaffinity(0))[1:threads]
    if processors:
        options.add_session_config_entry(
            "session.intra_op_thread_affinities",
            ";".join(str(processor + 1) for processor in processors),
        )
    session = onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"]
    )
    (entry,) = session.get_inputs()
    return entry.shape, lambda x: session.run(None, {entry.name: x})[0], {}


def openvino_runner(path, threads):
    import openvino

    compiled = openvino.Core().compile_model(
        path,
        "CPU",
        {
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            "ENABLE_CPU_PINNING": True,
        },
    )
    request = compiled.create_infer_request()

    def run(x):
        request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
        request.infer()
        return request.get_output_tensor().data

    return list(compiled.inputs[0].shape), run, sums_of_products(compiled)


def sums_of_products(compiled):
    """How many there are, and how many of them multiply 8 bits."""
    found = []
    for node in compiled.get_runtime_model().get_ops():
        if node.rt_info["layerType"].astype(str) in (
            "Convolution",
            "FullyConnected",
        ):
            implementation = node.rt_info["primitiveType"].astype(str)
            found.append(implementation.lower().endswith("i8"))
    return {"all": len(found), "in_8_bits": sum(found)}


RUNNERS = {"onnxruntime": onnxruntime_runner, "openvino": openvino_runner}


def serve(run, shape, stream_in, stream_out):
    size = 4 * int(np.prod(shape))
    while head := stream_in.read(8):
        if len(head) < 8:
            raise SystemExit("the input ends in the count of a turn")
        (count,) = struct.unpack("=q", head)
        data = stream_in.read(size * count)
        if len(data) < size * count:
            raise SystemExit("the input ends in a turn of %d" % count)
        inputs = np.frombuffer(data, np.float32).reshape(count, *shape)
        seconds = np.empty(count)
        outputs = []
        for i in range(count):
            x = inputs[i].copy()  # Memory that may be written.
            start = time.perf_counter()
            output = run(x)
            seconds[i] = time.perf_counter() - start
            outputs.append(output.copy())
        stream_out.write(seconds.tobytes() + np.stack(outputs).tobytes())
        stream_out.flush()


def main():
    name, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    processors = sorted(os.sched_getaffinity(0))[:threads]
    os.sched_setaffinity(0, processors)
    # Nothing but results may reach the reader.
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    shape, run, notes = RUNNERS[name](path, threads)
    results.write(b"ready " + json.dumps(notes).encode() + b"\n")
    results.flush()
    serve(run, shape, sys.stdin.buffer, results)


if __name__ == "__main__":
    main()
