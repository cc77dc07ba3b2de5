#include "ops/recurrent/sequence.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "kernels/exact_exp.h"
#include "ops/elements/operands.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

constexpr char kSimple[] = "kernels/formulas/simple_functions.clh";
constexpr char kSmooth[] = "kernels/formulas/activations.clh";

// NaN stays NaN.
float Within(float x, float low, float high) {
  return x < low ? low : x > high ? high : x;
}

constexpr StepFunction kFunctions[] = {
    {StepActivation::kNone, "none", "TIM_SCALE", kSimple,
     [](float x) { return x; }, "1.0f"},
    {StepActivation::kRelu, "relu", "TIM_RELU", kSimple,
     [](float x) { return x < 0 ? 0.0f : x; }},
    {StepActivation::kRelu1, "relu1", "TIM_RELU1", kSimple,
     [](float x) { return Within(x, -1.0f, 1.0f); }},
    {StepActivation::kRelu6, "relu6", "TIM_RELU6", kSimple,
     [](float x) { return Within(x, 0.0f, 6.0f); }},
    {StepActivation::kTanh, "tanh", "TIM_TANH", kSmooth, kernels::Tanh},
    {StepActivation::kSigmoid, "sigmoid", "TIM_SIGMOID", kSmooth,
     kernels::Sigmoid},
    {StepActivation::kHardSigmoid, "hard_sigmoid", "TIM_HARD_SIGMOID", kSimple,
     [](float x) { return Within(std::fma(0.2f, x, 0.5f), 0.0f, 1.0f); },
     "0.2f", "0.5f"},
};

bool Differ(int64_t a, int64_t b) {
  return a != b && a != ir::kUnknownDim && b != ir::kUnknownDim;
}

}  // namespace

const StepFunction& StepFunctionOf(StepActivation activation) {
  return *std::find_if(std::begin(kFunctions), std::end(kFunctions) - 1,
                       [&](const StepFunction& function) {
                         return function.activation == activation;
                       });
}

ir::AttributeSpec StepActivationSpec(
    std::string name, std::optional<StepActivation> default_value,
    std::initializer_list<StepActivation> without) {
  ir::AttributeSpec spec;
  spec.name = std::move(name);
  if (default_value) {
    spec.default_value = static_cast<int64_t>(*default_value);
  }
  for (const StepFunction& function : kFunctions) {
    if (std::find(without.begin(), without.end(), function.activation) ==
        without.end()) {
      spec.values.emplace_back(function.name,
                               static_cast<int64_t>(function.activation));
    }
  }
  return spec;
}

SequenceShape SequenceShapeOf(const ir::Shape& shape, bool time_major) {
  SequenceShape out;
  out.time_major = time_major;
  if (!shape.ranked()) return out;
  out.width = shape[0];
  if (shape.rank() == 2) {
    out.batch = shape[1];
    out.steps = 1;
    return out;
  }
  out.batch = shape[time_major ? 1 : 2];
  out.steps = shape[time_major ? 2 : 1];
  return out;
}

ir::Shape ShapeOf(const SequenceShape& sequence, int64_t width) {
  if (sequence.time_major) {
    return ir::Shape({width, sequence.batch, sequence.steps});
  }
  return ir::Shape({width, sequence.steps, sequence.batch});
}

Status CheckRank(const ir::InferContext& context, int index, int rank) {
  const ir::Shape& shape = context.shape(index);
  if (!shape.ranked() || shape.rank() == rank) return OkStatus();
  return InvalidArgument("input ", index, " ", shape.ToString(), " has rank ",
                         shape.rank(), ", expected ", rank);
}

Status CheckMatrix(const ir::InferContext& context, int index, int64_t depth,
                   int64_t units) {
  if (!context.has_input(index)) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckRank(context, index, 2));
  const ir::Shape& shape = context.shape(index);
  if (!shape.ranked()) return OkStatus();
  if (!Differ(shape[0], depth) && !Differ(shape[1], units)) return OkStatus();
  return InvalidArgument("input ", index, " is ", shape.ToString(),
                         ", expected ", ir::Shape({depth, units}).ToString());
}

