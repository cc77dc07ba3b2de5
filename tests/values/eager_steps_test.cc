// Parts of eager calls: programs that serve many shapes, and layouts
// that are kept from one call to the next.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compiler/compiler.h"
#include "runtime/compile_options.h"
#include "tests/support/kernels/kernel_set.h"
#include "tim/values/values.h"
#include "values/device_state.h"
#include "values/node_state.h"
#include "values/value_state.h"

namespace tim::values {
namespace {

TIM_FOR_CPU_KERNELS();

const bool g_lenient = [] {
  setenv("TIMCL_STRICT", "0", 1);
  setenv("TIMCL_CACHE_DIR", "off", 1);  // programs are built and counted
  return true;
}();

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

// Numbers that differ, around 0.
std::vector<float> Numbers(int64_t count) {
  std::vector<float> data;
  for (int64_t i = 0; i < count; ++i) {
    data.push_back(static_cast<float>(i * 7 % 23 - 11) / 8);
  }
  return data;
}

void ExpectNear(const Value& value, const Plain& expected) {
  const std::vector<float> found = value.ToVector<float>();
  ASSERT_EQ(found.size() * sizeof(float), expected.bytes) << value.error();
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected.As<float>()[i], 1e-4) << i;
  }
}

// Calls with other extents take programs that were built before, and those
// that come again what was compiled.
void ExpectFewPrograms(const Node& node, int most,
                       const std::function<std::vector<Value>()>& inputs) {
  std::vector<std::vector<Value>> calls(100);
  for (auto& in : calls) in = inputs();
  const int64_t builds = EagerStats().program_builds;
  for (const auto& in : calls) {
    std::vector<Plain> plain;
    for (const Value& value : in) plain.push_back(value.ToPlain());
    const std::vector<Plain> expected = node.Eval(plain);
    ASSERT_EQ(expected.size(), 1u) << LastError();
    ExpectNear(node.Forward(in), expected[0]);
  }
  const CacheStats before = EagerStats();
  EXPECT_LE(before.program_builds - builds, most) << node.op();
  for (const auto& in : calls) ASSERT_TRUE(Value(node.Forward(in)).Wait());
  const CacheStats after = EagerStats();
  EXPECT_EQ(after.program_builds, before.program_builds);
  EXPECT_EQ(after.misses, before.misses);
  EXPECT_EQ(after.hits - before.hits, 100);
}

TEST(Programs, ServeManyShapes) {
  if (Device().spec() == "host") GTEST_SKIP() << "no OpenCL device";
  std::mt19937 random(1);
  const auto extent = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  const auto one = [&]() -> std::vector<Value> {
    const int64_t w = extent(1, 70);
    const int64_t h = extent(1, 20);
    return {Floats({w, h}, Numbers(w * h))};
  };
  ExpectFewPrograms(Node("tim.Relu"), 2, one);
  ExpectFewPrograms(Node("tim.Add"), 2, [&]() -> std::vector<Value> {
    const Value x = one()[0];
    return {x, x};
  });
  ExpectFewPrograms(Node("tim.Softmax", {{"axis", 0}, {"beta", 1.0}}), 2, one);
  ExpectFewPrograms(Node("tim.Matmul"), 4, [&]() -> std::vector<Value> {
    const int64_t k = extent(1, 41);
    const int64_t m = extent(1, 29);
    const int64_t n = extent(1, 53);
    return {Floats({k, m}, Numbers(k * m)), Floats({n, k}, Numbers(n * k))};
  });
  const Spec weights(Type::kFloat32, {3, 3, 16, 32});
  const Value w = Value::Constant(weights, Numbers(3 * 3 * 16 * 32).data());
  ExpectFewPrograms(Node("tim.Conv2d"), 4, [&]() -> std::vector<Value> {
    const int64_t width = extent(3, 21);
    const int64_t height = extent(3, 15);
    return {Floats({width, height, 16, 1}, Numbers(width * height * 16)), w};
  });
}

// The programs, by kernel, of a node for images of this size.
void AddPrograms(const std::string& op, const Attributes& attributes,
                 ir::DataType type, const std::vector<ir::Shape>& shapes,
                 std::map<std::string, std::set<std::string>>* programs) {
  const auto node = internal::MakeNode(op, attributes);
  std::vector<runtime::NodeOperand> operands;
  for (const ir::Shape& shape : shapes) {
    runtime::NodeOperand& operand = operands.emplace_back();
    operand.desc.type = type;
    operand.desc.shape = shape;
    if (type == ir::DataType::kInt8) {
      operand.desc.quantization = {.kind = ir::QuantizationKind::kPerTensor,
                                   .scales = {0.5f},
                                   .zero_points = {0}};
    }
    if (operands.size() == 1) continue;
    const std::vector<std::byte> bytes(
        static_cast<size_t>(*ir::ByteSize(operand.desc)), std::byte{1});
    operand.constant = ir::MakeConstant(bytes.data(), bytes.size());
  }
  auto graph = internal::InferredGraphOf(*node, operands);
  ASSERT_TRUE(graph.ok()) << op << ": " << graph.status().message();
  const auto device = internal::DeviceState::Find("opencl:0");
  const auto surroundings = device->surroundings();
  auto options = runtime::CompileOptionsFor(surroundings.devices);
  options.was_compiled = options.many_shapes = true;
  const auto layout =
      shapes[0].rank() == 4 ? ir::Layout::Blocked(2, 16) : ir::Layout::Dense();
  options.inputs = {{.device = 1, .layout = layout}};
  options.outputs = {{.free = true}};
  const auto plan =
      compiler::Compile(*std::move(graph), *surroundings.operators, options);
  ASSERT_TRUE(plan.ok()) << op << ": " << plan.status().message();
  for (const ir::Step& step : plan->steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    if (launch == nullptr) continue;
    (*programs)[launch->function].insert(launch->options);
  }
}

