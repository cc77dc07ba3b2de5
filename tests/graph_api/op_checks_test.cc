// Every kind of operation refuses what its record does not allow, in the order
// that clients rely on, and says which rule was broken.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

Types TypesOf(const OpDef& def, const OperandDef& operand) {
  for (const TypeVariable& variable : def.types) {
    if (variable.name == operand.type) return variable.types;
  }
  return {};  // any
}

size_t FewestOf(const std::vector<OperandDef>& defs,
                const std::vector<size_t>& counts) {
  if (!counts.empty()) {
    return *std::min_element(counts.begin(), counts.end());
  }
  return static_cast<size_t>(
      std::count_if(defs.begin(), defs.end(),
                    [](const OperandDef& def) { return !def.optional; }));
}

std::vector<LogicalTensor> Operands(const OpDef& def,
                                    const std::vector<OperandDef>& defs,
                                    size_t count, size_t first_id) {
  std::vector<LogicalTensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    const Types types = TypesOf(def, defs[std::min(i, defs.size() - 1)]);
    LogicalTensor tensor = {};
    tensor.id = first_id + i;
    tensor.ndims = TIM_GRAPH_UNKNOWN_NDIMS;
    tensor.data_type = types.empty() ? tim_graph_f32 : types[0];
    tensors.push_back(tensor);
  }
  return tensors;
}

AttributeValue AnyValue(const AttributeDef& def) {
  switch (TypeOf(def.attribute)) {
    case AttributeType::kFloat:
      return 0.5F;
    case AttributeType::kFloats:
      return Floats{0.5F};
    case AttributeType::kInt:
      return int64_t{1};
    case AttributeType::kInts:
      return Dims{1};
    case AttributeType::kBool:
      return true;
    case AttributeType::kString:
      break;
  }
  return def.choices.empty() ? "text" : def.choices[0];
}

// Passes all checks but, perhaps, the kind's own rule.
Op PlainOp(const OpDef& def) {
  Op op = {.id = 7, .kind = def.kind, .name = ""};
  op.inputs =
      Operands(def, def.inputs, FewestOf(def.inputs, def.input_counts), 0);
  op.outputs =
      Operands(def, def.outputs, FewestOf(def.outputs, def.output_counts), 100);
  for (const AttributeDef& attribute : def.attributes) {
    if (attribute.optional || attribute.default_value) continue;
    op.attributes[attribute.attribute] = AnyValue(attribute);
  }
  return op;
}

void ExpectRefused(const OpDef& def, Op op, const std::string& text) {
  SCOPED_TRACE(def.name);
  const Status status = CheckOp(BuiltinOps(), &op);
  ASSERT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(
      status.message().find("op 7 '" + def.name + "_7' of kind " + def.name),
      std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(OpChecks, AllKindsHaveARecord) {
  const auto all = BuiltinOps().All();
  ASSERT_EQ(all.size(), static_cast<size_t>(tim_graph_op_last_symbol));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(all[i]->kind), i);
    EXPECT_EQ(BuiltinOps().Find(all[i]->name), all[i]);
  }
}

TEST(OpChecks, NumberOfOperands) {
  for (const OpDef* def : BuiltinOps().All()) {
    const Op plain = PlainOp(*def);
    Op op = plain;
    op.inputs.resize(1000);
    if (def->kind == tim_graph_op_wildcard) {  // takes and makes any number
      op.outputs.resize(1000);
      EXPECT_TRUE(CheckOp(BuiltinOps(), &op).ok());
      continue;
    }
    ExpectRefused(*def, op, "inputs, found 1000");
    op = plain;
    op.outputs.resize(1000);
    ExpectRefused(*def, op, "outputs, found 1000");
    if (!plain.inputs.empty()) {
      op = plain;
      op.inputs.clear();
      ExpectRefused(*def, op, "inputs, found 0");
    }
    if (!plain.outputs.empty()) {
      op = plain;
      op.outputs.clear();
      ExpectRefused(*def, op, "outputs, found 0");
    }
  }
}

TEST(OpChecks, TypesOfOperands) {
  for (const OpDef* def : BuiltinOps().All()) {
    const Op plain = PlainOp(*def);
    for (size_t i = 0; i < plain.inputs.size(); ++i) {
      if (TypesOf(*def, def->inputs[i]).empty()) continue;
      Op op = plain;
      op.inputs[i].data_type = tim_graph_f64;
      // Found before what is wrong with outputs and attributes.
      op.attributes[tim_graph_op_attr_end] = true;
      op.outputs.clear();
      ExpectRefused(*def, op, "input " + std::to_string(i) + " ('");
    }
    for (size_t i = 0; i < plain.outputs.size(); ++i) {
      if (TypesOf(*def, def->outputs[i]).empty()) continue;
      Op op = plain;
      op.outputs[i].data_type = tim_graph_f64;
      ExpectRefused(*def, op, "of type f64, expected");
    }
  }
}

TEST(OpChecks, RequiredAttributes) {
  for (const OpDef* def : BuiltinOps().All()) {
    const Op plain = PlainOp(*def);
    for (const auto& [attribute, value] : plain.attributes) {
      Op op = plain;
      op.attributes.erase(attribute);
      ExpectRefused(*def, op,
                    std::string("attribute '") + NameOf(attribute) +
                        "' is required and was not set");
    }
  }
}

TEST(OpChecks, TypesAndTextsOfAttributes) {
  for (const OpDef* def : BuiltinOps().All()) {
    for (const AttributeDef& attribute : def->attributes) {
      Op op = PlainOp(*def);
      const bool is_bool = TypeOf(attribute.attribute) == AttributeType::kBool;
      op.attributes[attribute.attribute] =
          is_bool ? AttributeValue(int64_t{1}) : AttributeValue(true);
      ExpectRefused(*def, op,
                    std::string("attribute '") + NameOf(attribute.attribute) +
                        (is_bool ? "' is an integer" : "' is a bool"));
      if (attribute.choices.empty()) continue;
      op.attributes[attribute.attribute] = std::string("nonsense");
      ExpectRefused(*def, op, "is 'nonsense', expected one of '");
    }
  }
}

TEST(OpChecks, AttributesThatAKindDoesNotHave) {
  for (const OpDef* def : BuiltinOps().All()) {
    Op op = PlainOp(*def);
    const auto other = def->Find(tim_graph_op_attr_momentum) == nullptr
                           ? tim_graph_op_attr_momentum
                           : tim_graph_op_attr_alpha;
    op.attributes[other] = 0.5F;
    ExpectRefused(*def, op,
                  std::string("attribute '") + NameOf(other) +
                      "' is not one that the kind has");
  }
}

}  // namespace
}  // namespace tim::graph