Status CheckElements(const ir::InferContext& context, int index,
                     const ir::Shape& shape) {
  if (!context.has_input(index)) return OkStatus();
  const auto found = context.shape(index).NumElements();
  const auto expected = shape.NumElements();
  if (!found || !expected || *found == *expected) return OkStatus();
  return InvalidArgument("input ", index, " is ",
                         context.shape(index).ToString(), ", expected ",
                         shape.ToString());
}

int64_t UnitsOf(const ir::InferContext& context,
                std::initializer_list<int> matrices) {
  for (const int index : matrices) {
    if (!context.has_input(index)) continue;
    const ir::Shape& shape = context.shape(index);
    if (shape.ranked() && shape.rank() == 2 && shape[1] != ir::kUnknownDim) {
      return shape[1];
    }
  }
  return ir::kUnknownDim;
}

void SetOutput(ir::InferContext& context, int index, const ir::Shape& shape) {
  if (index >= static_cast<int>(context.outputs.size())) return;
  InferTypeFromInput(context, index);
  context.outputs[static_cast<size_t>(index)].desc.shape = shape;
}

bool HasOutput(const ir::Node& node, int index) {
  return index >= 0 && index < static_cast<int>(node.outputs.size()) &&
         node.outputs[static_cast<size_t>(index)] != ir::kNone;
}

Status CheckSequenceTypes(const ir::NodeView& view) {
  for (int i = 0; i < static_cast<int>(view.inputs.size()); ++i) {
    if (view.inputs[i] == nullptr) continue;
    TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, i));
  }
  for (int i = 0; i < static_cast<int>(view.outputs.size()); ++i) {
    if (view.outputs[i] == nullptr) continue;
    TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, i));
    TIM_RETURN_IF_ERROR(CheckChannels(*view.outputs[i]));
  }
  return OkStatus();
}

std::vector<float> InputReals(const ir::EvalContext& context, int index) {
  if (index < 0 || !context.has_input(index)) return {};
  return RealValues(context.inputs[static_cast<size_t>(index)]);
}

StepMatrix::StepMatrix(const ir::EvalContext& context, int weights, int bias)
    : weights_(InputReals(context, weights)), bias_(InputReals(context, bias)) {
  if (weights_.empty()) return;
  const ir::Shape& shape =
      context.inputs[static_cast<size_t>(weights)].desc->shape;
  depth_ = shape[0];
  units_ = shape[1];
}

float StepMatrix::Product(const float* x, int64_t unit) const {
  const float* weights = weights_.data() + unit * depth_;
  float sum = 0;
  for (int64_t k = 0; k < depth_; ++k) sum += x[k] * weights[k];
  return bias_.empty() ? sum : sum + bias_[static_cast<size_t>(unit)];
}

StepWriter::StepWriter(const ir::EvalContext& context, int index) {
  if (!HasOutput(context.node, index)) return;
  writer_.emplace(context.outputs[static_cast<size_t>(index)],
                  kernels::PolicyOf(context.attributes()));
}

void StepWriter::Store(int64_t begin, const std::vector<float>& values) {
  if (!writer_) return;
  for (const float value : values) writer_->StoreReal(begin++, value);
}

int64_t InputRealBytes(const ir::NodeView& view) {
  int64_t floats = 0;
  for (const ir::TensorDesc* desc : view.inputs) {
    if (desc != nullptr) floats += desc->shape.NumElements().value_or(0);
  }
  return floats * static_cast<int64_t>(sizeof(float));
}

ir::ComputeEstimate SequenceEstimate(const ir::NodeView& view, double flops) {
  return {.flops = flops,
          .bytes_read = InputBytes(view),
          .bytes_written = OutputBytes(view)};
}

}  // namespace tim::ops
