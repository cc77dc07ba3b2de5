// Windows and filter banks of signals, which are known when a model is read.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/half.h"
#include "models/onnx/element_type.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/signals/signals.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

/// Operand `input`, one integer that is known.
Result<int64_t> KnownInt(const Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                       node.ConstantInts(input));
  if (values.size() == 1) return values[0];
  return InvalidArgument("operand ", input, " has ", values.size(),
                         " elements, expected 1");
}

Result<double> KnownFloat(const Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(const std::vector<float> values,
                       node.ConstantFloats(input));
  if (values.size() == 1 && std::isfinite(values[0])) return values[0];
  return InvalidArgument("operand ", input, " is no finite number");
}

/// `values` in the type that the attribute output_datatype names.
Status SetTyped(Node& node, const std::vector<float>& values, Dims dims) {
  TIM_ASSIGN_OR_RETURN(const int64_t number, node.Int("output_datatype", 1));
  auto type = DataTypeOf(number);
  if (!type.ok()) return type.status().WithContext("output_datatype");
  HostArray array;
  if (*type == DataType::FLOAT32) {
    array = ArrayOf(values, std::move(dims));
  } else if (*type == DataType::FLOAT16) {
    std::vector<uint16_t> halves;
    for (const float value : values) halves.push_back(FloatToHalf(value));
    array = ArrayOf(halves, std::move(dims));
    array.type = DataType::FLOAT16;
  } else {
    return Unimplemented("attribute 'output_datatype' is ", TypeText(*type),
                         "; float32 and float16 are taken");
  }
  return node.SetOutput(0, node.builder->Constant(std::move(array)));
}

/// a0 - a1 cos(t) + a2 cos(2 t), t from 0 to 2 pi over the window.
Status CosineWindow(Node& node, double a0, double a1, double a2) {
  TIM_ASSIGN_OR_RETURN(const int64_t size, KnownInt(node, 0));
  TIM_ASSIGN_OR_RETURN(const int64_t periodic, node.Int("periodic", 1));
  if (size < 0 || size > kMostMadeBytes / 8) {
    return InvalidArgument("operand 0 (size) is ", size, "; 0 to ",
                           kMostMadeBytes / 8, " are taken");
  }
  const int64_t period = std::max<int64_t>(periodic != 0 ? size : size - 1, 1);
  std::vector<float> values(size);
  for (int64_t i = 0; i < size; ++i) {
    const double t = 2 * std::numbers::pi * static_cast<double>(i) /
                     static_cast<double>(period);
    values[i] =
        static_cast<float>(a0 - a1 * std::cos(t) + a2 * std::cos(2 * t));
  }
  return SetTyped(node, values, {size});
}

Status HannWindow(Node& node) { return CosineWindow(node, 0.5, 0.5, 0); }

Status HammingWindow(Node& node) {
  return CosineWindow(node, 25.0 / 46, 21.0 / 46, 0);
}

Status BlackmanWindow(Node& node) {
  return CosineWindow(node, 0.42, 0.5, 0.08);
}

/// The bins of a spectrum at which bands of equal width in mel begin.
std::vector<int64_t> BandEdges(int64_t bands, int64_t length, int64_t rate,
                               double lower, double upper) {
  const double least = 2595 * std::log10(1 + lower / 700);
  const double most = 2595 * std::log10(1 + upper / 700);
  const double step = (most - least) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double mel = least + step * static_cast<double>(i);
    const double hertz = 700 * (std::pow(10.0, mel / 2595) - 1);
    edges.push_back(static_cast<int64_t>(std::floor(
        static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  return edges;
}

/// A triangle per band, from one edge over the next to the one after it.
Status MelWeightMatrix(Node& node) {
  TIM_ASSIGN_OR_RETURN(const int64_t bands, KnownInt(node, 0));
  TIM_ASSIGN_OR_RETURN(const int64_t length, KnownInt(node, 1));
  TIM_ASSIGN_OR_RETURN(const int64_t rate, KnownInt(node, 2));
  TIM_ASSIGN_OR_RETURN(const double lower, KnownFloat(node, 3));
  TIM_ASSIGN_OR_RETURN(const double upper, KnownFloat(node, 4));
  const int64_t most = kMostMadeBytes / 8;
  if (bands < 1 || bands > most || length < 1 || length > most || rate < 1) {
    return InvalidArgument("operands 0 to 2 are ", bands, ", ", length, " and ",
                           rate, "; numbers from 1 on are taken");
  }
  const int64_t bins = length / 2 + 1;
  if (bins > most / bands) {
    return Unimplemented("a matrix of ", bins, " by ", bands, " elements");
  }
  if (lower < 0 || upper < lower || upper > static_cast<double>(rate)) {
    return InvalidArgument("operands 3 and 4 (edges) are ", lower, " and ",
                           upper, "; 0 <= lower <= upper <= rate is taken");
  }
  const std::vector<int64_t> edges =
      BandEdges(bands, length, rate, lower, upper);
  std::vector<float> values(bins * bands);
  const auto set = [&](int64_t bin, int64_t band, double weight) {
    if (bin >= bins) return;
    values[bin * bands + band] = static_cast<float>(weight);
  };
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t begin = edges[band];
    const int64_t center = edges[band + 1];
    const int64_t end = edges[band + 2];
    if (begin == center) set(center, band, 1);
    for (int64_t bin = begin; begin != center && bin <= center; ++bin) {
      set(bin, band,
          static_cast<double>(bin - begin) /
              static_cast<double>(center - begin));
    }
    for (int64_t bin = center; bin < end; ++bin) {
      set(bin, band,
          static_cast<double>(end - bin) / static_cast<double>(end - center));
    }
  }
  return SetTyped(node, values, {bins, bands});
}

}  // namespace

void AddSignalWindows(OperatorTable* table) {
  const auto add = [table](const char* op, NodeFunction function) {
    table->Add("", op, 17, function);
  };
  add("HannWindow", Strict<HannWindow, 1, "output_datatype", "periodic">);
  add("HammingWindow", Strict<HammingWindow, 1, "output_datatype", "periodic">);
  add("BlackmanWindow",
      Strict<BlackmanWindow, 1, "output_datatype", "periodic">);
  add("MelWeightMatrix", Strict<MelWeightMatrix, 5, "output_datatype">);
}

}  // namespace tim::models::onnx
