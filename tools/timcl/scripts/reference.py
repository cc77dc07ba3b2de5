"""Runs a model by another engine, for `timcl compare --against`.

reference.py ENGINE MODEL FOLDER, of which ENGINE is onnxruntime or litert, reads
FOLDER/request.json:
  {"signature": "", "inputs": [{"name": "x", "file": "0.npy"}]}
and writes the outputs and FOLDER/result.json, which names them:
  {"engine": "onnxruntime 1.17.0", "outputs": [{"name": "y", "file": "y0.npy"}]}
or says why there are none: {"error": "..."}.
"""

import json
import os
import sys


class Refused(Exception):
    """What is wrong, for people."""


def of_rank(array, dims):
    """A scalar of a graph has the extent 1."""
    return array.reshape(()) if len(dims) == 0 and array.size == 1 else array


def by_onnxruntime(model, inputs, signature):
    import onnxruntime

    session = onnxruntime.InferenceSession(
        model, providers=["CPUExecutionProvider"]
    )
    feed = {}
    for port in session.get_inputs():
        if port.name not in inputs:
            raise Refused("it wants an input '%s', which is not given" % port.name)
        feed[port.name] = of_rank(inputs[port.name], port.shape)
    names = [port.name for port in session.get_outputs()]
    results = session.run(names, feed)
    return "onnxruntime " + onnxruntime.__version__, list(zip(names, results))


def litert():
    """The class Interpreter of the first package that is there, and its name."""
    try:
        from ai_edge_litert import interpreter

        return interpreter.Interpreter, "ai-edge-litert"
    except ImportError:
        pass
    try:
        from tflite_runtime import interpreter

        return interpreter.Interpreter, "tflite-runtime"
    except ImportError:
        pass
    try:
        from tensorflow import lite

        return lite.Interpreter, "tensorflow"
    except ImportError:
        raise Refused(
            "there is none of the packages ai-edge-litert, tflite-runtime and "
            "tensorflow; `%s -m pip install ai-edge-litert` installs one"
            % sys.executable
        )


def by_litert(model, inputs, signature):
    make, name = litert()
    interpreter = make(model_path=model)
    if signature:
        results = interpreter.get_signature_runner(signature)(**inputs)
        return name, list(results.items())
    ports = interpreter.get_input_details()
    for port in ports:
        if port["name"] not in inputs:
            raise Refused(
                "it wants an input '%s', which is not given" % port["name"]
            )
        array = of_rank(inputs[port["name"]], port["shape"])
        inputs[port["name"]] = array
        if list(array.shape) != list(port["shape"]):
            interpreter.resize_tensor_input(port["index"], array.shape)
    interpreter.allocate_tensors()
    for port in ports:
        interpreter.set_tensor(port["index"], inputs[port["name"]])
    interpreter.invoke()
    return name, [
        (port["name"], interpreter.get_tensor(port["index"]))
        for port in interpreter.get_output_details()
    ]


def run(engine, model, folder):
    try:
        import numpy
    except ImportError:
        raise Refused(
            "there is no package numpy; `%s -m pip install numpy` installs it"
            % sys.executable
        )
    with open(os.path.join(folder, "request.json"), encoding="utf-8") as file:
        request = json.load(file)
    inputs = {
        given["name"]: numpy.load(
            os.path.join(folder, given["file"]), allow_pickle=False
        )
        for given in request["inputs"]
    }
    engines = {"onnxruntime": by_onnxruntime, "litert": by_litert}
    try:
        name, results = engines[engine](model, inputs, request["signature"])
    except ImportError as error:
        raise Refused(
            "there is no package %s (%s); `%s -m pip install %s` installs it"
            % (engine, error, sys.executable, engine)
        )
    outputs = []
    for i, (output, array) in enumerate(results):
        if not isinstance(array, (numpy.ndarray, numpy.generic)):
            raise Refused("its output '%s' is no tensor" % output)
        entry = {"name": output, "file": "y%d.npy" % i}
        # A scalar keeps its shape, which ascontiguousarray() does not leave it.
        numpy.save(
            os.path.join(folder, entry["file"]), numpy.asarray(array, order="C")
        )
        outputs.append(entry)
    return {"engine": name, "outputs": outputs}


def main():
    engine, model, folder = sys.argv[1:]
    # Engines raise what they like.
    try:
        result = run(engine, model, folder)
    except Refused as error:
        result = {"error": str(error)}
    except Exception as error:
        result = {"error": "%s: %s" % (type(error).__name__, error)}
    with open(os.path.join(folder, "result.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)


main()
