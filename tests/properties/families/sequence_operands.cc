#include "tests/properties/families/sequence_operands.h"

#include <cmath>

#include "base/half.h"

namespace tim::testing {
namespace {

constexpr double kDeviation = 2;  // Of RandomTensor's floats.

TensorData Scaled(const ir::TensorDesc& desc, float factor, CaseRng& rng) {
  TensorData out = rng.Data(desc);
  if (desc.type == ir::DataType::kFloat32) {
    std::vector<float> values = Values<float>(out);
    for (float& value : values) value *= factor;
    return MakeTensor(desc, values);
  }
  if (desc.type != ir::DataType::kFloat16) return out;
  std::vector<uint16_t> values = Values<uint16_t>(out);
  for (uint16_t& value : values) {
    value = FloatToHalf(HalfToFloat(value) * factor);
  }
  return MakeTensor(desc, values);
}

}  // namespace

ir::TensorDesc StepDesc(const std::string& type, std::vector<int64_t> shape,
                        double magnitude, CaseRng& rng) {
  ir::TensorDesc desc = rng.Desc(type, std::move(shape), 1);
  if (!desc.quantized()) return desc;
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const double codes = static_cast<double>(info.max - info.min) / 2;
  for (float& scale : desc.quantization.scales) {
    scale = static_cast<float>(magnitude / codes);
  }
  desc.quantization.fl =
      static_cast<int>(std::floor(std::log2(codes / magnitude)));
  for (int32_t& zero : desc.quantization.zero_points) {
    zero = info.min < 0 ? static_cast<int32_t>(rng.Int(0, 3))
                        : static_cast<int32_t>(codes);
  }
  return desc;
}

void AddStepInput(NodeCase* node, size_t index, const std::string& type,
                  std::vector<int64_t> shape, double magnitude, Known known,
                  CaseRng& rng) {
  const ir::TensorDesc desc = StepDesc(type, std::move(shape), magnitude, rng);
  if (node->inputs.size() <= index) node->inputs.resize(index + 1);
  node->inputs[index] = desc;
  auto& values = known == Known::kAtCompile ? node->constants : node->data;
  values[static_cast<int>(index)] =
      Scaled(desc, static_cast<float>(magnitude / kDeviation), rng);
}

void AddStepWeights(NodeCase* node, size_t index, const std::string& type,
                    int64_t depth, int64_t units, Known known, CaseRng& rng) {
  AddStepInput(node, index, type, {depth, units},
               0.8 / std::sqrt(static_cast<double>(depth)), known, rng);
}

}  // namespace tim::testing
