// What is known of a tensor without its bytes.
#ifndef TIM_IR_TENSOR_DESC_H_
#define TIM_IR_TENSOR_DESC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/data_type.h"
#include "ir/layout.h"
#include "ir/shape.h"

namespace tim::ir {

enum class QuantizationKind : uint8_t {
  kNone,
  kPerTensor,
  kPerChannel,  ///< One scale per index of `axis`.
  kFixedPoint,  ///< real = code * 2^-fl
};

/// Real value of a code: (code - zero_point) * scale.
struct Quantization {
  QuantizationKind kind = QuantizationKind::kNone;
  int axis = -1;                   ///< kPerChannel
  std::vector<float> scales = {};  ///< 1, or one per channel
  std::vector<int32_t> zero_points =
      {};      ///< shorter than `scales`: the last counts
  int fl = 0;  ///< kFixedPoint: fractional bits

  static Quantization PerTensor(float scale, int32_t zero_point) {
    return {.kind = QuantizationKind::kPerTensor,
            .scales = {scale},
            .zero_points = {zero_point}};
  }

  bool none() const { return kind == QuantizationKind::kNone; }
  bool per_channel() const { return kind == QuantizationKind::kPerChannel; }
  /// 1 and 0 for kNone; 2^-fl and 0 for kFixedPoint.
  float Scale(int64_t channel = 0) const;
  int32_t ZeroPoint(int64_t channel = 0) const;
  std::string ToString() const;
  bool operator==(const Quantization&) const = default;
};

enum class MemoryKind : uint8_t {
  kDevice,  ///< Only the device reads and writes it.
  kHost,    ///< Ordinary memory of this process.
};
const char* ToString(MemoryKind kind);

struct TensorDesc {
  DataType type = DataType::kUnknown;
  Shape shape;
  Quantization quantization;
  Layout layout;

  /// Quantization counts for integer types only.
  bool quantized() const { return IsInteger(type) && !quantization.none(); }
  /// "uint8 [28, 28, 1, 1] scale 0.5 zero point 3".
  std::string ToString() const;
  bool operator==(const TensorDesc&) const = default;
};

/// Codes mean the same real values: equal types, and for integers equal
/// quantization.  Shape and layout do not matter.
bool SameElements(const TensorDesc& a, const TensorDesc& b);

/// Extents in memory, fastest first, of a dense or blocked tensor (one more
/// dimension where it is blocked).  The shape must be static; another layout,
/// or one that does not fit it, counts as dense.
std::vector<int64_t> PhysicalDims(const TensorDesc& desc);

/// Elements in memory, block padding and what lies between strided elements
/// included.  Fails where the layout does not fit the shape.
Result<int64_t> PhysicalElements(const TensorDesc& desc);

/// kInvalidArgument where two elements of a strided tensor may lie on each
/// other, so that it cannot be written.
Status CheckWritable(const TensorDesc& desc);

/// Bytes in memory: the only place that computes them.  Fails where the shape
/// is not static, the type is unknown, or the size overflows.  4-bit types
/// pack two elements per byte along dim 0, each row to a whole byte; they are
/// never strided.
Result<int64_t> ByteSize(const TensorDesc& desc);

}  // namespace tim::ir

#endif  // TIM_IR_TENSOR_DESC_H_
