// Calls that run at once: values, devices, nodes, and what is kept between
// calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <vector>

#include "tim/values/values.h"

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
  {
    Value x = Floats({1000}, std::vector<float>(1000, 1));
    for (int i = 0; i < 10; ++i) x = x + 1.0f;
    const CacheStats before = EagerStats();
    const int64_t reserved = device.memory().reserved;
    for (int i = 10; i < 10000; ++i) {
      x = x + 1.0f;
      ASSERT_EQ(device.memory().reserved, reserved) << i;
    }
    const CacheStats after = EagerStats();
    EXPECT_EQ(after.misses, before.misses);
    EXPECT_EQ(after.hits - before.hits, 9990);
    EXPECT_EQ(x.ToVector<float>()[7], 10001);
  }
  EXPECT_EQ(device.memory().in_use, 0);
  EXPECT_GT(device.Trim(), 0);
  EXPECT_EQ(device.memory().reserved, 0);
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
  EXPECT_EQ(LastError(), "the value has 8 bytes, not 4");
  EXPECT_FALSE(x.CopyTo(nullptr, 8));
  EXPECT_EQ(LastError(), "CopyTo() needs memory, not null");
  EXPECT_TRUE(x.CopyTo(two, 8));
  EXPECT_EQ(two[1], 2);
  EXPECT_THAT(Device("opencl:99").spec(), "opencl:99");
  EXPECT_FALSE(Device("opencl:99").ok());
  EXPECT_FALSE(Device::SetDefault(Device("nowhere")));
}

TEST(Values, AreNotLoopedLessThanNever) {
  const Outputs loop = While(
      {Value(1.0f)}, [](const std::vector<Value>&) { return Value(0.0f); },
      [](const std::vector<Value>& state) { return state; }, -2);
  EXPECT_THAT(loop.error(), HasSubstr("max_trips -2"));
}

// Handles that were moved from stand for what they stood for.
TEST(Values, MayBeMovedFrom) {
  const Value x = Floats({2}, {1, -2});
  Node node("tim.Relu");
  Device device("host");
  Variable variable(x);
  Attribute axis(0);
  Pattern pattern = Pattern::Op("tim.Relu");
  Graph graph = Graph::Capture(
      [&](const std::vector<Value>& in) -> std::vector<Value> {
        return {node.Forward(in)};
      },
      {Spec()});
  const Node other_node = std::move(node);
  const Device other_device = std::move(device);
  const Variable other_variable = std::move(variable);
  const Attribute other_axis = std::move(axis);
  const Pattern other_pattern = std::move(pattern);
  const Graph other_graph = std::move(graph);
  EXPECT_EQ(node.op(), "tim.Relu");
  EXPECT_EQ(device.spec(), "host");
  EXPECT_THAT(variable.Read().ToVector<float>(), ElementsAre(1, -2));
  EXPECT_TRUE(Node("tim.Softmax", {{"beta", 1.0}, {"axis", axis}}).ok())
      << LastError();
  EXPECT_EQ(graph.FindAll(pattern).size(), 1u);
  EXPECT_EQ(graph.Level(), 0);
  Value moved = x;
  const Value other = std::move(moved);
  EXPECT_EQ(moved.error(), "no value");
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
  // Each of 6 by 4 outputs in 5 channels of 2 images is a sum of 3 * 2 * 3
  // products; an element of a softmax counts as 100, for its exp.
  const std::vector<Spec> image = {Spec(Type::kFloat32, {8, 5, 3, 2}),
                                   Spec(Type::kFloat32, {3, 2, 3, 5})};
  EXPECT_EQ(Node("tim.Conv2d").EstimateCompute(image).flops,
            2.0 * 3 * 2 * 3 * (6 * 4 * 5 * 2));
  const Node softmax("tim.Softmax", {{"axis", 0}, {"beta", 1.0}});
  EXPECT_EQ(softmax.EstimateCompute({specs[0]}).flops, 100 * 4 * 3);
  EXPECT_EQ(softmax.EstimateCompute({specs[0]}).bytes_read, 4 * 4 * 3);
  EXPECT_EQ(compute.bytes_read, 4 * (4 * 3 + 5 * 4));
  EXPECT_EQ(compute.bytes_written, 4 * 5 * 3);
  // Matrices of [7, 9, 2] by transposed ones of [7, 5, 2]: sums of 7 products.
  const Node transposed("tim.Matmul", {{"transpose_b", true}});
  EXPECT_EQ(transposed
                .EstimateCompute({Spec(Type::kFloat32, {7, 9, 2}),
                                  Spec(Type::kFloat32, {7, 5, 2})})
                .flops,
            2.0 * 7 * (5 * 9 * 2));
  // Every second column and third row of an image with a border of zeros, whose
  // products with them count: 5 by 2 sums of 3 * 2 * 3 products.
  const Node strided("tim.Conv2d", {{"stride", std::vector<int64_t>{2, 3}},
                                    {"pad", std::vector<int64_t>{2, 1, 0, 1}}});
  EXPECT_EQ(strided.InferOutputs(image)[0].shape.ToString(), "[5, 2, 5, 2]");
  EXPECT_EQ(strided.EstimateCompute(image).flops,
            2.0 * 3 * 2 * 3 * (5 * 2 * 5 * 2));
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
