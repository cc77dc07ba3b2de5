// Reads operands and options of one operator for the functions that take it.
#include "models/tflite/node.h"

#include "models/tflite/constants.h"
#include "tim/vx/ops/activations.h"

namespace tim::models::tflite {
namespace {

// The array in the extents that a value has given it.
HostArray Shaped(HostArray array, const Dims& dims) {
  array.dims = dims;
  return array;
}

std::string Operand(size_t index) { return StrCat("input ", index); }

}  // namespace

Status Node::Expect(size_t needed, size_t most, size_t results) {
  if (inputs.size() > most) {
    return Refuse("inputs", "there are ", inputs.size(), ", at most ", most,
                  " are taken");
  }
  for (size_t i = 0; i < needed; ++i) {
    if (!Has(i)) return Refuse(Operand(i), "it is absent");
  }
  if (declared.size() == results) return OkStatus();
  return Refuse("outputs", "there are ", declared.size(), ", not ", results);
}

Result<std::vector<int64_t>> Node::ConstantInts(size_t index) {
  if (!Has(index)) return Refuse(Operand(index), "it is absent");
  if (inputs[index].constant == nullptr) {
    return Refuse(Operand(index), "'", inputs[index].name,
                  "' is known when the model runs; a constant is taken");
  }
  auto values = Integers(*inputs[index].constant);
  if (!values.ok()) about = Operand(index);
  return values;
}

Result<std::vector<float>> Node::ConstantFloats(size_t index) {
  if (!Has(index)) return Refuse(Operand(index), "it is absent");
  if (inputs[index].constant == nullptr) {
    return Refuse(Operand(index), "'", inputs[index].name,
                  "' is known when the model runs; a constant is taken");
  }
  TIM_ASSIGN_OR_RETURN(const Value real, AsFloat(inputs[index]));
  return Floats(*real.constant);
}

Result<int64_t> Node::ConstantInt(size_t index) {
  TIM_ASSIGN_OR_RETURN(const auto values, ConstantInts(index));
  if (values.size() == 1) return values[0];
  return Refuse(Operand(index), "it has ", values.size(), " elements, not 1");
}

Result<Value> Node::AsFloat(const Value& value) {
  if (value.constant == nullptr || value.type == vx::DataType::FLOAT32 ||
      (value.type != vx::DataType::FLOAT16 &&
       value.quantization.Type() == vx::QuantType::NONE)) {
    return value;
  }
  Value real;
  real.name = value.name;
  real.type = vx::DataType::FLOAT32;
  real.dims = value.dims;
  TIM_ASSIGN_OR_RETURN(
      real.constant,
      workspace->Derived(value.constant,
                         StrCat("real ", StrJoin(value.dims, ",")),
                         [&](const HostArray& from) {
                           return DequantizedArray(Shaped(from, value.dims),
                                                   value.quantization);
                         }));
  return real;
}

Result<Value> Node::WeightsFor(const Value& of, const Value& weights) {
  if (of.type != vx::DataType::FLOAT32) return weights;
  if (weights.constant == nullptr || weights.type != vx::DataType::UINT8 ||
      weights.quantization.Type() == vx::QuantType::NONE) {
    return AsFloat(weights);
  }
  for (const int32_t zero_point : weights.quantization.ZeroPoints()) {
    if (zero_point == 0) continue;
    return Refuse("weights", "'", weights.name, "' has the zero point ",
                  zero_point, " beside FLOAT32; 0 is taken");
  }
  Value codes = weights;
  codes.type = vx::DataType::INT8;
  TIM_ASSIGN_OR_RETURN(
      codes.constant,
      workspace->Derived(weights.constant, "signed",
                         [](const HostArray& from) -> Result<HostArray> {
                           HostArray array = from;
                           array.type = vx::DataType::INT8;
                           return array;
                         }));
  return AsFloat(codes);
}

Result<Value> Node::Permuted(const Value& value,
                             const std::vector<int>& order) {
  if (value.constant == nullptr) return builder().Transpose(value, order);
  Value out = value;
  out.tensor = nullptr;
  out.dims.clear();
  for (const int axis : order) out.dims.push_back(value.dims[axis]);
  TIM_ASSIGN_OR_RETURN(
      out.constant,
      workspace->Derived(value.constant, StrCat("axes ", StrJoin(order, ",")),
                         [&](const HostArray& from) -> Result<HostArray> {
                           return PermutedArray(from, order);
                         }));
  const int channel = value.quantization.ChannelDim();
  if (value.quantization.Scales().size() > 1) {
    for (int i = 0; i < value.rank(); ++i) {
      if (GraphAxis(order[i], value.rank()) == channel) {
        out.quantization.SetChannelDim(GraphAxis(i, value.rank()));
      }
    }
  }
  return out;
}

Result<int> Node::Axis(const std::string& what, int64_t axis, int rank) {
  auto positive = PositiveAxis(axis, rank);
  if (!positive.ok()) about = what;
  return positive;
}

Status Node::ExpectRank(size_t input, int rank) {
  if (inputs[input].rank() == rank) return OkStatus();
  return Refuse(Operand(input), "its rank is ", inputs[input].rank(), ", not ",
                rank);
}

Wanted Node::WantedOf(size_t index) const {
  return Wanted::Like(declared[index]);
}

Wanted Node::WantedOf(size_t index, Dims dims) const {
  return Wanted::Of(declared[index].type, std::move(dims),
                    declared[index].quantization);
}

Status Node::SetOutput(size_t index, Result<Value> made) {
  if (!made.ok()) return made.status();
  if (outputs.size() < declared.size()) outputs.resize(declared.size());
  outputs[index] = *std::move(made);
  builder().SetName(&outputs[index], declared[index].name);
  return OkStatus();
}

Status Node::SetActivated(size_t index, Result<Value> made,
                          fbs::Activation activation) {
  if (!made.ok() || activation == fbs::Activation::NONE) {
    return SetOutput(index, std::move(made));
  }
  const Wanted wanted = WantedOf(index);
  switch (activation) {
    case fbs::Activation::RELU:
      return SetOutput(index, builder().Add<vx::ops::Relu>({*made}, wanted));
    case fbs::Activation::RELU_N1_TO_1:
      return SetOutput(index, builder().Add<vx::ops::Relu1>({*made}, wanted));
    case fbs::Activation::RELU6:
      return SetOutput(index, builder().Add<vx::ops::Relu6>({*made}, wanted));
    case fbs::Activation::TANH:
      return SetOutput(index, builder().Add<vx::ops::Tanh>({*made}, wanted));
    default:
      return Refuse("fused activation", "number ", static_cast<int>(activation),
                    "; RELU, RELU_N1_TO_1, RELU6 and TANH are taken");
  }
}

}  // namespace tim::models::tflite
