// The functions with which plug-ins look at nodes and graphs.  Arguments come
// from outside: indices and pointers are checked, nothing throws.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "plugin/views.h"

namespace tim::plugin {
namespace {

template <typename List>
bool Has(const List& list, uint32_t index) {
  return index < list.size();
}

TimCode Give(const ConstantBytes& constant, TimBytes* bytes, uint64_t* hash) {
  if (constant == nullptr || constant->bytes.data() == nullptr) {
    return TIM_NOT_FOUND;
  }
  if (bytes != nullptr) {
    *bytes = {constant->bytes.data(), constant->bytes.size()};
  }
  if (hash != nullptr) {
    hash[0] = constant->hash.low;
    hash[1] = constant->hash.high;
  }
  return TIM_OK;
}

const char* Op(const TimNode* node) {
  return node == nullptr ? "" : node->op.c_str();
}
int32_t Version(const TimNode* node) {
  return node == nullptr || node->node->schema == nullptr
             ? 1
             : node->node->schema->version;
}
const char* Name(const TimNode* node) {
  return node == nullptr ? "" : node->node->name.c_str();
}
uint32_t InputCount(const TimNode* node) {
  return node == nullptr ? 0 : static_cast<uint32_t>(node->inputs.size());
}
uint32_t OutputCount(const TimNode* node) {
  return node == nullptr ? 0 : static_cast<uint32_t>(node->outputs.size());
}
const TimTensorDesc* At(const Descs& descs, uint32_t index) {
  return Has(descs, index) && descs[index] != nullptr ? descs[index]->get()
                                                      : nullptr;
}
const TimTensorDesc* Input(const TimNode* node, uint32_t index) {
  return node == nullptr ? nullptr : At(node->inputs, index);
}
const TimTensorDesc* Output(const TimNode* node, uint32_t index) {
  return node == nullptr ? nullptr : At(node->outputs, index);
}
TimCode Constant(const TimNode* node, uint32_t input, TimBytes* bytes,
                 uint64_t* hash) {
  if (node == nullptr || !Has(node->constants, input)) {
    return TIM_INVALID_ARGUMENT;
  }
  return Give(node->constants[input], bytes, hash);
}
uint32_t AttributeCount(const TimNode* node) {
  return node == nullptr ? 0 : static_cast<uint32_t>(node->attributes.size());
}
const char* AttributeName(const TimNode* node, uint32_t index) {
  return node == nullptr || !Has(node->attributes, index)
             ? nullptr
             : node->attributes[index].name.c_str();
}
TimCode Attribute(const TimNode* node, const char* name, TimAttribute* out) {
  if (node == nullptr || name == nullptr || out == nullptr ||
      out->struct_size < TIM_SIZE_THROUGH(TimAttribute, type)) {
    return TIM_INVALID_ARGUMENT;
  }
  for (const NamedAttribute& attribute : node->attributes) {
    if (attribute.name != name) continue;
    const uint32_t bytes = out->struct_size;
    std::memcpy(out, &attribute.value->get(),
                std::min<size_t>(bytes, sizeof(TimAttribute)));
    out->struct_size = bytes;
    return TIM_OK;
  }
  return TIM_NOT_FOUND;
}
const TimNode* Anchor(const TimNode* node) {
  return node == nullptr || node->anchor == nullptr ? node : node->anchor.get();
}
uint32_t EpilogueCount(const TimNode* node) {
  if (node == nullptr) return 0;
  node->epilogue_was_read = true;
  return static_cast<uint32_t>(node->epilogue.size());
}
const TimNode* Epilogue(const TimNode* node, uint32_t index,
                        const int32_t** operands, uint32_t* operand_count) {
  if (node == nullptr) return nullptr;
  node->epilogue_was_read = true;
  if (!Has(node->epilogue, index)) return nullptr;
  const EpilogueView& step = node->epilogue[index];
  if (operands != nullptr) *operands = step.operands.data();
  if (operand_count != nullptr) {
    *operand_count = static_cast<uint32_t>(step.operands.size());
  }
  return step.node.get();
}
const TimGraph* Body(const TimNode* node) {
  if (node == nullptr) return nullptr;
  node->epilogue_was_read = true;
  return node->body.get();
}
void Estimate(const TimNode* node, double* flops, double* bytes_read,
              double* bytes_written) {
  if (node == nullptr) return;
  if (flops != nullptr) *flops = node->estimate.flops;
  if (bytes_read != nullptr) *bytes_read = node->estimate.bytes_read;
  if (bytes_written != nullptr) *bytes_written = node->estimate.bytes_written;
}

const char* GraphName(const TimGraph* graph) {
  return graph == nullptr ? "" : graph->graph->name().c_str();
}
uint32_t NodeCount(const TimGraph* graph) {
  return graph == nullptr ? 0 : static_cast<uint32_t>(graph->nodes.size());
}
const TimNode* NodeAt(const TimGraph* graph, uint32_t index) {
  return graph == nullptr || !Has(graph->nodes, index)
             ? nullptr
             : graph->nodes[index].get();
}
int32_t ValueAt(const std::vector<ir::ValueId>& ids, uint32_t index) {
  return Has(ids, index) ? ids[index] : ir::kNone;
}
int32_t InputValue(const TimGraph*, const TimNode* node, uint32_t index) {
  return node == nullptr ? ir::kNone : ValueAt(node->node->inputs, index);
}
int32_t OutputValue(const TimGraph*, const TimNode* node, uint32_t index) {
  return node == nullptr ? ir::kNone : ValueAt(node->node->outputs, index);
}
uint32_t GraphInputCount(const TimGraph* graph) {
  return graph == nullptr
             ? 0
             : static_cast<uint32_t>(graph->graph->inputs().size());
}
int32_t GraphInput(const TimGraph* graph, uint32_t index) {
  return graph == nullptr ? ir::kNone : ValueAt(graph->graph->inputs(), index);
}
uint32_t GraphOutputCount(const TimGraph* graph) {
  return graph == nullptr
             ? 0
             : static_cast<uint32_t>(graph->graph->outputs().size());
}
int32_t GraphOutput(const TimGraph* graph, uint32_t index) {
  return graph == nullptr ? ir::kNone : ValueAt(graph->graph->outputs(), index);
}
bool HasValue(const TimGraph* graph, int32_t value) {
  return graph != nullptr && graph->graph->HasValue(value);
}
const TimTensorDesc* ValueDesc(const TimGraph* graph, int32_t value) {
  return HasValue(graph, value) ? graph->values.at(value)->get() : nullptr;
}
TimCode ValueConstant(const TimGraph* graph, int32_t value, TimBytes* bytes,
                      uint64_t* hash) {
  if (!HasValue(graph, value)) return TIM_INVALID_ARGUMENT;
  return Give(graph->graph->value(value).constant, bytes, hash);
}
int32_t ValueProducer(const TimGraph* graph, int32_t value) {
  if (!HasValue(graph, value)) return ir::kNone;
  const auto place = graph->places.find(graph->graph->value(value).producer);
  return place == graph->places.end() ? ir::kNone : place->second;
}
uint32_t ValueUseCount(const TimGraph* graph, int32_t value) {
  return HasValue(graph, value)
             ? static_cast<uint32_t>(graph->graph->value(value).uses.size())
             : 0;
}
uint64_t ByteSize(const TimTensorDesc* desc) {
  if (desc == nullptr) return 0;
  try {
    const Result<ir::TensorDesc> known = DescOf(*desc);
    if (!known.ok()) return 0;
    const Result<int64_t> bytes = ir::ByteSize(*known);
    return bytes.ok() ? static_cast<uint64_t>(*bytes) : 0;
  } catch (...) {
    return 0;
  }
}

constexpr TimViewFns kViews = {
    .struct_size = TIM_SIZE_THROUGH(TimViewFns, byte_size),
    .reserved = 0,
    .op = Op,
    .version = Version,
    .name = Name,
    .input_count = InputCount,
    .output_count = OutputCount,
    .input = Input,
    .output = Output,
    .constant = Constant,
    .attribute_count = AttributeCount,
    .attribute_name = AttributeName,
    .attribute = Attribute,
    .anchor = Anchor,
    .epilogue_count = EpilogueCount,
    .epilogue = Epilogue,
    .body = Body,
    .estimate = Estimate,
    .graph_name = GraphName,
    .node_count = NodeCount,
    .node = NodeAt,
    .input_value = InputValue,
    .output_value = OutputValue,
    .graph_input_count = GraphInputCount,
    .graph_input = GraphInput,
    .graph_output_count = GraphOutputCount,
    .graph_output = GraphOutput,
    .value = ValueDesc,
    .value_constant = ValueConstant,
    .value_producer = ValueProducer,
    .value_use_count = ValueUseCount,
    .byte_size = ByteSize,
};

}  // namespace

const TimViewFns& Views() { return kViews; }

}  // namespace tim::plugin
