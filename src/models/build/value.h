// Values that names of a model stand for while its graph is built.
#ifndef TIM_MODELS_BUILD_VALUE_H_
#define TIM_MODELS_BUILD_VALUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tim/models/model.h"
#include "tim/vx/tensor.h"

namespace tim::models {

/// Elements that are known when a model is read: initialisers, attributes, and
/// what was folded of them.  Dense, slowest-varying dimension first, in the
/// types of the model (INT64 too).
struct HostArray {
  vx::DataType type = vx::DataType::UNKNOWN;
  Dims dims;
  size_t bytes = 0;
  /// Memory of the file, or its own; aligned for the type.
  std::shared_ptr<const void> data;
  /// Not null, of a FLOAT32 array: the elements as a model has them in 64 bits.
  std::shared_ptr<const std::vector<double>> doubles = nullptr;

  int64_t ElementCount() const;
};

/// An array of `values`; T: float, int8_t, uint8_t, int16_t, uint16_t,
/// int32_t, uint32_t, int64_t.
template <typename T>
HostArray ArrayOf(const std::vector<T>& values, Dims dims);
/// Fails where the bytes are not those of type and shape.
Status CheckWhole(const HostArray& array);
/// The elements as integers; fails where the type is none of integers or bool.
Result<std::vector<int64_t>> Integers(const HostArray& array);
/// The elements as floats, of any type but INT4 and UINT4.
Result<std::vector<float>> Floats(const HostArray& array);

/// A tensor of a model.  Copies share tensor and data.
struct Value {
  std::string name;
  /// The model's type.  INT64 stands in the graph as INT32.
  vx::DataType type = vx::DataType::UNKNOWN;
  /// In the model's order, slowest-varying first; empty: a scalar, which has
  /// the shape {1} in the graph.
  Dims dims;
  vx::Quantization quantization;
  /// Not null: known when the model is read.
  std::shared_ptr<const HostArray> constant;
  /// Null for a constant until GraphBuilder::TensorOf() makes it.
  std::shared_ptr<vx::Tensor> tensor;

  int rank() const { return static_cast<int>(dims.size()); }
  int64_t ElementCount() const;
  /// An optional operand that is absent.
  bool IsAbsent() const { return constant == nullptr && tensor == nullptr; }
};

/// Bytes of a dense tensor; -1 where they exceed 63 bits or an extent is
/// negative.
int64_t ByteSizeOf(vx::DataType type, const Dims& dims);
/// "float32", "bool".
const char* TypeName(vx::DataType type);
/// The type in the graph: INT32 for INT64.
vx::DataType GraphType(vx::DataType type);
/// The shape in the graph: reversed; {1} for a scalar.
vx::ShapeType GraphShape(const Dims& dims);
Dims ModelDims(const vx::ShapeType& shape);
/// "float32 [1,3,224,224]", for messages.
std::string Describe(const Value& value);
/// numpy's rule; fails where extents do not fit each other.
Result<Dims> BroadcastDims(const Dims& a, const Dims& b);
/// `axis` from [-rank, rank) as [0, rank).
Result<int> PositiveAxis(int64_t axis, int rank);
/// An axis of the model as the graph counts it, from the fastest.
inline int GraphAxis(int axis, int rank) { return rank - 1 - axis; }

}  // namespace tim::models

#endif  // TIM_MODELS_BUILD_VALUE_H_
