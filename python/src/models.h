// Graphs of model files.
#ifndef TIMCL_PYTHON_MODELS_H_
#define TIMCL_PYTHON_MODELS_H_

#include <nanobind/nanobind.h>

#include <string>

namespace timcl {

namespace nb = nanobind;

/// Whether this module has the importers.
bool HasImporters();

/// Loads a model: `format` "onnx" or "tflite", of the file `path`, or where
/// that is None of the bytes of `content`.  `options` has shapes, dims (of
/// names), values, most_trips, stacked_rows, extra (signature, or folder of
/// external data), cpp_path and supplier (a function of a Graph and a dict, or
/// None).
/// \return (graph, inputs, outputs, warnings); a port is (name, tensor,
///     shape).  Raises ModelError, and what the supplier raises.
nb::tuple LoadModel(const std::string& format, nb::object path,
                    nb::object content, nb::dict options);

/// (graph, inputs, outputs, warnings) of a binary graph; the specs are of its
/// header.
nb::dict DescribeBinary(nb::handle content);

}  // namespace timcl

#endif  // TIMCL_PYTHON_MODELS_H_
