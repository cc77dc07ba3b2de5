// Enumerations of the API.  Values are part of the contract.
#ifndef TIM_VX_TYPES_H_
#define TIM_VX_TYPES_H_

namespace tim {
namespace vx {

/// Element type of a tensor.  INT4 and UINT4 are packed two per byte along
/// dimension 0; BOOL8 holds the bytes 0 and 1; FLOAT16 is IEEE binary16.
enum class DataType {
  UNKNOWN,  ///< In a TRANSIENT spec: inferred.  Elsewhere an error.
  INT8,
  UINT8,
  INT16,
  UINT16,
  INT32,
  UINT32,
  INT64,
  FLOAT16,
  FLOAT32,
  BOOL8,
  INT4,
  UINT4,
};

/// How the codes of an integer tensor stand for real values; see Quantization.
enum class QuantType {
  NONE,
  ASYMMETRIC,
  SYMMETRIC_PER_CHANNEL,
  ASYMMETRIC_PER_CHANNEL,
  DYNAMIC_FIXED_POINT,
};

/// Role of a tensor in its graph.
enum TensorAttribute {
  CONSTANT = 1 << 0,   ///< Data known when the graph is built.
  TRANSIENT = 1 << 1,  ///< Between two operations; the host cannot reach it.
  /// State that persists from one Run() to the next.  What reads it in a run
  /// sees the value from before the run, whatever writes it; what is written is
  /// there after the run.  After a failed Run() it has the value from before,
  /// but where a custom operator writes it: then it is undefined until it is
  /// written anew.
  VARIABLE = 1 << 2,
  INPUT = 1 << 3,
  OUTPUT = 1 << 4,
};

/// AUTO: the pads given.  VALID: none.  SAME: out = ceil(in / stride).
/// NONE acts as AUTO.
enum class PadType {
  NONE = -1,
  AUTO,
  VALID,
  SAME,
};

/// AVG divides by the window's size, AVG_ANDROID by the number of its cells
/// that lie inside the image, AVG_PADDED by that of its cells inside the padded
/// image, as ONNX and PyTorch do where they count padding; TIM-VX has no
/// AVG_PADDED.
enum class PoolType {
  MAX,
  AVG,
  L2,
  AVG_ANDROID,
  AVG_PADDED,
};

/// Rounding of pooled extents.
enum class RoundType {
  CEILING,
  FLOOR,
};

/// What an integer result outside of its type's range becomes.
enum class OverflowPolicy {
  WRAP,
  SATURATE,
};

/// Rounding of a real result to an integer; RTNE: to nearest, ties to even.
enum class RoundingPolicy {
  TO_ZERO,
  RTNE,
};

enum class ResizeType {
  NEAREST_NEIGHBOR,
  BILINEAR,
  AREA,
};

/// Order of dimensions, fastest-varying first.  Only
/// tim::transform::LayoutInference acts on it.
enum class DataLayout {
  ANY,
  WHCN,
  CWHN,
  IcWHOc,
  OcIcWH,
  IcOcWH,
  WHIcOc,
  WCN,
  WIcOc,
  WHDCN,
  WHDIcOc,
  CWHDN,
  OcIcWHD,
};

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_TYPES_H_
