// Models in Q-DQ form, float32 operators between DequantizeLinear and
// QuantizeLinear, against the same in operators on codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "models/build/value.h"
#include "tests/models/onnx_model_maker.h"
#include "tests/models/onnx_qdq_maker.h"
#include "tests/support/status_macros.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::models::onnx {
namespace {

using ::onnx::NodeProto;
using Codes = std::vector<uint8_t>;

struct Outcome {
  Codes codes;
  int steps = 0;
  int conversions = 0;
  std::string dump;
};

Codes RandomCodes(size_t count) {
  Codes codes(count);
  std::mt19937 random(3);
  for (uint8_t& code : codes) {
    code = static_cast<uint8_t>(std::uniform_int_distribution(0, 255)(random));
  }
  return codes;
}

Outcome RunModel(const ::onnx::ModelProto& message) {
  static const auto context = [] {
    const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
    EXPECT_OK(opencl);
    return vx::CreateContext({device::CreateHostDevice(), *opencl},
                             {.strict = true});
  }();
  const std::string bytes = message.SerializeAsString();
  const Model model = ParseOnnx(context, bytes.data(), bytes.size());
  EXPECT_TRUE(static_cast<bool>(model)) << model.error;
  if (!model) return {};
  EXPECT_TRUE(model.graph->Compile()) << model.graph->ErrorMessage();
  const Codes input = RandomCodes(static_cast<size_t>(
      ByteSizeOf(model.inputs[0].type, model.inputs[0].dims)));
  model.inputs[0].tensor->CopyDataToTensor(input.data());
  EXPECT_TRUE(model.graph->Run()) << model.graph->ErrorMessage();
  Outcome made;
  const Port& port = model.outputs[0];
  made.codes.resize(static_cast<size_t>(ByteSizeOf(port.type, port.dims)));
  EXPECT_TRUE(port.tensor->CopyDataFromTensor(made.codes.data()));
  if (const ir::Plan* plan = vx::CompiledPlan(*model.graph)) {
    made.steps = static_cast<int>(plan->steps.size());
    for (const ir::Decision& decision : plan->decisions) {
      made.conversions += decision.node.starts_with("DataConvert#") ? 1 : 0;
    }
    made.dump = ir::Dump(*plan);
  }
  return made;
}

void ExpectOnCodes(Outcome (*run)(Form form)) {
  const Outcome qdq = run(Form::kQdq);
  const Outcome codes = run(Form::kOnCodes);
  EXPECT_EQ(qdq.codes, codes.codes);
  EXPECT_EQ(qdq.steps, codes.steps) << qdq.dump << codes.dump;
  EXPECT_GT(qdq.steps, 0);
  EXPECT_GT(std::set<uint8_t>(qdq.codes.begin(), qdq.codes.end()).size(), 8u)
      << "too few codes to tell anything";
}

Outcome ResNetBlock(Form form) {
  QdqMaker maker(form);
  const Coded x = maker.Input({"1", "32", "14", "14"}, 0.02f, 0);
  const Weights weights = {{32, 32, 3, 3}};
  const Coded a = maker.Conv(x, weights, 0.1f, 0, "Relu");
  const Coded b = maker.Conv(a, weights, 0.3f, 121);
  maker.Return(maker.Add(b, x, 0.1f, 0, "Relu"));
  return RunModel(maker.model());
}

TEST(OnnxQdq, ResNetBlockRunsAsManyKernelsAsOnCodes) {
  ExpectOnCodes(ResNetBlock);
}

Outcome MobileNetBlock(Form form) {
  QdqMaker maker(form);
  *maker.graph()->add_initializer() = FloatTensor("zero", {}, {0});
  *maker.graph()->add_initializer() = FloatTensor("six", {}, {6});
  const Coded x = maker.Input({"1", "24", "14", "14"}, 0.02f, 128);
  Coded y = maker.Conv(x, {{96, 24, 1, 1}}, 6.0f / 255, 0, "Clip");
  y = maker.Conv(y, {{96, 1, 3, 3}}, 6.0f / 255, 0, "Clip", 96);
  y = maker.Conv(y, {{24, 96, 1, 1}}, 0.05f, 117);
  maker.Return(maker.Add(y, x, 0.05f, 110));
  return RunModel(maker.model());
}

TEST(OnnxQdq, MobileNetBlockRunsAsManyKernelsAsOnCodes) {
  ExpectOnCodes(MobileNetBlock);
}

Outcome Classifier(Form form) {
  QdqMaker maker(form);
  const Coded x = maker.Input({"1", "16", "8", "8"}, 0.02f, 128);
  Coded y;
  NodeProto* pool = maker.Move("MaxPool", x, &y);
  SetAttribute(pool, "kernel_shape", std::vector<int64_t>{2, 2});
  SetAttribute(pool, "strides", std::vector<int64_t>{2, 2});
  y = maker.Concat(y, maker.Unary("Sigmoid", y, 1.0f / 256, 0), 0.02f, 127);
  y = maker.Unary("GlobalAveragePool", y, 0.004f, 128);
  Coded flat;
  maker.Move("Flatten", y, &flat);
  y = maker.Gemm(flat, {{300, 32}}, 0.004f, 128);
  maker.Return(y);
  return RunModel(maker.model());
}

TEST(OnnxQdq, PoolsConcatAndProductAreOnCodes) { ExpectOnCodes(Classifier); }

Outcome Scores(Form form) {
  QdqMaker maker(form);
  const Coded x = maker.Input({"20", "40"}, 0.02f, 128);
  Coded y;
  SetAttribute(maker.Move("Transpose", x, &y), "perm",
               std::vector<int64_t>{1, 0});
  maker.Return(maker.Unary("Softmax", y, 0.002f, 3));
  return RunModel(maker.model());
}

TEST(OnnxQdq, SoftmaxAndTransposeAreOnCodes) { ExpectOnCodes(Scores); }

// Halves change places, images are twice as wide and high, with the same means.
TEST(OnnxQdq, PartsResizesAndMeansAreOnCodes) {
  QdqMaker maker(Form::kQdq);
  *maker.graph()->add_initializer() = FloatTensor("twice", {4}, {1, 1, 2, 2});
  const Coded x = maker.Input({"1", "4", "3", "3"}, 0.02f, 100);
  const std::vector<Coded> halves = maker.Halves(x);
  Coded y = maker.Concat(halves[1], halves[0], 0.02f, 100);
  maker.Move("Resize", y, &y, {"", "twice"});
  SetAttribute(maker.Move("ReduceMean", y, &y), "axes",
               std::vector<int64_t>{2, 3});
  maker.Return(y);
  const Outcome outcome = RunModel(maker.model());
  EXPECT_EQ(outcome.conversions, 0) << outcome.dump;
  const Codes input = RandomCodes(4 * 9);
  Codes expected;
  for (const int channel : {2, 3, 0, 1}) {
    const auto begin = input.begin() + channel * 9;
    expected.push_back(static_cast<uint8_t>(
        std::nearbyint(std::accumulate(begin, begin + 9, 0) / 9.0)));
  }
  EXPECT_EQ(outcome.codes, expected);
}

// A convolution that stays float32 is one code beside the one on codes, at
// most.
enum class Doubt : uint8_t { kNone, kZeroPoint, kReadAsReal, kThreeAxes };

Outcome OneConvolution(Doubt doubt) {
  QdqMaker maker(Form::kQdq);
  std::vector<std::string> extents = {"1", "16", "9", "9"};
  Weights weights = {{16, 16, 3, 3}};
  if (doubt == Doubt::kThreeAxes) {
    extents.push_back("9");
    weights.dims.push_back(3);
  }
  const Coded x = maker.Input(extents, 0.02f, 128);
  if (doubt == Doubt::kZeroPoint) weights.zero_point = 1;
  const Coded y = maker.Conv(x, weights, 0.1f, 128);
  maker.Return(y);
  if (doubt == Doubt::kReadAsReal) maker.ReturnReal(y);
  return RunModel(maker.model());
}

TEST(OnnxQdq, StaysFloat32WhereCodesDoNotTellIt) {
  const Outcome folded = OneConvolution(Doubt::kNone);
  EXPECT_EQ(folded.conversions, 0) << folded.dump;
  const Outcome real = OneConvolution(Doubt::kReadAsReal);
  EXPECT_EQ(real.conversions, 2) << real.dump;
  EXPECT_EQ(OneConvolution(Doubt::kZeroPoint).conversions, 2);
  EXPECT_EQ(OneConvolution(Doubt::kThreeAxes).conversions, 2);
  ASSERT_EQ(real.codes.size(), folded.codes.size());
  for (size_t i = 0; i < real.codes.size(); ++i) {
    EXPECT_LE(std::abs(int{real.codes[i]} - int{folded.codes[i]}), 1);
  }
}

// Labels of the steps of a compiled model.
std::vector<std::string> StepsOf(const ::onnx::ModelProto& message) {
  const Model model = Parse(message);
  EXPECT_EQ(model.error, "");
  if (!model) return {};
  EXPECT_TRUE(model.graph->Compile()) << model.graph->ErrorMessage();
  const ir::Plan* plan = vx::CompiledPlan(*model.graph);
  std::vector<std::string> labels;
  if (plan == nullptr) return labels;
  for (const ir::Step& step : plan->steps) labels.push_back(step.label);
  return labels;
}

// TensorProto's number of opset 21.
constexpr int kInt4 = 22;

// The product of an input and a constant of that type, in float32.
std::vector<std::string> ProductOfConstant(int type) {
  ::onnx::ModelProto model = EmptyModel(21);
  auto* graph = model.mutable_graph();
  AddInput(graph, "x", ::onnx::TensorProto::FLOAT, {"2", "4"});
  auto* codes = graph->add_initializer();
  codes->set_name("w");
  codes->set_data_type(type);
  for (const int64_t extent : {4, 2}) codes->add_dims(extent);
  codes->set_raw_data(std::string(type == kInt4 ? 4 : 8, '\1'));
  *graph->add_initializer() = FloatTensor("scale", {}, {0.5f});
  AddNode(graph, "DequantizeLinear", {"w", "scale"}, {"real"});
  AddNode(graph, "MatMul", {"x", "real"}, {"y"});
  AddOutput(graph, "y", ::onnx::TensorProto::FLOAT);
  return StepsOf(model);
}

bool Begins(const std::vector<std::string>& labels, const char* name) {
  return std::any_of(
      labels.begin(), labels.end(),
      [name](const std::string& label) { return label.starts_with(name); });
}

// Codes of 4 bits grow eightfold, and are not folded.
TEST(OnnxQdq, ConstantsOf8BitsAreWeights) {
  EXPECT_TRUE(
      Begins(ProductOfConstant(::onnx::TensorProto::INT8), "FullyConnected#"));
  const auto packed = ProductOfConstant(kInt4);
  EXPECT_TRUE(Begins(packed, "Matmul#"));
  EXPECT_FALSE(Begins(packed, "Transpose#"));
}

// Elements are converted before there are more of them.
TEST(OnnxQdq, ExpandedCodesAreConvertedBefore) {
  QdqMaker maker(Form::kQdq);
  *maker.graph()->add_initializer() = IntTensor("extents", {2}, {64, 40});
  const Coded x = maker.Input({"1", "40"}, 0.02f, 128);
  Coded y;
  maker.Move("Expand", x, &y, {"extents"});
  maker.ReturnReal(y);
  const std::vector<std::string> labels = StepsOf(maker.model());
  ASSERT_FALSE(labels.empty());
  EXPECT_TRUE(labels[0].starts_with("DataConvert#")) << labels[0];
}

}  // namespace
}  // namespace tim::models::onnx
