// Every operator alone, on operands of which independent programs know the
// results: by Node::Eval, and by Node::Forward on the host and on OpenCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "ir/evaluate.h"
#include "ir/op_registry.h"
#include "ir/tensor_desc.h"
#include "tests/support/data/golden.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"
#include "tim/values/values.h"
#include "values/access.h"
#include "values/conversion.h"
#include "values/node_state.h"

namespace {

// Bytes of operator new that this thread holds while it counts, and the most.
thread_local bool t_counts = false;
thread_local int64_t t_held = 0;
thread_local int64_t t_most = 0;

// Header that stands before each allocation.
struct alignas(std::max_align_t) Header {
  int64_t bytes = 0;  // 0: it is not counted
};

void* Allocate(size_t bytes) {
  void* const memory = std::malloc(sizeof(Header) + bytes);
  if (memory == nullptr) std::abort();
  auto* const header = new (memory) Header();
  if (t_counts) {
    header->bytes = static_cast<int64_t>(bytes);
    t_held += header->bytes;
    t_most = std::max(t_most, t_held);
  }
  return header + 1;
}

void Free(void* memory) {
  if (memory == nullptr) return;
  auto* const header = static_cast<Header*>(memory) - 1;
  if (t_counts) t_held -= header->bytes;
  std::free(header);
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes); }
// Sanitizers have one of their own, which does not call the one above.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return Allocate(bytes);
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }

namespace tim::values {
namespace {

using testing::Golden;
using testing::TensorData;

const bool g_lenient = [] {
  setenv("TIMCL_STRICT", "0", 1);
  return true;
}();

const std::vector<Golden>& Goldens() {
  static const auto* const kGoldens = [] {
    auto loaded = testing::LoadAllGoldens();
    return new std::vector<Golden>(loaded.ok() ? *std::move(loaded)
                                               : std::vector<Golden>());
  }();
  return *kGoldens;
}

bool IsDense(const Golden& golden) {
  for (const auto& input : golden.inputs) {
    if (input && !input->desc.layout.dense()) return false;
  }
  for (const TensorData& output : golden.outputs) {
    if (!output.desc.layout.dense()) return false;
  }
  return true;
}

// The operator with its outputs as the golden has them.
Node NodeOf(const Golden& golden) {
  Attributes attributes;
  for (const auto& [name, value] : golden.attributes.entries()) {
    attributes.emplace_back(
        name, internal::Access::MakeAttribute(
                  std::make_shared<const internal::AttributeState>(
                      internal::AttributeState{value})));
  }
  attributes.emplace_back("output_count", golden.outputs.size());
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const ir::TensorDesc& desc = golden.outputs[i].desc;
    const std::string prefix = "output" + std::to_string(i) + "_";
    attributes.emplace_back(prefix + "type",
                            std::string(ir::ToString(desc.type)));
    const ir::Quantization& q = desc.quantization;
    if (q.kind == ir::QuantizationKind::kPerTensor) {
      attributes.emplace_back(prefix + "scale", double{q.scales[0]});
      attributes.emplace_back(prefix + "zero_point", q.ZeroPoint());
    } else if (q.kind == ir::QuantizationKind::kPerChannel) {
      attributes.emplace_back(
          prefix + "scales",
          std::vector<double>(q.scales.begin(), q.scales.end()));
      attributes.emplace_back(
          prefix + "zero_points",
          std::vector<int64_t>(q.zero_points.begin(), q.zero_points.end()));
      attributes.emplace_back(prefix + "axis", q.axis);
    } else if (q.kind == ir::QuantizationKind::kFixedPoint) {
      attributes.emplace_back(prefix + "fl", q.fl);
    }
    if (i < golden.declared.size() && golden.declared[i]) {
      attributes.emplace_back(prefix + "shape", desc.shape.dims());
    }
  }
  return Node(golden.op, attributes);
}

Spec SpecOf(const ir::TensorDesc& desc) {
  return internal::ToSpec(desc, false);
}

std::vector<Value> ValuesOf(const Golden& golden) {
  std::vector<Value> values;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    const auto& input = golden.inputs[i];
    if (!input) {
      values.emplace_back();
    } else if (golden.constant[i]) {
      values.push_back(
          Value::Constant(SpecOf(input->desc), input->bytes.data()));
    } else {
      values.push_back(
          Value::FromHost(SpecOf(input->desc), input->bytes.data()));
    }
  }
  return values;
}

