// Composes operators of the library's products and kernels of their own.
#include "expr/decompose.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expr/parts.h"
#include "expr/products.h"

namespace tim::expr {
namespace {

using ProgramPtr = std::shared_ptr<const Program>;
using Axes = std::vector<int64_t>;

bool IsInOrder(const Axes& order) {
  return std::is_sorted(order.begin(), order.end());
}

// The same list in the compiler's order of axes.
Axes Turned(const Axes& axes) { return {axes.rbegin(), axes.rend()}; }

// Axes by axis, both ways round.
Axes TurnedOrder(const Axes& order) {
  Axes out;
  const auto rank = static_cast<int64_t>(order.size());
  for (size_t i = order.size(); i-- > 0;) out.push_back(rank - 1 - order[i]);
  return out;
}

class Body {
 public:
  Body(const OperatorName& name, const Program& program,
       const ir::NodeView& view, const ir::OpRegistry& registry)
      : name_(name), program_(program), view_(view), registry_(registry) {
    graph_ = ir::Graph(name.name);
    for (size_t i = 0; i < view.inputs.size(); ++i) {
      const ir::ValueId id = graph_.AddValue(*view.inputs[i], ir::Role::kInput);
      graph_.AddInput(id);
      values_[program.inputs[i]] = id;
    }
  }

  Status AddPart(const Part& part, size_t number) {
    return AddOwn(part.inputs, part.outputs, StrCat(name_.name, "#", number));
  }
  Status AddWhole() {
    return AddOwn(program_.inputs, program_.outputs,
                  StrCat(name_.name, "#all"));
  }
  Status AddProduct(const Product& product, int tensor, ir::DataType type);

  ir::Graph Finish() {
    for (const int output : program_.outputs) {
      graph_.AddOutput(values_.at(output));
    }
    return std::move(graph_);
  }

 private:
  // A result has the type that the node's has.
  ir::TensorDesc DescOf(int tensor) const {
    ir::TensorDesc desc;
    const int output = program_.tensors[tensor].output;
    if (output < 0 || view_.outputs[output] == nullptr) return desc;
    desc.type = view_.outputs[output]->type;
    return desc;
  }
  Status AddOwn(const std::vector<int>& inputs, const std::vector<int>& outputs,
                const std::string& op);
  Result<ir::ValueId> Add(const char* op, std::vector<ir::ValueId> inputs,
                          ir::AttributeMap attributes, ir::DataType type);
  Result<ir::ValueId> Operand(const ProductOperand& operand, ir::DataType type);
  Result<ir::ValueId> Reshaped(ir::ValueId value, const Dims& dims,
                               ir::DataType type);
  Result<ir::ValueId> Transposed(ir::ValueId value, const Axes& order,
                                 ir::DataType type);

