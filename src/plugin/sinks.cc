// Sinks of parts and operators, and the table of all sinks.
#include "plugin/sinks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plugin/tables.h"

namespace tim::plugin {
namespace {

constexpr size_t kMostClaims = 100'000;

// A node of the graph that was shown, and not of one inside.
Result<ir::NodeId> NodeOf(const TimClaims& sink, const TimNode* node) {
  for (const auto& [id, place] : sink.graph->places) {
    if (sink.graph->nodes[place].get() == node) return id;
  }
  return InvalidArgument("a node that is none of the graph");
}

TimCode Claim(TimClaims* sink, const TimNode* const* nodes, uint32_t count,
              double microseconds, const char* name) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (count < 1 || nodes == nullptr || count > sink->graph->nodes.size()) {
      return InvalidArgument("a claim of ", count, " nodes");
    }
    if (!std::isfinite(microseconds) || microseconds < 0) {
      return InvalidArgument("a claim of no number of microseconds");
    }
    if (sink->claims.claims.size() >= kMostClaims) {
      return InvalidArgument("more than ", kMostClaims, " claims");
    }
    ir::PartClaim claim;
    claim.name = name == nullptr ? "" : name;
    claim.microseconds = microseconds;
    for (uint32_t i = 0; i < count; ++i) {
      TIM_ASSIGN_OR_RETURN(claim.nodes.emplace_back(), NodeOf(*sink, nodes[i]));
    }
    std::sort(claim.nodes.begin(), claim.nodes.end());
    claim.nodes.erase(std::unique(claim.nodes.begin(), claim.nodes.end()),
                      claim.nodes.end());
    sink->claims.claims.push_back(std::move(claim));
    return OkStatus();
  });
}

TimCode ClaimConstants(TimClaims* sink, const int32_t* values, uint32_t count) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (sink->claims.claims.empty()) {
      return InvalidArgument("constants of no claim");
    }
    if (count > 0 && values == nullptr) {
      return InvalidArgument(count, " constants in no array");
    }
    for (uint32_t i = 0; i < count; ++i) {
      const ir::Graph& graph = *sink->graph->graph;
      if (!graph.HasValue(values[i]) ||
          graph.value(values[i]).constant == nullptr) {
        return InvalidArgument("value ", values[i], " is no constant");
      }
      sink->claims.claims.back().constants.push_back(values[i]);
    }
    return OkStatus();
  });
}

void Refuse(TimClaims* sink, const TimNode* node, const char* reason) {
  if (sink == nullptr) return;
  static_cast<void>(sink->failure.Keep([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const ir::NodeId id, NodeOf(*sink, node));
    if (reason == nullptr || reason[0] == 0) {
      return InvalidArgument("a refusal without a reason");
    }
    sink->claims.refused.emplace_back(id, reason);
    return OkStatus();
  }));
}

TimCode InferOutput(TimInference* sink, uint32_t output,
                    const TimTensorDesc* desc) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    auto& outputs = sink->context->outputs;
    if (output >= outputs.size() || desc == nullptr) {
      return InvalidArgument("output ", output, " of ", outputs.size());
    }
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc known, DescOf(*desc));
    ir::TensorDesc& out = outputs[output].desc;
    out.shape = known.shape;
    if (out.type == ir::DataType::kUnknown) {
      out.type = known.type;
      out.quantization = known.quantization;
    }
    outputs[output].is_scalar = CopyKnown(desc).is_scalar != 0;
    sink->known[output] = true;
    return OkStatus();
  });
}

constexpr TimSinkFns kSinks = {
    .struct_size = TIM_SIZE_THROUGH(TimSinkFns, infer_output),
    .reserved = 0,
    .add_layouts = AddLayoutsTo,
    .add_scratch = AddScratchTo,
    .add_packed = AddPackedTo,
    .input_operand = InputOperandOf,
    .output_operand = OutputOperandOf,
    .add_step = AddStepTo,
    .add_opencl_step = AddOpenClStepTo,
    .add_in_place = AddInPlaceTo,
    .claim = Claim,
    .claim_constants = ClaimConstants,
    .refuse = Refuse,
    .add_constant = AddConstantTo,
    .add_node = AddNodeTo,
    .set_attribute = SetAttributeOf,
    .replace_uses = ReplaceUsesIn,
    .remove_node = RemoveNodeFrom,
    .set_output = SetOutputOf,
    .edit_input = EditInputOf,
    .infer_output = InferOutput,
};

}  // namespace

const TimSinkFns& Sinks() { return kSinks; }

Status CallbackStatus(const LoadedPlugin& plugin, const char* name,
                      const Status& called, const SinkFailure& failure) {
  if (failure.status.ok()) return called;
  if (!called.ok()) {
    return Status(
        called.code(),
        StrCat(called.message(), "; it was told: ", failure.status.message()));
  }
  return plugin.Broke(StrCat(name, "() gave ", failure.status.message()));
}

}  // namespace tim::plugin