std::vector<Plain> PlainOf(const Golden& golden) {
  std::vector<Plain> plain;
  for (const auto& input : golden.inputs) {
    plain.push_back(input ? MakePlain(SpecOf(input->desc), input->bytes.data())
                          : Plain());
  }
  return plain;
}

void ExpectGolden(const Golden& golden, const Plain& found, size_t index) {
  const TensorData& expected = golden.outputs[index];
  ASSERT_EQ(found.bytes, expected.bytes.size()) << golden.name;
  TensorData data{expected.desc, {}};
  const auto* bytes = static_cast<const std::byte*>(found.data.get());
  data.bytes.assign(bytes, bytes + found.bytes);
  EXPECT_OK(testing::CompareTensors(expected, data, golden.tolerance))
      << golden.name << " output " << index;
}

void ExpectForward(const Golden& golden) {
  const Node node = NodeOf(golden);
  ASSERT_TRUE(node.ok()) << golden.name << ": " << node.error();
  const Outputs outputs = node.Forward(ValuesOf(golden));
  ASSERT_TRUE(outputs.ok()) << golden.name << ": " << outputs.error();
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const Plain plain = outputs[i].ToPlain();
    ASSERT_TRUE(plain) << golden.name << ": " << LastError();
    ExpectGolden(golden, plain, i);
  }
}

TEST(Operators, AgreeOnTheHost) {
  ASSERT_TRUE(Device::SetDefault(Device("host")));
  size_t count = 0;
  for (const Golden& golden : Goldens()) {
    if (!IsDense(golden)) continue;
    ++count;
    ExpectForward(golden);
    const Node node = NodeOf(golden);
    const std::vector<Plain> plain = node.Eval(PlainOf(golden));
    ASSERT_GE(plain.size(), golden.outputs.size())
        << golden.name << ": " << LastError();
    for (size_t i = 0; i < golden.outputs.size(); ++i) {
      ExpectGolden(golden, plain[i], i);
    }
  }
  EXPECT_GT(count, 500u);
}

// Estimates are of the bytes that there are.  What depends on content has none.
TEST(Operators, EstimateTheirMemory) {
  size_t count = 0;
  for (const Golden& golden : Goldens()) {
    if (!IsDense(golden)) continue;
    std::vector<Spec> specs;
    int64_t inputs = 0;
    int64_t outputs = 0;
    for (const auto& input : golden.inputs) {
      specs.push_back(input ? SpecOf(input->desc) : Spec(Type::kUnknown, {}));
      if (input) inputs += static_cast<int64_t>(input->bytes.size());
    }
    for (const TensorData& output : golden.outputs) {
      outputs += static_cast<int64_t>(output.bytes.size());
    }
    const MemoryEstimate memory = NodeOf(golden).EstimateMemory(specs);
    if (memory.inputs < 0) continue;
    ++count;
    EXPECT_EQ(memory.inputs, inputs) << golden.name;
    EXPECT_EQ(memory.outputs, outputs) << golden.name;
    EXPECT_GE(memory.scratch, 0) << golden.name;
    EXPECT_FALSE(memory.bound) << golden.name;
  }
  EXPECT_GT(count, 500u);
}

