// BatchNormalization, InstanceNormalization, GroupNormalization and LRN.
#include <array>
#include <string>
#include <vector>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/normalizations/normalize.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/batchnorm.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/instancenormalization.h"
#include "tim/vx/ops/localresponsenormalization.h"
#include "tim/vx/ops/pool2d.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

Status CheckPerChannel(const Node& node, size_t first, size_t last,
                       int64_t count) {
  for (size_t i = first; i <= last; ++i) {
    TIM_RETURN_IF_ERROR(CheckFloat(node, i));
    if (node.inputs[i].dims != Dims{count}) {
      return InvalidArgument("operand ", i, " is ", Describe(node.inputs[i]),
                             ", expected [", count, "]");
    }
  }
  return OkStatus();
}

// The running statistic: old * momentum + new * (1 - momentum).
Result<Value> Running(GraphBuilder* builder, const Value& before,
                      const Value& now, float momentum) {
  TIM_ASSIGN_OR_RETURN(const Value kept, Scaled(builder, before, momentum));
  TIM_ASSIGN_OR_RETURN(const Value added,
                       Scaled(builder, now, 1.0f - momentum));
  return Binary<vx::ops::Add>(builder, before.type, kept, added);
}

// Normalises by the statistics of the batch, which become mean and variance.
Status TrainBatch(Node& node, Value* mean, Value* variance) {
  const Value& x = node.inputs[0];
  GraphBuilder* builder = node.builder;
  TIM_ASSIGN_OR_RETURN(const float momentum, node.Float("momentum", 0.9f));
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis != 1) axes.push_back(axis);
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> moments,
                       MomentsOf(builder, x, axes, node.inputs[3].type));
  TIM_ASSIGN_OR_RETURN(*mean, builder->Reshape(moments[0], {x.dims[1]}));
  TIM_ASSIGN_OR_RETURN(*variance, builder->Reshape(moments[1], {x.dims[1]}));
  if (node.Wants(1)) {
    TIM_RETURN_IF_ERROR(
        node.SetOutput(1, Running(builder, node.inputs[3], *mean, momentum)));
  }
  if (!node.Wants(2)) return OkStatus();
  return node.SetOutput(2,
                        Running(builder, node.inputs[4], *variance, momentum));
}

Status BatchNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 5, 5));
  TIM_RETURN_IF_ERROR(CheckAttributes(
      node, {"epsilon", "momentum", "spatial", "training_mode"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  const Value& x = node.inputs[0];
  if (x.rank() < 2) {
    return Unimplemented("operand 0 is ", Describe(x),
                         ", taken are two axes or more");
  }
  TIM_RETURN_IF_ERROR(CheckPerChannel(node, 1, 4, x.dims[1]));
  TIM_ASSIGN_OR_RETURN(const float epsilon, node.Float("epsilon", 1e-5f));
  TIM_ASSIGN_OR_RETURN(const int64_t spatial, node.Int("spatial", 1));
  TIM_ASSIGN_OR_RETURN(const int64_t training, node.Int("training_mode", 0));
  if (spatial != 1) {
    return Unimplemented("attribute 'spatial' is ", spatial, ", taken is 1");
  }
  Value mean = node.inputs[3], variance = node.inputs[4];
  if (training != 0) {
    TIM_RETURN_IF_ERROR(TrainBatch(node, &mean, &variance));
  } else {
    TIM_RETURN_IF_ERROR(
        CheckOutputs(node, 1, "statistics are those of training"));
  }
  return node.SetOutput(0,
                        node.builder->Add<vx::ops::BatchNorm>(
                            {x, mean, variance, node.inputs[1], node.inputs[2]},
                            Wanted::Of(x.type, x.dims), epsilon));
}

Status InstanceNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 3, 3));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"epsilon"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  const Value& x = node.inputs[0];
  if (x.rank() < 3) {
    return Unimplemented("operand 0 is ", Describe(x),
                         ", taken are three axes or more");
  }
  TIM_RETURN_IF_ERROR(CheckPerChannel(node, 1, 2, x.dims[1]));
  TIM_ASSIGN_OR_RETURN(const float epsilon, node.Float("epsilon", 1e-5f));
  return node.SetOutput(0, node.builder->Add<vx::ops::InstanceNormalization>(
                               {x, node.inputs[2], node.inputs[1]},
                               Wanted::Of(x.type, x.dims), epsilon));
}

// A parameter of every channel beside x.
Result<Value> AlongChannels(GraphBuilder* builder, const Value& parameter,
                            const Value& x) {
  Dims dims(x.dims.size() - 1, 1);
  dims[0] = parameter.dims[0];
  return builder->Reshape(parameter, dims);
}

