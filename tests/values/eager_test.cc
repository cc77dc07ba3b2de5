// Calls that run at once: values, devices, nodes, and what is kept between
// calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compiler/compiler.h"
#include "runtime/compile_options.h"
#include "tim/values/values.h"
#include "values/device_state.h"
#include "values/node_state.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const bool g_lenient = [] {
  setenv("TIMCL_STRICT", "0", 1);
  setenv("TIMCL_CACHE_DIR", "off", 1);  // programs are built and counted
  return true;
}();

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

class OnDevice : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    before_ = Device();
    const Device device(GetParam());
    if (!device.ok()) GTEST_SKIP() << "no device " << GetParam();
    ASSERT_TRUE(Device::SetDefault(device));
  }
  void TearDown() override { Device::SetDefault(before_); }

  Device before_;
};

INSTANTIATE_TEST_SUITE_P(Devices, OnDevice,
                         ::testing::Values("host", "opencl:0"),
                         [](const auto& info) {
                           return info.param.substr(0, 4);
                         });

TEST_P(OnDevice, AddsAndRectifies) {
  const Value x = Floats({3, 2}, {0.5f, -2, 3, 4, 5, -6});
  const Value b = Floats({3}, {-1, 0, 1});
  const Value y = Relu(x + b);
  ASSERT_TRUE(y.ok()) << y.error();
  EXPECT_EQ(y.spec().shape.ToString(), "[3, 2]");
  EXPECT_EQ(y.device().spec(), GetParam());
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(0, 0, 4, 3, 5, 0));
  EXPECT_TRUE(y.Wait());
  EXPECT_TRUE(y.ready());
  EXPECT_EQ(y.ToString(), "float32 [3, 2] {0, 0, 4, 3, 5, 0}");
}

TEST_P(OnDevice, ComputesWithScalarsAndReductions) {
  const Value x = Floats({2, 2}, {1, 2, 3, 4});
  const Value y = (x - 1) * 2.0f / 4 + 0.5f * x;
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  const Value mean = ReduceMean(x * x, {0, 1});
  ASSERT_TRUE(mean.ok()) << mean.error();
  EXPECT_THAT(mean.ToVector<float>(), ElementsAre(7.5f));
  EXPECT_THAT(Value(3.0f).ToVector<float>(), ElementsAre(3));
  EXPECT_EQ(Value(3.0f).spec().shape.rank(), 0);
}

