// Activations, and the normalisations along the last axis.
#include "tim/vx/ops/activations.h"

#include "models/tflite/node.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/l2normalization.h"
#include "tim/vx/ops/localresponsenormalization.h"
#include "tim/vx/ops/logsoftmax.h"
#include "tim/vx/ops/softmax.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

template <typename Op>
Status Unary(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  return node.SetOutput(
      0, node.builder().Add<Op>({node.inputs[0]}, node.WantedOf(0)));
}

Status Relu0To1(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  return node.SetOutput(0, node.builder().Add<ops::Clip>(
                               {node.inputs[0]}, node.WantedOf(0), 0.0f, 1.0f));
}

Status Elu(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  return node.SetOutput(0, node.builder().Add<ops::Elu>(
                               {node.inputs[0]}, node.WantedOf(0), 1.0f));
}

Status LeakyRelu(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::LeakyRelu>());
  return node.SetOutput(
      0, node.builder().Add<ops::LeakyRelu>({node.inputs[0]}, node.WantedOf(0),
                                            options->alpha()));
}

Status Gelu(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Gelu>());
  return node.SetOutput(
      0, node.builder().Add<ops::Gelu>({node.inputs[0]}, node.WantedOf(0),
                                       options->approximate()));
}

// The slopes of a channel may be constants that other runtimes quantize while
// the activations are floats.
Status Prelu(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const Value slopes,
                       node.WeightsFor(node.inputs[0], node.inputs[1]));
  return node.SetOutput(0, node.builder().Add<ops::Prelu>(
                               {node.inputs[0], slopes}, node.WantedOf(0), 0));
}

Status Softmax(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Softmax>());
  return node.SetOutput(
      0, node.builder().Add<ops::Softmax>({node.inputs[0]}, node.WantedOf(0),
                                          options->beta(), 0));
}

Status LogSoftmax(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  return node.SetOutput(0, node.builder().Add<ops::LogSoftmax>(
                               {node.inputs[0]}, node.WantedOf(0), 0, 1.0f));
}

Status L2Normalization(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::L2Normalization>());
  return node.SetActivated(0,
                           node.builder().Add<ops::L2Normalization>(
                               {node.inputs[0]}, node.WantedOf(0), 0),
                           options->activation());
}

Status LocalResponseNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::LocalResponseNormalization>());
  const int radius = options->radius();
  if (radius < 0 || radius > (1 << 20)) {
    return node.Refuse("radius", "it is ", radius);
  }
  return node.SetOutput(
      0, node.builder().Add<ops::LocalResponseNormalization>(
             {node.inputs[0]}, node.WantedOf(0),
             static_cast<uint32_t>(2 * radius + 1), options->alpha(),
             options->beta(), options->bias(), 0));
}

}  // namespace

void AddActivations(OperatorTable* table) {
  OperatorTable& to = *table;
  to["RELU"] = Unary<ops::Relu>;
  to["RELU_N1_TO_1"] = Unary<ops::Relu1>;
  to["RELU6"] = Unary<ops::Relu6>;
  to["RELU_0_TO_1"] = Relu0To1;
  to["TANH"] = Unary<ops::Tanh>;
  to["LOGISTIC"] = Unary<ops::Sigmoid>;
  to["HARD_SWISH"] = Unary<ops::HardSwish>;
  to["ELU"] = Elu;
  to["LEAKY_RELU"] = LeakyRelu;
  to["GELU"] = Gelu;
  to["PRELU"] = Prelu;
  to["SOFTMAX"] = Softmax;
  to["LOG_SOFTMAX"] = LogSoftmax;
  to["L2_NORMALIZATION"] = L2Normalization;
  to["LOCAL_RESPONSE_NORMALIZATION"] = LocalResponseNormalization;
}

}  // namespace tim::models::tflite