// Scale and bias are those of groups up to opset 20, of channels from 21 on.
Status GroupNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 3, 3));
  TIM_RETURN_IF_ERROR(
      CheckAttributes(node, {"epsilon", "num_groups", "stash_type"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  GraphBuilder* builder = node.builder;
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const float epsilon, node.Float("epsilon", 1e-5f));
  TIM_ASSIGN_OR_RETURN(const int64_t groups, node.Int("num_groups", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t stash, node.Int("stash_type", 1));
  if (x.rank() < 2 || groups < 1 || x.dims[1] % groups != 0 || stash != 1) {
    return InvalidArgument("attribute 'num_groups' is ", groups,
                           " and 'stash_type' ", stash, " for ", Describe(x));
  }
  const bool by_group = node.opset < 21;
  TIM_RETURN_IF_ERROR(
      CheckPerChannel(node, 1, 2, by_group ? groups : x.dims[1]));
  TIM_ASSIGN_OR_RETURN(const int64_t all, Product(x.dims, 1, x.dims.size()));
  TIM_ASSIGN_OR_RETURN(const Value grouped,
                       builder->Reshape(x, {x.dims[0], groups, all / groups}));
  Value gamma = node.inputs[1], beta = node.inputs[2];
  if (!by_group) {
    TIM_ASSIGN_OR_RETURN(gamma, FilledVector(*builder, 1.0f, groups));
    TIM_ASSIGN_OR_RETURN(beta, FilledVector(*builder, 0.0f, groups));
  }
  TIM_ASSIGN_OR_RETURN(Value y, builder->Add<vx::ops::InstanceNormalization>(
                                    {grouped, beta, gamma},
                                    Wanted::Of(x.type, grouped.dims), epsilon));
  TIM_ASSIGN_OR_RETURN(y, builder->Reshape(y, x.dims));
  if (by_group) return node.SetOutput(0, y);
  TIM_ASSIGN_OR_RETURN(const Value scale,
                       AlongChannels(builder, node.inputs[1], x));
  TIM_ASSIGN_OR_RETURN(const Value bias,
                       AlongChannels(builder, node.inputs[2], x));
  TIM_ASSIGN_OR_RETURN(y, Binary<vx::ops::Multiply>(builder, x.type, y, scale));
  return node.SetOutput(0, Binary<vx::ops::Add>(builder, x.type, y, bias));
}

struct Neighbours {
  int64_t size;
  float alpha;
  float beta;
  float bias;
};

// An even number of neighbours, one more of them behind: alpha times the mean
// of their squares, which a pool along the channels gives.
Result<Value> NormalizeByEven(GraphBuilder* builder, const Value& x,
                              const Neighbours& it) {
  TIM_ASSIGN_OR_RETURN(const int64_t cells, Product(x.dims, 2, x.dims.size()));
  const Dims image = {x.dims[0], 1, x.dims[1], cells};
  TIM_ASSIGN_OR_RETURN(Value mean, Unary<vx::ops::Square>(builder, x));
  TIM_ASSIGN_OR_RETURN(mean, builder->Reshape(mean, image));
  const auto size = static_cast<uint32_t>(it.size);
  const std::array<uint32_t, 4> pads = {0, 0, (size - 1) / 2, size / 2};
  TIM_ASSIGN_OR_RETURN(
      mean, builder->Add<vx::ops::Pool2d>({mean}, Wanted::Of(x.type, image),
                                          vx::PoolType::AVG, pads,
                                          std::array<uint32_t, 2>{1, size},
                                          std::array<uint32_t, 2>{1, 1}));
  TIM_ASSIGN_OR_RETURN(mean, builder->Reshape(mean, x.dims));
  TIM_ASSIGN_OR_RETURN(mean, Scaled(builder, mean, it.alpha, it.bias));
  TIM_ASSIGN_OR_RETURN(mean, Binary<vx::ops::Pow>(builder, x.type, mean,
                                                  ScalarOf(*builder, it.beta)));
  return Binary<vx::ops::Div>(builder, x.type, x, mean);
}

Status Lrn(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"alpha", "beta", "bias", "size"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  const Value& x = node.inputs[0];
  Neighbours it{};
  TIM_ASSIGN_OR_RETURN(it.size, node.Int("size", 0));
  TIM_ASSIGN_OR_RETURN(it.alpha, node.Float("alpha", 1e-4f));
  TIM_ASSIGN_OR_RETURN(it.beta, node.Float("beta", 0.75f));
  TIM_ASSIGN_OR_RETURN(it.bias, node.Float("bias", 1.0f));
  constexpr int64_t kMostSize = 1 << 20;
  if (x.rank() < 2 || it.size < 1 || it.size > kMostSize) {
    return InvalidArgument("attribute 'size' is ", it.size, " for ",
                           Describe(x), ", taken are 1 to ", kMostSize);
  }
  if (it.size % 2 == 0) {
    return node.SetOutput(0, NormalizeByEven(node.builder, x, it));
  }
  return node.SetOutput(
      0, Unary<vx::ops::LocalResponseNormalization>(
             node.builder, x, static_cast<uint32_t>(it.size),
             it.alpha / static_cast<float>(it.size), it.beta, it.bias,
             static_cast<int32_t>(GraphAxis(1, x.rank()))));
}

}  // namespace

void AddChannelNormalizations(OperatorTable* table) {
  table->Add("", "BatchNormalization", 7, BatchNormalization);
  table->Add("", "InstanceNormalization", 6, InstanceNormalization);
  table->Add("", "GroupNormalization", 18, GroupNormalization);
  table->Add("", "LRN", 1, Lrn);
}

}  // namespace tim::models::onnx
