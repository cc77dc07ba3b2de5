// Properties of what is made of a node: copies and dumps.
#include "ir/op_schema.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

Status Names(const std::string& dump, const std::string& part) {
  if (dump.find(part) != std::string::npos) return OkStatus();
  return InvalidArgument("'", part, "' is not in the dump\n", dump);
}

}  // namespace

Status CopiesAgree(const Described& described, const NodeCase& node, CaseRng&) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  const ir::Graph copy = made.graph;
  const ir::Node& original = made.graph.node(made.node);
  TIM_RETURN_IF_ERROR(copy.CheckChains());
  if (copy.node(made.node).attributes != original.attributes ||
      copy.Dump() != made.graph.Dump()) {
    return InvalidArgument("a copy is\n", copy.Dump(), "expected\n",
                           made.graph.Dump());
  }
  const std::string dump = made.graph.Dump();
  const std::string schema = ir::Dump(*original.schema);
  const std::string attributes =
      ir::AttributesText(*original.schema, original.attributes);
  TIM_RETURN_IF_ERROR(Names(dump, attributes));
  for (const ir::AttributeSpec& spec : original.schema->attributes) {
    TIM_RETURN_IF_ERROR(Names(attributes, StrCat(spec.name, ": ")));
    TIM_RETURN_IF_ERROR(Names(schema, StrCat("  ", spec.name, ": ")));
  }
  for (const ir::ValueId id : made.graph.ValueIds()) {
    const ir::Value& value = made.graph.value(id);
    TIM_RETURN_IF_ERROR(
        Names(dump, StrCat(value.name, ": ", value.desc.ToString())));
  }
  return Names(dump, original.schema->Key());
}

}  // namespace tim::testing
