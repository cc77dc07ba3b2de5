// Sinks of edits: they change a graph that nobody else has, which is dropped
// where one of them fails.
#include <cstring>
#include <utility>

#include "ir/constant.h"
#include "plugin/sinks.h"
#include "plugin/tables.h"

namespace tim::plugin {
namespace {

constexpr uint32_t kMostOperands = 4096;
constexpr int kMostNodes = 1'000'000;

Status CheckValue(const ir::Graph& graph, int32_t value) {
  if (graph.HasValue(value)) return OkStatus();
  return InvalidArgument("value ", value, ", which the graph does not have");
}

// The schema's attributes are set later; those that are missing get their
// defaults at the end.
Result<ir::Node> NodeOf(const TimEdits& sink, const char* op, const char* name,
                        const int32_t* inputs, uint32_t input_count) {
  if (op == nullptr) return InvalidArgument("a node without an operator");
  ir::Node node;
  node.schema = sink.registry->Find(op);
  if (node.schema == nullptr) {
    return NotFound("there is no operator ", op);
  }
  node.name = name == nullptr || name[0] == 0
                  ? StrCat(node.schema->name, "#", sink.graph.node_id_limit())
                  : name;
  if (input_count > kMostOperands || (input_count > 0 && inputs == nullptr)) {
    return InvalidArgument(input_count, " inputs of ", node.name);
  }
  for (uint32_t i = 0; i < input_count; ++i) {
    if (inputs[i] != ir::kNone) {
      TIM_RETURN_IF_ERROR(CheckValue(sink.graph, inputs[i]));
    }
    node.inputs.push_back(inputs[i]);
  }
  return node;
}

}  // namespace

TimCode AddConstantTo(TimEdits* sink, const TimTensorDesc* desc, TimBytes bytes,
                      int32_t* value) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (desc == nullptr || value == nullptr) {
      return InvalidArgument("a constant without a description");
    }
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc known, DescOf(*desc));
    TIM_ASSIGN_OR_RETURN(const int64_t expected, ir::ByteSize(known));
    if (bytes.bytes != static_cast<uint64_t>(expected) ||
        (expected > 0 && bytes.data == nullptr)) {
      return InvalidArgument("a constant of ", known.ToString(), ", ", expected,
                             " bytes, with ", bytes.bytes);
    }
    *value = sink->graph.AddConstant(known,
                                     ir::MakeConstant(bytes.data, bytes.bytes));
    sink->graph.value(*value).is_scalar = CopyKnown(desc).is_scalar != 0;
    return OkStatus();
  });
}

TimCode AddNodeTo(TimEdits* sink, const char* op, const char* name,
                  const int32_t* inputs, uint32_t input_count,
                  uint32_t output_count, int32_t* outputs, uint32_t* node) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (output_count > kMostOperands ||
        (output_count > 0 && outputs == nullptr) ||
        sink->graph.node_id_limit() >= kMostNodes) {
      return InvalidArgument("a node with ", output_count, " outputs");
    }
    TIM_ASSIGN_OR_RETURN(ir::Node made,
                         NodeOf(*sink, op, name, inputs, input_count));
    for (uint32_t i = 0; i < output_count; ++i) {
      outputs[i] = sink->graph.AddValue({}, ir::Role::kTransient,
                                        StrCat(made.name, ":", i));
      made.outputs.push_back(outputs[i]);
    }
    if (node != nullptr) *node = static_cast<uint32_t>(sink->added.size());
    sink->added.push_back(sink->graph.AddNode(std::move(made)));
    return OkStatus();
  });
}

TimCode SetAttributeOf(TimEdits* sink, uint32_t node, const char* name,
                       const TimAttribute* value) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (node >= sink->added.size() || name == nullptr || value == nullptr) {
      return InvalidArgument("an attribute of node ", node, " of the ",
                             sink->added.size(), " that were added");
    }
    TIM_ASSIGN_OR_RETURN(ir::Attribute attribute, AttributeOf(*value));
    sink->graph.node(sink->added[node])
        .attributes.Set(name, std::move(attribute));
    return OkStatus();
  });
}

TimCode ReplaceUsesIn(TimEdits* sink, int32_t from, int32_t to) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    TIM_RETURN_IF_ERROR(CheckValue(sink->graph, from));
    TIM_RETURN_IF_ERROR(CheckValue(sink->graph, to));
    if (from != to) sink->graph.ReplaceUses(from, to);
    return OkStatus();
  });
}

TimCode RemoveNodeFrom(TimEdits* sink, const TimNode* node) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (sink->view == nullptr) {
      return InvalidArgument("a node of an operator's body is not removed");
    }
    for (const auto& [id, place] : sink->view->places) {
      if (sink->view->nodes[place].get() != node) continue;
      if (!sink->graph.HasNode(id)) {
        return InvalidArgument("a node is removed twice");
      }
      sink->graph.RemoveNode(id);
      return OkStatus();
    }
    return InvalidArgument("a node that is none of the graph");
  });
}

TimCode SetOutputOf(TimEdits* sink, uint32_t index, int32_t value) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (!sink->is_body || index >= sink->outputs.size()) {
      return InvalidArgument("output ", index, " of ", sink->outputs.size());
    }
    TIM_RETURN_IF_ERROR(CheckValue(sink->graph, value));
    sink->outputs[index] = value;
    return OkStatus();
  });
}

int32_t EditInputOf(TimEdits* sink, uint32_t index) {
  if (sink == nullptr || !sink->is_body ||
      index >= sink->graph.inputs().size()) {
    return ir::kNone;
  }
  return sink->graph.inputs()[index];
}

}  // namespace tim::plugin