// Bytes that the reference of the node holds at most beside its operands; -1
// where extents depend on content, or there is no reference.
int64_t ScratchOf(const ir::Graph& graph, const ir::Node& node) {
  if (!ir::CanEvaluate(node)) return -1;
  std::vector<ir::ConstTensor> inputs;
  std::vector<ir::MutableTensor> outputs;
  std::vector<std::vector<std::byte>> memory;
  for (const ir::ValueId id : node.inputs) {
    inputs.emplace_back();
    if (id == ir::kNone) continue;
    const ir::Value& value = graph.value(id);
    inputs.back() = {&value.desc, value.constant->bytes.data()};
  }
  for (const ir::ValueId id : node.outputs) {
    outputs.emplace_back();
    if (id == ir::kNone) continue;
    const ir::TensorDesc& desc = graph.value(id).desc;
    const auto bytes = ir::ByteSize(desc);
    if (!bytes.ok()) return -1;
    outputs.back() = {&desc,
                      memory.emplace_back(static_cast<size_t>(*bytes)).data()};
  }
  t_held = t_most = 0;
  t_counts = true;
  const Status status = ir::Evaluate(node, inputs, outputs);
  t_counts = false;
  EXPECT_OK(status) << node.name;
  return t_most;
}

// Estimated scratch is what references allocate for elements.  Beside it they
// have lists of extents, operands and channels: a kilobyte for each operand.
TEST(Operators, AllocateWhatTheyEstimate) {
  constexpr int64_t kLists = 1024;
  size_t count = 0;
  size_t with_scratch = 0;
  for (const Golden& golden : Goldens()) {
    if (!IsDense(golden)) continue;
    std::vector<Spec> specs;
    std::vector<runtime::NodeOperand> operands;
    auto lists = static_cast<int64_t>(golden.outputs.size() + 2) * kLists;
    for (const auto& input : golden.inputs) {
      specs.push_back(input ? SpecOf(input->desc) : Spec(Type::kUnknown, {}));
      runtime::NodeOperand& operand = operands.emplace_back();
      operand.present = input.has_value();
      if (!input) continue;
      lists += kLists;
      operand.desc = input->desc;
      operand.constant =
          ir::MakeConstant(input->bytes.data(), input->bytes.size());
    }
    const Node node = NodeOf(golden);
    const int64_t estimate = node.EstimateMemory(specs).scratch;
    if (estimate < 0) continue;
    const auto graph =
        internal::InferredGraphOf(*internal::Access::StateOf(node), operands);
    ASSERT_OK(graph) << golden.name;
    const std::vector<ir::NodeId> ids = graph->NodeIds();
    ASSERT_EQ(ids.size(), 1u) << golden.name;
    const int64_t scratch = ScratchOf(*graph, graph->node(ids[0]));
    if (scratch < 0) continue;
    ++count;
    if (estimate > 0) ++with_scratch;
    EXPECT_GE(scratch, estimate) << golden.op << " " << golden.name;
    EXPECT_LE(scratch, estimate + lists) << golden.op << " " << golden.name;
  }
  EXPECT_GT(count, 500u);
  EXPECT_GT(with_scratch, 200u);
}

bool IsFloat(const Golden& golden) {
  for (const auto& input : golden.inputs) {
    if (input && input->desc.type != ir::DataType::kFloat32) return false;
  }
  return golden.outputs[0].desc.type == ir::DataType::kFloat32;
}

// One golden per operator, of float32 where there is one.
TEST(Operators, AgreeOnOpenCl) {
  const Device device("opencl:0");
  if (!device.ok()) GTEST_SKIP() << "no OpenCL device";
  ASSERT_TRUE(Device::SetDefault(device));
  std::map<std::string, const Golden*> chosen;
  for (const Golden& golden : Goldens()) {
    if (!IsDense(golden)) continue;
    const Golden*& one = chosen[golden.op];
    if (one == nullptr || (!IsFloat(*one) && IsFloat(golden))) one = &golden;
  }
  EXPECT_GT(chosen.size(), 100u);
  testing::Sample operators(3);
  for (const auto& [op, golden] : chosen) {
    if (operators.Takes()) ExpectForward(*golden);
  }
}

}  // namespace
}  // namespace tim::values