// Each kernel has four programs at most, for whatever sizes of images.
TEST(Programs, AreFewPerKernel) {
  if (Device().spec() == "host") GTEST_SKIP() << "no OpenCL device";
  const Attributes codes = {{"output_type", "int8"}, {"output_scale", 0.5}};
  const auto with = [&](Attributes more, const Attributes& all) {
    more.insert(more.end(), all.begin(), all.end());
    return more;
  };
  const std::vector<int64_t> twice = {2, 2};
  const Attributes same = {{"padding", "same"}};
  const Attributes depthwise = {{"padding", "same"}, {"multiplier", 1}};
  const Attributes transposed = {
      {"stride", twice}, {"ksize", twice}, {"oc_count", 16}};
  const auto f32 = ir::DataType::kFloat32;
  const auto i8 = ir::DataType::kInt8;
  const struct {
    const char* op;
    Attributes attributes;
    ir::DataType type;
    ir::Shape weights;
  } cases[] = {{"tim.Conv2d", same, f32, {3, 3, 16, 32}},
               {"tim.Conv2d", same, i8, {3, 3, 16, 32}},
               {"tim.Conv2d", depthwise, f32, {3, 3, 16, 1}},
               {"tim.Conv2d", depthwise, i8, {3, 3, 16, 1}},
               {"tim.DeConv2d", transposed, f32, {2, 2, 16, 16}},
               {"tim.Conv3d", same, f32, {3, 3, 3, 8, 16}},
               {"tim.FullyConnected", {{"axis", 0}}, i8, {64, 48}}};
  for (const auto& one : cases) {
    std::map<std::string, std::set<std::string>> programs;
    for (int64_t w = 1; w < 60; w += 2) {
      const int64_t h = w * 7 % 31 + 1;
      const ir::Shape input = one.weights.rank() == 2 ? ir::Shape{64, h}
                              : one.weights.rank() == 5
                                  ? ir::Shape{w, h, 4, 8, 1}
                                  : ir::Shape{w, h, 16, 1};
      AddPrograms(one.op,
                  one.type == i8 ? with(one.attributes, codes) : one.attributes,
                  one.type, {input, one.weights}, &programs);
    }
    for (const auto& [kernel, options] : programs) {
      EXPECT_LE(options.size(), 4u) << kernel;
    }
  }
}

// Kernels of the layouts' conversion that a call of the node runs.
int Reorders(const std::string& op, const std::vector<Value>& inputs) {
  const auto node = internal::MakeNode(op, {});
  std::vector<runtime::NodeOperand> operands;
  for (const Value& value : inputs) {
    const auto state = internal::StateOf(value);
    runtime::NodeOperand& operand = operands.emplace_back();
    operand.desc = state->spec().desc;
    operand.constant = state->constant();
    if (operand.constant != nullptr) continue;
    operand.desc.layout = state->home().layout;
    operand.memory = state->home().memory;
  }
  const auto prepared = internal::DeviceState::Find("opencl:0")
                            ->runner()
                            .Prepare({.name = op,
                                      .schema = node->schema,
                                      .attributes = &node->attributes,
                                      .inputs = operands,
                                      .outputs = node->outputs});
  EXPECT_TRUE(prepared.ok()) << prepared.status().message();
  if (!prepared.ok()) return -1;
  int count = 0;
  for (const ir::Step& step : (*prepared)->plan().steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    count += launch != nullptr &&
             launch->source.find("reorder") != std::string::npos;
  }
  return count;
}

TEST(Layouts, AreKeptBetweenCalls) {
  if (Device().spec() == "host") GTEST_SKIP() << "no OpenCL device";
  const Spec weights(Type::kFloat32, {3, 3, 16, 16});
  const Value w = Value::Constant(weights, Numbers(3 * 3 * 16 * 16).data());
  const Value x = Floats({12, 12, 16, 1}, Numbers(12 * 12 * 16));
  const Value made = Conv2d(x, w);
  const Value first = Relu(made);
  const Value second = Conv2d(first, w);
  ASSERT_TRUE(second.ok()) << second.error();
  EXPECT_FALSE(internal::StateOf(made)->home().layout.dense());
  EXPECT_EQ(Reorders("tim.Relu", {made}), 0);
  EXPECT_EQ(Reorders("tim.Conv2d", {first, w}), 0);
  // Dense values are brought into blocks, and so they are counted.
  EXPECT_EQ(Reorders("tim.Conv2d", {Device("opencl:0").Move(x), w}), 1);
  const Node conv("tim.Conv2d");
  const Plain y = conv.Eval({x.ToPlain(), w.ToPlain()})[0];
  const Plain z = Node("tim.Relu").Eval({y})[0];
  const Plain expected = conv.Eval({z, w.ToPlain()})[0];
  const std::vector<float> found = second.ToVector<float>();
  ASSERT_EQ(found.size() * sizeof(float), expected.bytes);
  for (size_t i = 0; i < found.size(); ++i) {
    const float wanted = expected.As<float>()[i];
    ASSERT_NEAR(found[i], wanted, 1e-3 * (1 + std::abs(wanted))) << i;
  }
}

}  // namespace
}  // namespace tim::values
