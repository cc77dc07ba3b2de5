// query_support, is_supported and compile agree on ops of every kind with
// random types, dims, attributes and operands.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "graph_api/graph.h"
#include "graph_api/op_def.h"
#include "graph_api/partition.h"
#include "tests/graph_api/client_objects.h"
#include "tests/graph_api/every_kind.h"
#include "tim/graph/c_extension.h"

namespace tim::graph {
namespace {

const int kHost = setenv("TIMCL_DEVICE", "host", 1);

using Random = std::mt19937;

template <typename T>
const T& Pick(const std::vector<T>& from, Random& random) {
  return from[random() % from.size()];
}

// One in so many.
bool Once(uint32_t in, Random& random) { return random() % in == 0; }

struct NewNumber {
  Random& random;
  int64_t Int() const {
    return Pick<int64_t>({-1, 0, 1, 1, 2, 2, 3, 4, 7, INT64_MAX}, random);
  }
  void operator()(int64_t& value) const { value = Int(); }
  void operator()(float& value) const {
    value = Pick<float>({-1, 0, 0.5F, 1, 3}, random);
  }
  void operator()(bool& value) const { value = !value; }
  void operator()(std::string& value) const {
    value = Pick<std::string>({"NCX", "NXC", "OIX", "XIO", "none", "numpy",
                               "SAME_UPPER", "VALID", "ceil", "per_channel"},
                              random);
  }
  void operator()(Dims& value) const {
    if (Once(3, random)) value.push_back(Int());
    if (Once(4, random) && !value.empty()) value.pop_back();
    for (int64_t& one : value) {
      if (Once(2, random)) one = Int();
    }
  }
  void operator()(Floats& value) const {
    if (Once(2, random)) value.push_back(0.25F);
    for (float& one : value) one = 0.5F;
  }
};

void ChangeDims(LogicalTensor* tensor, Random& random) {
  if (tensor->ndims < 0) return;
  Dims dims(tensor->dims, tensor->dims + tensor->ndims);
  if (Once(4, random)) dims.push_back(2);
  if (Once(4, random) && !dims.empty()) dims.erase(dims.begin());
  for (int64_t& extent : dims) {
    if (!Once(3, random)) continue;
    extent =
        Pick<int64_t>({0, 1, 1, 2, 3, 4, 5, 8, TIM_GRAPH_UNKNOWN_DIM}, random);
  }
  const auto property = tensor->property;
  *tensor = testing::Described(tensor->id, dims, tensor->data_type);
  tensor->property = property;
}

// The op with up to three changes, or none.
Op Changed(Op op, Random& random) {
  const std::vector<tim_graph_data_type_t> types = {
      tim_graph_f32, tim_graph_bf16, tim_graph_f16,    tim_graph_s32,
      tim_graph_u8,  tim_graph_s8,   tim_graph_boolean};
  auto& operands = Once(3, random) ? op.outputs : op.inputs;
  for (uint32_t changes = random() % 4; changes > 0; --changes) {
    const uint32_t what = random() % 6;
    if (what == 0) {
      const auto type = Pick(types, random);
      for (auto* side : {&op.inputs, &op.outputs}) {
        for (LogicalTensor& tensor : *side) {
          if (!Once(5, random)) tensor.data_type = type;
        }
      }
    } else if (what == 1 && !operands.empty()) {
      operands.pop_back();
    } else if (what == 2 && !op.attributes.empty()) {
      auto at = op.attributes.begin();
      std::advance(at, random() % op.attributes.size());
      if (Once(6, random)) {
        op.attributes.erase(at);
      } else {
        std::visit(NewNumber{random}, at->second);
      }
    } else if (what == 3) {
      for (LogicalTensor& tensor : op.inputs) ChangeDims(&tensor, random);
    } else if (!operands.empty()) {
      ChangeDims(&operands[random() % operands.size()], random);
    }
  }
  return op;
}

struct Answers {
  int refused = 0;      // by CheckOp
  int unsupported = 0;  // by all three
  int compiled = 0;
  int failed = 0;  // to compile, as query_support said
};

tim_graph_status_t CompileAlone(const tim_graph_partition& partition,
                                const Op& op, tim_graph_engine* engine) {
  std::vector<const LogicalTensor*> inputs;
  std::vector<const LogicalTensor*> outputs;
  for (const LogicalTensor& tensor : op.inputs) inputs.push_back(&tensor);
  for (const LogicalTensor& tensor : op.outputs) outputs.push_back(&tensor);
  tim_graph_compiled_partition compiled;
  return tim_graph_partition_compile(
      const_cast<tim_graph_partition*>(&partition), &compiled, inputs.size(),
      inputs.data(), outputs.size(), outputs.data(), engine);
}

bool HasKnownInputs(const Op& op) {
  for (const LogicalTensor& tensor : op.inputs) {
    if (tensor.ndims < 0) return false;
    for (int i = 0; i < tensor.ndims; ++i) {
      if (tensor.dims[i] < 0) return false;
    }
  }
  return true;
}

// Answers of three ways to ask about an op.
void ExpectAgreement(const Op& op, const testing::EngineHandle& engine,
                     Answers* counts) {
  tim_graph_op holder = {.op = op};
  tim_graph_op_support_t answer = {};
  ASSERT_EQ(tim_graph_query_support(&holder, tim_graph_cpu, &answer),
            tim_graph_success);
  const std::string reason = answer.reason;
  const std::string device = answer.device;
  const bool supported = answer.supported != 0;
  tim_graph_partition_t made = nullptr;
  const auto created =
      tim_graph_partition_create_with_op(&made, &holder, tim_graph_cpu);
  const std::unique_ptr<tim_graph_partition> partition(made);
  if (created != tim_graph_success) {
    ++counts->refused;
    EXPECT_EQ(created, tim_graph_invalid_graph_op);
    EXPECT_FALSE(supported);
    EXPECT_NE(std::string(tim_graph_last_message()).find(reason),
              std::string::npos)
        << reason;
    return;
  }
  uint8_t is_supported = 2;
  ASSERT_EQ(tim_graph_partition_is_supported(made, &is_supported),
            tim_graph_success);
  EXPECT_EQ(is_supported != 0, supported) << reason;
  const auto code = CompileAlone(*partition, op, engine.get());
  const std::string message = tim_graph_last_message();
  if (!supported) {
    ++counts->unsupported;
    EXPECT_FALSE(reason.empty());
    EXPECT_EQ(code, tim_graph_invalid_arguments);
    EXPECT_NE(message.find("not supported"), std::string::npos) << message;
    return;
  }
  if (!HasKnownInputs(op)) return;
  if (device.empty()) {
    ++counts->failed;
    EXPECT_NE(message.find(reason), std::string::npos) << reason << "\n"
                                                       << message;
    EXPECT_TRUE(code == tim_graph_invalid_shape ||
                code == tim_graph_invalid_arguments ||
                code == tim_graph_unimplemented)
        << code << " " << message;
    return;
  }
  ++counts->compiled;
  EXPECT_EQ(device, "host");
  EXPECT_EQ(reason, "");
  EXPECT_EQ(code, tim_graph_success) << message;
}

std::string TextOf(const Op& op) {
  std::string text = op.name;
  for (const auto* side : {&op.inputs, &op.outputs}) {
    for (const LogicalTensor& tensor : *side) {
      text += StrCat(
          " ", tim_graph_dt2str(tensor.data_type), "{",
          tensor.ndims < 0
              ? "?"
              : StrJoin(Dims(tensor.dims, tensor.dims + tensor.ndims), ","),
          "}");
    }
    text += " ->";
  }
  return text;
}

TEST(QuerySupport, AgreesWithIsSupportedAndCompile) {
  ASSERT_EQ(kHost, 0);
  const auto engine = testing::MakeEngine(tim_graph_cpu);
  constexpr int kChanges = 500;
  tim_graph_set_compiled_partition_cache_capacity(0);
  Answers counts;
  for (const Op& sound : testing::OpsOfEveryKind()) {
    Random random(static_cast<uint32_t>(sound.id));
    for (int i = 0; i < kChanges; ++i) {
      // The client's description: CheckOp() fills it in again.
      Op op = i == 0 ? sound : Changed(sound, random);
      op.def = nullptr;
      SCOPED_TRACE(StrCat(sound.def->name, ", change ", i, ": ", TextOf(op)));
      ExpectAgreement(op, engine, &counts);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(counts.refused, 500);
  EXPECT_GT(counts.unsupported, 50);
  EXPECT_GT(counts.compiled, 500);
  EXPECT_GT(counts.failed, 100);
  RecordProperty("refused", counts.refused);
  RecordProperty("unsupported", counts.unsupported);
  RecordProperty("compiled", counts.compiled);
  RecordProperty("failed", counts.failed);
}

}  // namespace
}  // namespace tim::graph
