// Specs of tensors as Python has them.
#ifndef TIMCL_PYTHON_SPEC_H_
#define TIMCL_PYTHON_SPEC_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tim/vx/tensor.h"

namespace timcl {

namespace nb = nanobind;
namespace vx = tim::vx;

/// "float32"; "" for UNKNOWN.
const char* TypeName(vx::DataType type);
/// Raises ArgumentError for an unknown name.
vx::DataType TypeOf(const std::string& name);

/// Extents in NumPy's order, slowest-varying first, from those of a tensor and
/// back.  Raises ArgumentError for extents below 1 or beyond 32 bits.
nb::tuple ToShape(const vx::ShapeType& shape);
vx::ShapeType ToExtents(const std::vector<int64_t>& shape);

/// (type, shape, quantization), quantization as (kind, scales, zero points,
/// axis in NumPy's order, fraction bits) or None.
nb::tuple ToPython(const vx::TensorSpec& spec);
vx::TensorSpec ToSpec(nb::tuple described, vx::TensorAttribute attribute);

}  // namespace timcl

#endif  // TIMCL_PYTHON_SPEC_H_
