// Evaluates both graphs on the host.
#include "plugin/edit_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "ir/evaluate.h"
#include "ir/op_schema.h"

namespace tim::plugin {
namespace {

using Bytes = std::vector<std::byte>;

constexpr double kTolerance = 1e-4;

bool MayBeCompared(const ir::Graph& graph) {
  if (!graph.state_updates().empty()) return false;
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    if (value.role == ir::Role::kState) return false;
    const bool is_used = !value.uses.empty() || graph.IsLiveOut(id);
    if (is_used && !ir::ByteSize(value.desc).ok()) return false;
  }
  for (const ir::NodeId id : graph.NodeIds()) {
    const ir::Node& node = graph.node(id);
    if (!ir::CanEvaluate(node)) return false;
    if (node.schema != nullptr && node.schema->effects.random) return false;
  }
  return true;
}

// Floats between -1 and 1, integers from 0 to 99.
Bytes SomeContent(const ir::TensorDesc& desc, uint32_t* seed) {
  const Result<int64_t> bytes = ir::ByteSize(desc);
  Bytes content(static_cast<size_t>(bytes.ok() ? *bytes : 0));
  const auto next = [seed] {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
  };
  if (desc.type == ir::DataType::kFloat32) {
    for (size_t at = 0; at + sizeof(float) <= content.size();
         at += sizeof(float)) {
      const float value = static_cast<float>(next() % 2001) / 1000.0f - 1;
      std::memcpy(content.data() + at, &value, sizeof(value));
    }
    return content;
  }
  const auto size =
      std::max<size_t>(1, static_cast<size_t>(ir::Info(desc.type).bits / 8));
  for (size_t at = 0; at < content.size(); at += size) {
    content[at] = static_cast<std::byte>(
        desc.type == ir::DataType::kBool8 ? next() % 2 : next() % 100);
  }
  return content;
}

Result<std::vector<Bytes>> ResultsOf(const ir::Graph& graph,
                                     const std::vector<Bytes>& inputs) {
  std::vector<ir::ConstTensor> from;
  for (size_t i = 0; i < inputs.size(); ++i) {
    from.push_back({&graph.value(graph.inputs()[i]).desc, inputs[i].data()});
  }
  std::vector<Bytes> results;
  for (const ir::ValueId id : graph.outputs()) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(graph.value(id).desc));
    results.emplace_back(static_cast<size_t>(bytes));
  }
  std::vector<ir::MutableTensor> to;
  for (size_t i = 0; i < results.size(); ++i) {
    to.push_back({&graph.value(graph.outputs()[i]).desc, results[i].data()});
  }
  TIM_RETURN_IF_ERROR(ir::Evaluate(graph, from, to));
  return results;
}

Status Compare(const ir::TensorDesc& desc, const Bytes& before,
               const Bytes& after) {
  if (before == after) return OkStatus();
  if (desc.type != ir::DataType::kFloat32 || before.size() != after.size()) {
    return ir::IsFloat(desc.type) ? OkStatus()
                                  : InvalidArgument("gives other integers");
  }
  for (size_t at = 0; at + sizeof(float) <= before.size();
       at += sizeof(float)) {
    float had = 0;
    float has = 0;
    std::memcpy(&had, before.data() + at, sizeof(had));
    std::memcpy(&has, after.data() + at, sizeof(has));
    const bool same = std::abs(had - has) <=
                          kTolerance * std::max(1.0, std::abs(double{had})) ||
                      (std::isnan(had) && std::isnan(has)) || had == has;
    if (same) continue;
    return InvalidArgument("element ", at / sizeof(float), " was ", had,
                           " and is ", has);
  }
  return OkStatus();
}

}  // namespace

Status CompareByEval(const ir::Graph& before, ir::Graph after,
                     const ir::OpRegistry& operators) {
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&after, operators));
  if (!MayBeCompared(before) || !MayBeCompared(after) ||
      before.inputs() != after.inputs() ||
      before.outputs().size() != after.outputs().size()) {
    return OkStatus();
  }
  uint32_t seed = 1;
  std::vector<Bytes> inputs;
  for (const ir::ValueId id : before.inputs()) {
    if (id == ir::kNone) return OkStatus();
    inputs.push_back(SomeContent(before.value(id).desc, &seed));
  }
  TIM_ASSIGN_OR_RETURN(const auto had, ResultsOf(before, inputs));
  TIM_ASSIGN_OR_RETURN(const auto has, ResultsOf(after, inputs));
  for (size_t i = 0; i < had.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        Compare(before.value(before.outputs()[i]).desc, had[i], has[i])
            .WithContext(StrCat("output ", i, " of the edited graph")));
  }
  return OkStatus();
}

}  // namespace tim::plugin
