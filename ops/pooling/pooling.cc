#include "ops/pooling/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "kernels/elements.h"

namespace tim::ops {
namespace {

using Extents = std::vector<int64_t>;

Status CheckExtents(const ir::AttributeMap& attributes, const char* name,
                    size_t count, int64_t least) {
  TIM_RETURN_IF_ERROR(CheckLength(attributes, name, count));
  const Extents& values = attributes.Ints(name);
  for (const int64_t value : values) {
    if (value >= least && value <= std::numeric_limits<int32_t>::max()) {
      continue;
    }
    return InvalidArgument("attribute '", name, "' is [", StrJoin(values, ", "),
                           "], expected values from ", least, " to 2147483647");
  }
  return OkStatus();
}

PoolRounding RoundingOf(const ir::AttributeMap& attributes) {
  return static_cast<PoolRounding>(attributes.Int(ir::kRoundType));
}

// `inferred` with the first `axes` extents of the declared shape, if there is
// one that differs in these only.
void TakeDeclared(const ir::Shape* declared, int axes, ir::Shape* inferred) {
  if (declared == nullptr || declared->rank() != inferred->rank()) return;
  for (int axis = axes; axis < inferred->rank(); ++axis) {
    if ((*inferred)[axis] != ir::kUnknownDim &&
        (*inferred)[axis] != (*declared)[axis]) {
      return;
    }
  }
  for (int axis = 0; axis < axes; ++axis) {
    if ((*declared)[axis] > 0) inferred->set_dim(axis, (*declared)[axis]);
  }
}

Result<PoolWindows2d> GlobalWindows(const ir::AttributeMap& attributes) {
  TIM_RETURN_IF_ERROR(CheckExtents(attributes, "input_size", 2, 1));
  const Extents& size = attributes.Ints("input_size");
  PoolWindows2d out;
  out.w.kernel = out.w.stride = size[0];
  out.h.kernel = out.h.stride = size[1];
  return out;
}

Result<PoolWindow> AdaptiveWindow(int64_t input, int64_t output) {
  if (output > input) {
    return InvalidArgument("output_size ", output, " exceeds input_size ",
                           input);
  }
  const int64_t stride = input / output;
  return PoolWindow{.kernel = input - (output - 1) * stride, .stride = stride};
}

Result<PoolWindows2d> AdaptiveWindows(const ir::AttributeMap& attributes) {
  TIM_RETURN_IF_ERROR(CheckExtents(attributes, "input_size", 2, 1));
  TIM_RETURN_IF_ERROR(CheckExtents(attributes, "output_size", 2, 1));
  const Extents& input = attributes.Ints("input_size");
  const Extents& output = attributes.Ints("output_size");
  PoolWindows2d out;
  TIM_ASSIGN_OR_RETURN(out.w, AdaptiveWindow(input[0], output[0]));
  TIM_ASSIGN_OR_RETURN(out.h, AdaptiveWindow(input[1], output[1]));
  return out;
}

// Calls visit(cell index) for the cells inside the image of every window, then
// finish(output index, cells inside the padded image).
template <typename Visit, typename Finish>
void ForEachWindow(const PoolShape& shape, Visit visit, Finish finish) {
  int64_t index = 0;
  for (int64_t plane = 0; plane < shape.planes; ++plane) {
    for (int64_t oy = 0; oy < shape.h.output; ++oy) {
      const PoolCells rows = CellsOf(shape.h, oy);
      for (int64_t ox = 0; ox < shape.w.output; ++ox) {
        const PoolCells columns = CellsOf(shape.w, ox);
        for (int64_t y = rows.first; y < rows.last; ++y) {
          for (int64_t x = columns.first; x < columns.last; ++x) {
            visit((plane * shape.h.input + y) * shape.w.input + x);
          }
        }
        finish(index++,
               PaddedCellsOf(shape.w, ox) * PaddedCellsOf(shape.h, oy));
      }
    }
  }
}

// MAX of integers with the codes of the output: nothing is computed.
void EvalMaxOfCodes(const PoolShape& shape, const ir::ConstTensor& input,
                    const ir::MutableTensor& output) {
  const kernels::ElementReader reader(input);
  kernels::ElementWriter writer(output);
  const int64_t lowest = ir::Info(output.desc->type).min;
  int64_t largest = lowest;
  ForEachWindow(
      shape, [&](int64_t i) { largest = std::max(largest, reader.Code(i)); },
      [&](int64_t i, int64_t) {
        writer.StoreCode(i, largest);
        largest = lowest;
      });
}

// One window's values, in order.  T: int64_t codes or float.
template <typename T>
class Pooled {
 public:
  Pooled(PoolType type, int64_t window) : type_(type), window_(window) {}