TEST_P(OnDevice, ViewsShareMemory) {
  const Device device;
  const Value x = Relu(Floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  const int64_t before = device.memory().in_use;
  const Value y = Reshape(x, {3, 2});
  EXPECT_EQ(device.memory().in_use, before);
  EXPECT_EQ(y.spec().shape.ToString(), "[3, 2]");
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT((y + y).ToVector<float>(), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_P(OnDevice, CountsHitsAndKeepsFewBytes) {
  const Device device;
  Value x = Floats({1000}, std::vector<float>(1000, 1));
  for (int i = 0; i < 10; ++i) x = x + 1.0f;
  const CacheStats before = EagerStats();
  const int64_t reserved = device.memory().reserved;
  for (int i = 0; i < 1000; ++i) x = x + 1.0f;
  EXPECT_EQ(device.memory().reserved, reserved);
  const CacheStats after = EagerStats();
  EXPECT_EQ(after.misses, before.misses);
  EXPECT_EQ(after.hits - before.hits, 1000);
  EXPECT_EQ(x.ToVector<float>()[7], 1011);
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

// Calls with other extents take programs that were built before.
void ExpectFewPrograms(const Node& node, int most,
                       const std::function<std::vector<Value>(int)>& inputs) {
  const int64_t before = EagerStats().program_builds;
  for (int i = 0; i < 25; ++i) {
    const std::vector<Value> in = inputs(i);
    std::vector<Plain> plain;
    for (const Value& value : in) plain.push_back(value.ToPlain());
    const std::vector<Plain> expected = node.Eval(plain);
    ASSERT_EQ(expected.size(), 1u) << LastError();
    ExpectNear(node.Forward(in), expected[0]);
  }
  EXPECT_LE(EagerStats().program_builds - before, most) << node.op();
}

TEST(Programs, ServeManyShapes) {
  if (Device().spec() == "host") GTEST_SKIP() << "no OpenCL device";
  const auto one = [](int i) -> std::vector<Value> {
    const int64_t w = i * 5 % 37 + 1;
    const int64_t h = i * 3 % 11 + 1;
    return {Floats({w, h}, Numbers(w * h))};
  };
  ExpectFewPrograms(Node("tim.Relu"), 2, one);
  ExpectFewPrograms(Node("tim.Add"), 2, [&](int i) -> std::vector<Value> {
    return {one(i)[0], one(i)[0]};
  });
  ExpectFewPrograms(Node("tim.Softmax", {{"axis", 0}, {"beta", 1.0}}), 2, one);
  ExpectFewPrograms(Node("tim.Matmul"), 4, [](int i) -> std::vector<Value> {
    const int64_t k = i * 7 % 41 + 1;
    const int64_t m = i * 5 % 29 + 1;
    const int64_t n = i * 3 % 53 + 1;
    return {Floats({k, m}, Numbers(k * m)), Floats({n, k}, Numbers(n * k))};
  });
  const Spec weights(Type::kFloat32, {3, 3, 16, 32});
  const Value w = Value::Constant(weights, Numbers(3 * 3 * 16 * 32).data());
  ExpectFewPrograms(Node("tim.Conv2d"), 4, [&](int i) -> std::vector<Value> {
    const int64_t width = i * 5 % 19 + 3;
    const int64_t height = i * 3 % 13 + 3;
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

TEST(Layouts, AreKeptBetweenCalls) {
  if (Device().spec() == "host") GTEST_SKIP() << "no OpenCL device";
  const Spec weights(Type::kFloat32, {3, 3, 16, 16});
  const Value w = Value::Constant(weights, Numbers(3 * 3 * 16 * 16).data());
  const Value x = Floats({12, 12, 16, 1}, Numbers(12 * 12 * 16));
  const Value first = Relu(Conv2d(x, w));
  const Value second = Conv2d(first, w);
  ASSERT_TRUE(second.ok()) << second.error();
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

TEST(Values, KeepNoMemoryWithoutHandles) {
  const Device device;
  const int64_t before = device.memory().in_use;
  {
    const Value x = Floats({1000}, std::vector<float>(1000, -1));
    const Value y = Relu(x) + x;
    EXPECT_GT(device.memory().in_use, before);
    EXPECT_EQ(y.ToVector<float>()[3], -1);
  }
  EXPECT_EQ(device.memory().in_use, before);
  if (before == 0) {
    device.Trim();
    EXPECT_EQ(device.memory().reserved, 0);
  }
}

TEST(Values, TellWhatIsWrong) {
  EXPECT_EQ(Value().error(), "no value");
  EXPECT_EQ(Relu(Value()).error(), "no value");
  EXPECT_EQ(LastError(), "no value");
  const Value open = Value::FromHost(Spec(), "");
  EXPECT_THAT(open.error(), HasSubstr("known extents"));
  EXPECT_THAT(Relu(open).error(), HasSubstr("known extents"));
  EXPECT_FALSE(open.ToPlain());
  EXPECT_THAT(Floats({3}, {1, 2}).error(),
              HasSubstr("has 3 elements, and 2 are given"));
  const Value zero = Value::FromHost(Spec(Type::kFloat32, {0}), "");
  EXPECT_THAT(zero.error(), HasSubstr("extents are positive"));
  const Value null = Value::FromHost(Spec(Type::kFloat32, {1}), nullptr);
  EXPECT_THAT(null.error(), HasSubstr("null"));
  const Value x = Floats({2}, {1, 2});
  EXPECT_THAT(Value(Call("tim.Rely", {x})).error(),
              HasSubstr("operator tim.Rely: there is no operator"));
  EXPECT_THAT(Value(Call("tim.Relu", {x, x})).error(),
              HasSubstr("takes 1 input, not 2"));
  EXPECT_THAT(Value(Call("tim.Softmax", {x}, {{"axes", 0}})).error(),
              HasSubstr("no attribute 'axes'; it has "));
  EXPECT_THAT(Value(Call("tim.Softmax", {x}, {{"axis", "x"}})).error(),
              HasSubstr("attribute axis is of type"));
  EXPECT_THAT(
      Value(Call("tim.Pool2d", {x}, {{"type", "median"}})).error(),
      HasSubstr("attribute type is 'median'; legal are max = 0, avg = 1"));
  const Value sum = x + Floats({3}, {1, 2, 3});
  EXPECT_THAT(sum.error(), HasSubstr("[3]"));
  EXPECT_THAT(sum.error(), HasSubstr("tim.Add"));
  EXPECT_TRUE(x.ToVector<int32_t>().empty());
  EXPECT_THAT(LastError(), HasSubstr("float32 were asked for as another type"));
  EXPECT_EQ(x.ToPlain().As<double>(), nullptr);
  float two[2] = {};
  EXPECT_FALSE(x.CopyTo(two, 4));
  EXPECT_TRUE(x.CopyTo(two, 8));
  EXPECT_EQ(two[1], 2);
  EXPECT_THAT(Device("opencl:99").spec(), "opencl:99");
  EXPECT_FALSE(Device("opencl:99").ok());
  EXPECT_FALSE(Device::SetDefault(Device("nowhere")));
}

TEST(Values, ComeFromAndGoToTheHost) {
  float memory[3] = {1, 2, 3};
  bool released = false;
  {
    const Value wrapped = Value::Wrap(Spec(Type::kFloat32, {3}), memory,
                                      [&released] { released = true; });
    EXPECT_THAT((wrapped + 1).ToVector<float>(), ElementsAre(2, 3, 4));
    EXPECT_FALSE(released);
  }
  Device().memory();  // waits for all work
  EXPECT_TRUE(released);
  const Value constant = Value::Constant(Spec(Type::kFloat32, {3}), memory);
  memory[0] = 7;
  EXPECT_THAT(constant.ToVector<float>(), ElementsAre(1, 2, 3));
  const Value truth = Value::Of<bool>({2}, {true, false});
  EXPECT_THAT(truth.ToVector<uint8_t>(), ElementsAre(1, 0));
  for (const Device& device : Device::List()) {
    if (!device.ok()) continue;
    for (int type = 1; type <= 15; ++type) {
      const std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
      const Spec spec(static_cast<Type>(type), {1});
      const Value there = device.FromHost(spec, bytes.data());
      ASSERT_TRUE(there.ok()) << there.error();
      EXPECT_EQ(there.device().spec(), device.spec());
      const Plain back = device.ToHost(there).ToPlain();
      ASSERT_TRUE(back) << LastError();
      EXPECT_EQ(std::memcmp(back.data.get(), bytes.data(), back.bytes), 0);
    }
  }
}

TEST(Nodes, EvaluateInferAndEstimate) {
  const Node matmul("tim.Matmul");
  const std::vector<Spec> specs = {Spec(Type::kFloat32, {4, 3}),
                                   Spec(Type::kFloat32, {5, 4})};
  const std::vector<Spec> outputs = matmul.InferOutputs(specs);
  ASSERT_EQ(outputs.size(), 1u) << LastError();
  EXPECT_EQ(outputs[0].shape.ToString(), "[5, 3]");
  const ComputeEstimate compute = matmul.EstimateCompute(specs);
  EXPECT_EQ(compute.flops, 2 * 3 * 4 * 5);
  EXPECT_FALSE(compute.bound);
  const MemoryEstimate memory = matmul.EstimateMemory(specs);
  EXPECT_EQ(memory.inputs, 4 * (12 + 20));
  EXPECT_EQ(memory.outputs, 4 * 15);
  EXPECT_GT(matmul.PredictMicroseconds(specs), 0) << LastError();
  std::vector<Spec> bounded = specs;
  bounded[0].shape = Shape({4, Shape::kUnknown}).SetBound(1, 3);
  EXPECT_TRUE(matmul.EstimateCompute(bounded).bound);
  EXPECT_EQ(matmul.EstimateCompute(bounded).flops, compute.flops);
  bounded[0].shape = Shape({4, Shape::kUnknown});
  EXPECT_EQ(matmul.EstimateCompute(bounded).flops, -1);
  EXPECT_THAT(LastError(), HasSubstr("input 0: the extent of axis 1"));
  EXPECT_EQ(matmul.InferOutputs(bounded)[0].shape.ToString(), "[5, ?]");
  const float data[] = {1, -2};
  const auto plain =
      Node("tim.Relu").Eval({MakePlain(Spec(Type::kFloat32, {2}), data)});
  ASSERT_EQ(plain.size(), 1u) << LastError();
  EXPECT_EQ(plain[0].As<float>()[1], 0);
  EXPECT_TRUE(matmul.InferOutputs({specs[0]}).empty());
  EXPECT_THAT(LastError(), HasSubstr("takes 2 to 2 inputs, not 1"));
  const Node split("tim.Split",
                   {{"axis", 0}, {"slices", std::vector<int64_t>{1, 3}}});
  const Outputs parts = split.Forward({Floats({4}, {1, 2, 3, 4})});
  ASSERT_EQ(parts.size(), 2u) << parts.error();
  EXPECT_THAT(parts[1].ToVector<float>(), ElementsAre(2, 3, 4));
  EXPECT_THAT(Value(parts).error(), HasSubstr("2 outputs is no value"));
  EXPECT_THAT(parts[2].error(), HasSubstr("no output 2 of 2"));
}

TEST(Nodes, TakeAbsentOperands) {
  const float two[] = {1, 2};
  const Value x = Value::Constant(Spec(Type::kFloat32, {2}), two);
  for (const Value& y : {Concat({x, Value()}, 0), Concat({Value(), x}, 0)}) {
    EXPECT_THAT(y.ToVector<float>(), ElementsAre(1, 2)) << y.error();
  }
}

TEST(Nodes, DeclareOutputs) {
  const Value x = Floats({3}, {0.5f, -1, 2});
  const Value codes = Call("tim.DataConvert", {x},
                           {{"output_type", "uint8"},
                            {"output_scale", 0.5},
                            {"output_zero_point", 10}});
  ASSERT_TRUE(codes.ok()) << codes.error();
  EXPECT_THAT(codes.ToVector<uint8_t>(), ElementsAre(11, 8, 14));
  EXPECT_EQ(codes.spec().quantization.kind, 1);
  EXPECT_THAT(DataConvert(codes, "float32").ToVector<float>(),
              ElementsAre(0.5f, -1, 2));
  EXPECT_THAT(Cast(x, "int32").ToVector<int32_t>(), ElementsAre(0, -1, 2));
  EXPECT_THAT(Value(Call("tim.Relu", {x}, {{"output_type", "half"}})).error(),
              HasSubstr("'half' is no element type"));
  EXPECT_THAT(Value(Call("tim.Relu", {x}, {{"output_kind", 1}})).error(),
              HasSubstr("outputs have a type, shape"));
  EXPECT_THAT(Value(Call("tim.Relu", {x}, {{"output_count", 2}})).error(),
              HasSubstr("output_count is 2; it has 1 to 1 outputs"));
}

TEST(Events, CallOnce) {
  const Value y = Floats({4}, {1, 2, 3, 4}) + 1;
  std::atomic<int> calls = 0;
  std::promise<bool> done;
  y.event().Then([&](bool ok) {
    ++calls;
    done.set_value(ok);
  });
  EXPECT_TRUE(done.get_future().get());
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(Event().Wait());
  EXPECT_FALSE(Value().event().Wait());
  EXPECT_EQ(Value().event().error(), "no value");
}

}  // namespace
}  // namespace tim::values
