// Networks as data: what the graphs of tim::vx, the ONNX models of compare.py
// and the amounts of work are all made from.
#ifndef TIM_BENCH_NETWORKS_NETWORK_H_
#define TIM_BENCH_NETWORKS_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tim::bench {

/// Extents, fastest-varying first as in tim::vx: {W, H, C, N}.
using Shape = std::vector<uint32_t>;

/// Functions that need numbers have them in `coefficients`, in this order.
enum class LayerKind : uint8_t {
  kInput,
  kConstant,  ///< Its one parameter.
  kConv2d,
  kDepthwiseConv2d,
  kDeConv2d,
  kFullyConnected,  ///< Flattens all but the batch.
  kMatmul,
  kLstm,                ///< Of every step; the input is [width, batch, steps].
  kGru,                 ///< Likewise; the reset gate is after the product.
  kBatchNorm,           ///< Epsilon.
  kLayerNormalization,  ///< Along the fastest axis; epsilon.
  kLocalResponseNormalization,  ///< `window.size` channels; alpha, beta, bias.
  kSoftmax,                     ///< Along the fastest axis.
  kRelu,
  kRelu6,
  kSigmoid,
  kHardSigmoid,  ///< Alpha, beta.
  kHardSwish,
  kGelu,    ///< With erf.
  kLinear,  ///< Slope, value at 0.
  kAdd,
  kMultiply,
  kMaxPool,
  kAveragePool,  ///< Divides by the window's size, pads included.
  kGlobalAveragePool,
  kResizeNearest,   ///< Element floor(i * in / out).
  kResizeBilinear,  ///< Half-pixel centers.
  kConcat,
  kSplit,  ///< The first part; the parts behind it follow as layers:
  kPart,   ///< The next result of the layer that is its input.
  kShuffleChannel,
  kStridedSlice,
  kReshape,
  kTranspose,
  kGather,  ///< Rows of a matrix, input 0, that the numbers of input 1 name.
  kDataConvert,  ///< Between float32 and codes.
};

enum class ElementType : uint8_t { kFloat32, kInt8, kUint8, kInt32 };

/// How the elements of a tensor stand for real values: float32 as they are,
/// codes as (code - zero_point) * scale.
struct Codes {
  ElementType type = ElementType::kFloat32;
  std::vector<float> scales = {};  ///< None, one, or one per channel.
  int32_t zero_point = 0;
  int channel_axis = 0;  ///< Of the channels that `scales` are of.
};

enum class Rounding : uint8_t { kFloor, kCeil };

/// A square window.
struct Window {
  uint32_t size = 1;
  uint32_t stride = 1;
  uint32_t pad = 0;
  Rounding rounding = Rounding::kFloor;  ///< Of the extents of the result.
};

/// Every stride-th element from `begin` on, for each axis.
struct Stride {
  std::vector<int> begin = {};
  std::vector<int> stride = {};
};

/// Constants that FillValues() makes.
struct Parameter {
  uint64_t stream = 0;
  Shape shape;       ///< Empty for an optional operand that is left out.
  float bound = 0;   ///< They are in [-bound, bound),
  float center = 0;  ///< to which this is added.
  Codes codes = {};  ///< Codes are made of these values by Encode().
};

struct Layer {
  LayerKind kind = LayerKind::kInput;
  std::vector<int> inputs = {};  ///< Earlier layers of the network.
  Shape shape = {};              ///< Of the result.
  Window window = {};
  int axis = 0;         ///< Of kConcat, kSplit and kShuffleChannel.
  uint32_t groups = 1;  ///< Of kShuffleChannel.
  std::vector<uint32_t> extents = {};      ///< Of the parts of kSplit.
  std::vector<uint32_t> permutation = {};  ///< Of kTranspose.
  Stride stride = {};                      ///< Of kStridedSlice.
  std::vector<float> coefficients = {};    ///< See LayerKind.
  /// Weights and bias or weights alone; of kBatchNorm mean, variance, gamma and
  /// beta; of kLayerNormalization beta and gamma; of kLstm and kGru the inputs
  /// of their operations from the first state on.
  std::vector<Parameter> parameters = {};
  Codes codes = {};  ///< Of the result.
};

/// The last layer is the output.
struct Network {
  std::string name;
  std::vector<Layer> layers;
  /// Of what lies between input and output, which are float32.
  ElementType type = ElementType::kFloat32;
};

int64_t Elements(const Shape& shape);
int64_t ParameterCount(const Layer& layer);
int64_t ParameterCount(const Network& network);
int64_t ParameterBytes(const Network& network);

/// "float32", as in JSON and on the command line.
const char* NameOf(ElementType type);
int64_t BytesOf(ElementType type);

/// What a layer has to do at least, whatever the algorithm.
struct Work {
  double flops = 0;  ///< Of the sums of products: 2 per product.
  double bytes = 0;  ///< Inputs and parameters read, the result written.
};
Work WorkOf(const Network& network, const Layer& layer);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_NETWORK_H_