  void Add(T value) {
    if (type_ == PoolType::kMax) {
      // NaN stays.
      if (count_ == 0 || value > sum_ || value != value) sum_ = value;
    } else {
      sum_ += type_ == PoolType::kL2 ? value * value : value;
    }
    ++count_;
  }
  bool empty() const { return count_ == 0; }
  /// The pooled value of a window with so many cells inside the padded image;
  /// starts the next one.
  float Take(int64_t padded) {
    const auto sum = static_cast<float>(sum_);
    const int64_t divisor = type_ == PoolType::kAverage         ? window_
                            : type_ == PoolType::kAveragePadded ? padded
                                                                : count_;
    sum_ = 0;
    count_ = 0;
    if (type_ == PoolType::kMax) return sum;
    const float mean = divisor == 0 ? 0.0f : sum / static_cast<float>(divisor);
    return type_ == PoolType::kL2 ? std::sqrt(mean) : mean;
  }

 private:
  PoolType type_;
  int64_t window_;
  T sum_ = 0;
  int64_t count_ = 0;
};

template <typename T, typename Load>
void EvalWindows(PoolType type, const PoolShape& shape, const PoolScale& scale,
                 const ir::MutableTensor& output, Load load) {
  kernels::ElementWriter writer(output);
  const bool units = scale.codes && ir::IsInteger(output.desc->type);
  Pooled<T> pooled(type, shape.w.kernel * shape.h.kernel);
  ForEachWindow(
      shape, [&](int64_t i) { pooled.Add(load(i)); },
      [&](int64_t i, int64_t padded) {
        const bool lowest = type == PoolType::kMax && pooled.empty();
        const float y = pooled.Take(padded) * scale.multiplier;
        if (lowest) {
          writer.StoreReal(i, PoolLowest(output.desc->type));
        } else if (units) {
          writer.StoreUnits(i, y + static_cast<float>(scale.zero));
        } else {
          writer.StoreReal(i, y);
        }
      });
}

bool IsPerChannel(const ir::TensorDesc& desc) {
  return desc.quantized() && desc.quantization.per_channel();
}

}  // namespace

ir::AttributeSpec PoolTypeSpec() {
  return {"type",
          ir::AttributeType::kInt,
          std::nullopt,
          {{"max", 0},
           {"avg", 1},
           {"l2", 2},
           {"avg_android", 3},
           {"avg_padded", 4}}};
}

Result<int64_t> PoolExtent(const PoolWindow& window, int64_t input) {
  if (input == ir::kUnknownDim) return ir::kUnknownDim;
  if (window.stride == 0 && window.kernel != input) {
    return InvalidArgument(
        "stride is 0, expected >= 1 (0 is legal only where "
        "the window, ",
        window.kernel, ", is as large as the input, ", input, ")");
  }
  const int64_t stride = std::max<int64_t>(window.stride, 1);
  if (window.mode == PadMode::kSame) return CeilDiv(input, stride);
  const int64_t room = input + window.front + window.back - window.kernel;
  const bool ceiling = window.rounding == PoolRounding::kCeiling;
  const int64_t steps = ceiling ? room + stride - 1 : room;
  if (steps < 0) {
    return InvalidArgument(
        "a window of ", window.kernel, " does not fit the input, ", input,
        ", with its padding, ", window.front, " and ", window.back);
  }
  return steps / stride + 1;
}

Result<std::vector<PoolWindow>> ExplicitWindows(
    const ir::AttributeMap& attributes, int axes) {
  TIM_RETURN_IF_ERROR(CheckExtents(attributes, "ksize", axes, 1));
  TIM_RETURN_IF_ERROR(CheckExtents(attributes, "stride", axes, 0));
  TIM_RETURN_IF_ERROR(CheckExtents(attributes, "pad", 2 * axes, 0));
  const Extents& pad = attributes.Ints("pad");
  std::vector<PoolWindow> out(axes);
  for (int axis = 0; axis < axes; ++axis) {
    PoolWindow& window = out[axis];
    window.mode = static_cast<PadMode>(attributes.Int("padding"));
    window.rounding = RoundingOf(attributes);
    window.kernel = attributes.Ints("ksize")[axis];
    window.stride = attributes.Ints("stride")[axis];
    if (window.mode == PadMode::kNone || window.mode == PadMode::kAuto) {
      window.front = pad[2 * axis];
      window.back = pad[2 * axis + 1];
    }
  }
  return out;
}

Result<PoolWindows2d> PoolWindowsOf(const ir::AttributeMap& attributes) {
  const std::string& mode = attributes.String("mode");
  if (mode == "window") {
    TIM_ASSIGN_OR_RETURN(const auto windows, ExplicitWindows(attributes, 2));
    return PoolWindows2d{.w = windows[0], .h = windows[1]};
  }
  Result<PoolWindows2d> windows =
      mode == "global" ? GlobalWindows(attributes)
      : mode == "adaptive"
          ? AdaptiveWindows(attributes)
          : InvalidArgument("attribute 'mode' is '", mode,
                            "', expected window, global or adaptive");
  if (!windows.ok()) return windows;
  windows->w.rounding = windows->h.rounding = RoundingOf(attributes);
  return windows;
}

Result<ir::Shape> PooledShape(std::span<const PoolWindow> windows,
                              const ir::Shape& input,
                              const ir::Shape* declared) {
  const auto axes = static_cast<int>(windows.size());
  ir::Shape shape = input;
  std::vector<Status> failures;
  for (int axis = 0; axis < axes; ++axis) {
    const Result<int64_t> extent = PoolExtent(windows[axis], input[axis]);
    shape.set_dim(axis, extent.ok() ? *extent : ir::kUnknownDim);
    failures.push_back(extent.ok() ? OkStatus() : extent.status());
  }
  const auto count = shape.NumElements();
  if (declared == nullptr || !count || declared->NumElements() != count) {
    TakeDeclared(declared, axes, &shape);
  }
  // A declared shape rules over extents, not over a stride that leads nowhere.
  constexpr const char* kAlong[] = {"along W", "along H", "along D"};
  for (int axis = 0; axis < axes; ++axis) {
    const bool decided = shape[axis] != ir::kUnknownDim;
    if (failures[axis].ok() || (decided && windows[axis].stride != 0)) continue;
    return failures[axis].WithContext(kAlong[axis]);
  }
  return shape;
}

PoolCells CellsOf(const PoolAxis& axis, int64_t index) {
  const int64_t begin = index * axis.stride - axis.pad;
  return {std::clamp<int64_t>(begin, 0, axis.input),
          std::clamp<int64_t>(begin + axis.kernel, 0, axis.input)};
}

int64_t PaddedCellsOf(const PoolAxis& axis, int64_t index) {
  const int64_t begin = index * axis.stride - axis.pad;
  const int64_t end = std::min(begin + axis.kernel, axis.input + axis.back);
  return std::max<int64_t>(end - begin, 0);
}

ConvPads PadsOf(const PoolWindow& window, int64_t input) {
  return PadsOf(ConvWindow{.mode = window.mode,
                           .front = window.front,
                           .back = window.back,
                           .stride = std::max<int64_t>(window.stride, 1)},
                input, window.kernel);
}

PoolAxis PoolAxisOf(const PoolWindow& window, int64_t input, int64_t output) {
  const ConvPads pads = PadsOf(window, input);
  return {.input = input,
          .output = output,
          .kernel = window.kernel,
          .stride = std::max<int64_t>(window.stride, 1),
          .pad = pads.front,
          .back = pads.back};
}

PoolScale PoolScaleOf(const ir::TensorDesc& input,
                      const ir::TensorDesc& output) {
  PoolScale out;
  out.codes = ir::IsInteger(input.type) && ir::Info(input.type).bits <= 16 &&
              !IsPerChannel(input) && !IsPerChannel(output);
  const float scale_in = input.quantized() ? input.quantization.Scale() : 1.0f;
  const bool integers = ir::IsInteger(output.type);
  const float scale_out =
      output.quantized() ? output.quantization.Scale() : 1.0f;
  out.zero = output.quantized() ? output.quantization.ZeroPoint() : 0;
  if (out.codes) {
    out.multiplier =
        integers ? kernels::Multiplier(scale_in, scale_out) : scale_in;
  } else if (integers) {
    out.scale = scale_out;
  }
  return out;
}

float PoolLowest(ir::DataType type) {
  if (type == ir::DataType::kFloat16) return -65504.0f;
  if (type == ir::DataType::kBFloat16) return -0x1.fep127f;
  return std::numeric_limits<float>::lowest();
}

Status EvalPool(PoolType type, const PoolShape& shape,
                const ir::ConstTensor& input, const ir::MutableTensor& output) {
  const ir::TensorDesc& desc = *input.desc;
  const PoolScale scale = PoolScaleOf(desc, *output.desc);
  if (type == PoolType::kMax && ir::IsInteger(desc.type) &&
      ir::SameElements(desc, *output.desc) && !IsPerChannel(desc)) {
    EvalMaxOfCodes(shape, input, output);
    return OkStatus();
  }
  const kernels::ElementReader reader(input);
  if (!scale.codes) {
    EvalWindows<float>(type, shape, scale, output,
                       [&](int64_t i) { return reader.Real(i); });
    return OkStatus();
  }
  const int64_t zero = desc.quantized() ? desc.quantization.ZeroPoint() : 0;
  EvalWindows<int64_t>(type, shape, scale, output,
                       [&](int64_t i) { return reader.Code(i) - zero; });
  return OkStatus();
}

}  // namespace tim::ops