  const OperatorName& name_;
  const Program& program_;
  const ir::NodeView& view_;
  const ir::OpRegistry& registry_;
  ir::Graph graph_;
  std::map<int, ir::ValueId> values_;  // By tensor.
};

Status Body::AddOwn(const std::vector<int>& inputs,
                    const std::vector<int>& outputs, const std::string& op) {
  ir::Node node;
  const std::string key = StrCat(name_.domain, ".", op, "@", name_.version);
  node.schema = registry_.Find(key);
  if (node.schema == nullptr) return TIM_INTERNAL(key, " is not registered");
  node.name = op;
  node.attributes = view_.node.attributes;
  for (const int tensor : inputs) node.inputs.push_back(values_.at(tensor));
  for (const int tensor : outputs) {
    values_[tensor] = graph_.AddValue(DescOf(tensor));
    node.outputs.push_back(values_[tensor]);
  }
  graph_.AddNode(std::move(node));
  return OkStatus();
}

Result<ir::ValueId> Body::Add(const char* op, std::vector<ir::ValueId> inputs,
                              ir::AttributeMap attributes, ir::DataType type) {
  ir::Node node;
  node.schema = registry_.Find(StrCat("tim.", op));
  if (node.schema == nullptr) {
    return TIM_INTERNAL("tim.", op, " is not registered");
  }
  node.name = op;
  node.attributes = std::move(attributes);
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
  node.inputs = std::move(inputs);
  ir::TensorDesc desc;
  desc.type = type;
  const ir::ValueId out = graph_.AddValue(desc);
  node.outputs = {out};
  graph_.AddNode(std::move(node));
  return out;
}

Result<ir::ValueId> Body::Reshaped(ir::ValueId value, const Dims& dims,
                                   ir::DataType type) {
  return Add("Reshape", {value}, {{"shape", Turned(dims)}}, type);
}

Result<ir::ValueId> Body::Transposed(ir::ValueId value, const Axes& order,
                                     ir::DataType type) {
  if (IsInOrder(order)) return value;
  return Add("Transpose", {value}, {{"perm", TurnedOrder(order)}}, type);
}

Result<ir::ValueId> Body::Operand(const ProductOperand& operand,
                                  ir::DataType type) {
  TIM_ASSIGN_OR_RETURN(
      const ir::ValueId value,
      Transposed(values_.at(operand.tensor), operand.order, type));
  if (operand.order.size() == operand.dims.size()) return value;
  return Reshaped(value, operand.dims, type);
}

Status Body::AddProduct(const Product& product, int tensor, ir::DataType type) {
  TIM_ASSIGN_OR_RETURN(const ir::ValueId a, Operand(product.a, type));
  TIM_ASSIGN_OR_RETURN(const ir::ValueId b, Operand(product.b, type));
  ir::ValueId out = ir::kNone;
  if (product.convolution) {
    const Axes pads = {product.pads_begin[1], product.pads_end[1],
                       product.pads_begin[0], product.pads_end[0]};
    TIM_ASSIGN_OR_RETURN(out, Add("Conv2d", {a, b},
                                  {{"pad", pads},
                                   {"stride", Turned(product.strides)},
                                   {"dilation", Turned(product.dilations)}},
                                  type));
  } else {
    TIM_ASSIGN_OR_RETURN(out, Add("Matmul", {a, b}, {}, type));
  }
  if (product.parts.size() != product.result.size()) {
    TIM_ASSIGN_OR_RETURN(out, Reshaped(out, product.parts, type));
  }
  TIM_ASSIGN_OR_RETURN(values_[tensor], Transposed(out, product.order, type));
  return OkStatus();
}

struct Composition {
  OperatorName name;
  ProgramPtr program;
  std::vector<Part> parts;
};

Result<Binding> BindView(const ProgramPtr& program, const ir::NodeView& view) {
  std::vector<ir::DataType> types;
  std::vector<Dims> dims;
  for (const ir::TensorDesc* input : view.inputs) {
    const std::optional<Dims> known = DimsOf(input->shape);
    if (!known || input->quantized()) {
      return InvalidArgument("an input is not known");
    }
    types.push_back(input->type);
    dims.push_back(*known);
  }
  return Bind(program, view.node.attributes, types, dims);
}

// Whether outputs are declared as what they are, if at all.
bool TypesAgree(const Binding& binding, const ir::NodeView& view) {
  for (size_t i = 0; i < view.outputs.size(); ++i) {
    const ir::TensorDesc* output = view.outputs[i];
    if (output == nullptr || output->type == ir::DataType::kUnknown) continue;
    const int tensor = binding.program->outputs[i];
    if (output->quantized() || output->type != binding.types.tensors[tensor]) {
      return false;
    }
  }
  return true;
}

Result<ir::Graph> Compose(const Composition& composition,
                          const ir::NodeView& view,
                          const ir::OpRegistry& registry) {
  const Program& program = *composition.program;
  Body body(composition.name, program, view, registry);
  // Where something is wrong, or not known yet, the operator itself says so.
  const Result<Binding> binding = BindView(composition.program, view);
  std::vector<std::optional<Product>> products(composition.parts.size());
  bool any = false;
  for (size_t k = 0; binding.ok() && k < products.size(); ++k) {
    const Part& part = composition.parts[k];
    if (part.candidate) products[k] = FindProduct(*binding, part.first);
    any = any || products[k].has_value();
  }
  if (!any || !TypesAgree(*binding, view)) {
    TIM_RETURN_IF_ERROR(body.AddWhole());
    return body.Finish();
  }
  for (size_t k = 0; k < products.size(); ++k) {
    const Part& part = composition.parts[k];
    if (!products[k]) {
      TIM_RETURN_IF_ERROR(body.AddPart(part, k));
      continue;
    }
    const int tensor = program.statements[part.first].tensor;
    TIM_RETURN_IF_ERROR(
        body.AddProduct(*products[k], tensor, binding->types.tensors[tensor]));
  }
  return body.Finish();
}

}  // namespace

void AddOperator(const OperatorName& name, const ProgramPtr& program,
                 ir::OpRegistry* registry) {
  const auto add = [&](const std::string& own, const ProgramPtr& part) {
    const OperatorName part_name{name.domain, own, name.version};
    registry->Add(SchemaOf(part_name, part));
    registry->Add(KernelOf(part_name, part));
  };
  auto composition = std::make_shared<Composition>(
      Composition{name, program, DivideProgram(*program)});
  if (composition->parts.empty()) return add(name.name, program);
  for (size_t k = 0; k < composition->parts.size(); ++k) {
    add(StrCat(name.name, "#", k), composition->parts[k].program);
  }
  add(StrCat(name.name, "#all"), program);
  ir::OpSchema schema = SchemaOf(name, program);
  schema.decompose = [composition](const ir::NodeView& view,
                                   const ir::OpRegistry& all) {
    return Compose(*composition, view, all);
  };
  registry->Add(std::move(schema));
}

}  // namespace tim::expr
