#include "tests/properties/graphs/random_graph.h"

#include <algorithm>
#include <utility>

#include "ir/op_schema.h"
#include "ops/builtin.h"
#include "tests/properties/permuted_case.h"
#include "tim/vx/ops/transpose.h"
#include "vx/operation/op_impl.h"
#include "vx/tensor/type_convert.h"

namespace tim::testing {
namespace {

using TensorPtr = std::shared_ptr<vx::Tensor>;

bool IsPublic(const ir::TensorDesc& desc) {
  return vx::ToVx(desc.type) != vx::DataType::UNKNOWN && desc.layout.dense() &&
         desc.shape.rank() > 0;
}

bool IsPublic(const NodeCase& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [](const auto& in) { return !in || IsPublic(*in); }) &&
         std::all_of(node.outputs.begin(), node.outputs.end(),
                     [](const auto& out) { return IsPublic(out); });
}

bool IsOfWholeBytes(const ir::TensorDesc& desc) {
  return ir::Info(desc.type).bits >= 8;
}

// One element of rank 1 is of rank 0 where an operator says so.
bool MayBeScalar(const ir::TensorDesc& desc) {
  return desc.shape == ir::Shape({1});
}

vx::TensorSpec SpecOf(const ir::TensorDesc& desc,
                      vx::TensorAttribute attribute) {
  const auto& dims = desc.shape.dims();
  return vx::TensorSpec(vx::ToVx(desc.type),
                        vx::ShapeType(dims.begin(), dims.end()), attribute,
                        vx::ToVx(desc.quantization));
}

}  // namespace

AnyOp::AnyOp(vx::Graph* graph, std::string op,
             const ir::AttributeMap& attributes)
    : BuiltinOp(graph, op.c_str(), {}), op_(std::move(op)) {
  impl_->attributes = attributes;
}

std::shared_ptr<vx::Operation> AnyOp::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<AnyOp>(op_, impl_->attributes);
}

int RandomGraph::Fitting(const ir::TensorDesc& desc) const {
  for (int i = static_cast<int>(values.size()) - 1; i >= 0; --i) {
    if (values[i].is_free && values[i].desc == desc) return i;
  }
  return -1;
}

// A value with as many elements, in another shape; -1 where there is none.
int RandomGraph::Reshaped(const ir::TensorDesc& desc) {
  if (desc.quantization.per_channel() || !IsOfWholeBytes(desc)) return -1;
  for (int i = static_cast<int>(values.size()) - 1; i >= 0; --i) {
    if (!values[i].is_free || values[i].data ||
        !ir::SameElements(values[i].desc, desc) ||
        values[i].desc.shape.NumElements() != desc.shape.NumElements()) {
      continue;
    }
    values[i].is_read = true;
    const int made = static_cast<int>(values.size());
    values.push_back({.desc = desc, .is_free = !MayBeScalar(desc)});
    nodes.push_back({.op = "tim.Reshape",
                     .attributes = {{"shape", desc.shape.dims()}},
                     .inputs = {i},
                     .outputs = {made}});
    return made;
  }
  return -1;
}

int RandomGraph::Joined() const {
  int count = 0;
  for (const RandomNode& node : nodes) {
    for (const int value : node.inputs) {
      count += value >= 0 && !values[value].data ? 1 : 0;
    }
  }
  return count;
}

bool RandomGraph::AddNode(const NodeCase& node, bool must_fit,
                          std::mt19937& rng) {
  std::vector<int> fitting;
  bool fits = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int index = static_cast<int>(i);
    const bool is_free = node.inputs[i] && !node.constants.contains(index) &&
                         !node.data.contains(index);
    fitting.push_back(is_free ? Fitting(*node.inputs[i]) : -1);
    fits |= fitting.back() >= 0;
  }
  for (size_t i = 0; i < node.inputs.size() && !fits; ++i) {
    const int index = static_cast<int>(i);
    if (!node.inputs[i] || node.constants.contains(index) ||
        node.data.contains(index)) {
      continue;
    }
    fitting[i] = Reshaped(*node.inputs[i]);
    fits = fitting[i] >= 0;
  }
  if (must_fit && !fits) return false;
  RandomNode made{.op = node.op, .attributes = node.attributes};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    int value = fitting[i];
    if (node.inputs[i] && value < 0) {
      const int index = static_cast<int>(i);
      const auto constant = node.constants.find(index);
      const auto data = node.data.find(index);
      RandomValue leaf{.desc = *node.inputs[i]};
      leaf.is_constant = constant != node.constants.end();
      leaf.is_free = !leaf.is_constant && data == node.data.end();
      leaf.data = leaf.is_constant          ? constant->second
                  : data != node.data.end() ? data->second
                                            : RandomTensor(leaf.desc, rng);
      value = static_cast<int>(values.size());
      values.push_back(std::move(leaf));
    }
    if (value >= 0) values[value].is_read = true;
    made.inputs.push_back(value);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    made.outputs.push_back(static_cast<int>(values.size()));
    values.push_back({.desc = node.outputs[i],
                      .is_free = !MayBeScalar(node.outputs[i]),
                      .is_declared = node.IsDeclared(i)});
  }
  nodes.push_back(std::move(made));
  return true;
}

bool RandomGraph::Add(const OperatorCases& cases, std::mt19937& rng) {
  constexpr int kDraws = 100;
  std::optional<NodeCase> any;
  for (int i = 0; i < kDraws; ++i) {
    CaseRng draw(static_cast<uint32_t>(rng()), static_cast<int>(rng() % 6 + 1));
    const NodeCase node = cases.legal(draw);
    if (!IsPublic(node)) continue;
    if (AddNode(node, true, rng)) return true;
    any = node;
  }
  return any && AddNode(*any, false, rng);
}

std::string RandomGraph::Dump() const {
  std::string text;
  for (const RandomNode& node : nodes) {
    text += StrCat(node.op, " ", node.attributes.ToString());
    for (const auto* operands : {&node.inputs, &node.outputs}) {
      text += operands == &node.inputs ? "\n  of" : "\n  to";
      for (const int value : *operands) {
        text += StrCat(" ", value);
        if (value >= 0) text += " " + values[value].desc.ToString();
      }
    }
    text += "\n";
  }
  return text;
}

namespace {

class Builder {
 public:
  Builder(const RandomGraph& random, vx::Context& context,
          std::mt19937* layouts)
      : random_(random), layouts_(layouts) {
    built_.graph = context.CreateGraph();
  }

  BuiltGraph Run() {
    for (size_t i = 0; i < random_.values.size(); ++i) AddTensor(i);
    for (const RandomNode& node : random_.nodes) AddNode(node);
    return std::move(built_);
  }

 private:
  bool Chance() { return layouts_ != nullptr && (*layouts_)() % 2 == 0; }

  void AddTensor(size_t index) {
    const RandomValue& value = random_.values[index];
    built_.arrival.emplace_back();
    if (!value.data) {
      const bool output = random_.IsOutput(static_cast<int>(index));
      vx::TensorSpec spec =
          SpecOf(value.desc, output ? vx::OUTPUT : vx::TRANSIENT);
      if (!output) spec.shape_.clear();
      built_.tensors.push_back(built_.graph->CreateTensor(spec));
      return;
    }
    TensorData data = *value.data;
    if (!value.is_constant && IsOfWholeBytes(value.desc) && Chance()) {
      ir::Permutation order = ir::IdentityPermutation(value.desc.shape.rank());
      std::shuffle(order.begin(), order.end(), *layouts_);
      data = PermutedData(data, order);
      built_.arrival.back() = order;
    }
    built_.tensors.push_back(built_.graph->CreateTensor(
        SpecOf(data.desc, value.is_constant ? vx::CONSTANT : vx::INPUT),
        data.bytes.data()));
  }

  TensorPtr TensorOf(int value) const {
    return value < 0 ? built_.graph->CreateTensorPlaceHolder()
                     : built_.tensors[value];
  }

  void AddNode(const RandomNode& node) {
    const ir::PermutedNode layouts = LayoutsOf(node);
    auto operation =
        built_.graph->CreateOperation<AnyOp>(node.op, layouts.attributes);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      operation->BindInput(
          ir::IsIdentity(layouts.inputs[i])
              ? TensorOf(node.inputs[i])
              : Moved(node.inputs[i], ir::Inverse(layouts.inputs[i])));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ir::Permutation& back = layouts.outputs[i];
      const TensorPtr tensor = TensorOf(node.outputs[i]);
      operation->BindOutput(
          ir::IsIdentity(back)
              ? tensor
              : Before(random_.values[node.outputs[i]], back, tensor));
    }
  }

  // The attributes with other layouts, and from which orders they lead to the
  // default ones.
  ir::PermutedNode LayoutsOf(const RandomNode& node) {
    const ir::OpSchema& schema = *ops::BuiltinOperators().Find(node.op);
    NodeCase as_case{.op = node.op, .attributes = node.attributes};
    bool whole = true;
    for (const int value : node.inputs) {
      as_case.inputs.emplace_back();
      if (value < 0) continue;
      as_case.inputs.back() = random_.values[value].desc;
      whole &= IsOfWholeBytes(random_.values[value].desc);
    }
    for (const int value : node.outputs) {
      as_case.outputs.push_back(random_.values[value].desc);
    }
    const auto plain = CaseView::Create(as_case, ops::BuiltinOperators());
    ir::PermutedNode out = ir::UnpermutedNode(plain->view());
    out.attributes = node.attributes;
    if (!schema.layout_rule || !whole || !Chance()) return out;
    const bool of_volumes = as_case.inputs[0]->shape.rank() == 5;
    ir::AttributeMap stated = node.attributes;
    for (const ir::AttributeSpec& spec : schema.attributes) {
      if (spec.name == "kernel_layout") {
        stated.Set(spec.name,
                   of_volumes ? int64_t{12}
                              : static_cast<int64_t>((*layouts_)() % 3 + 3));
      } else if (spec.name.ends_with("layout")) {
        stated.Set(spec.name, int64_t{of_volumes ? 11 : 2});
      }
    }
    as_case.attributes = stated;
    const auto said = CaseView::Create(as_case, ops::BuiltinOperators());
    const auto answer = ir::NodeInDefaultLayout(said->view());
    if (!answer.ok()) return out;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::Permutation& p = answer->inputs[i];
      if (as_case.inputs[i] && !p.empty() &&
          std::ssize(p) != as_case.inputs[i]->shape.rank()) {
        return out;  // broadcast
      }
    }
    out.inputs = answer->inputs;
    out.outputs = answer->outputs;
    out.attributes = stated;
    return out;
  }

  TensorPtr Moved(int value, const ir::Permutation& order) {
    const RandomValue& from = random_.values[value];
    if (from.is_constant) {
      const TensorData data = PermutedData(*from.data, order);
      return built_.graph->CreateTensor(SpecOf(data.desc, vx::CONSTANT),
                                        data.bytes.data());
    }
    const TensorPtr to = built_.graph->CreateTensor(
        SpecOf(ir::Permuted(from.desc, order), vx::TRANSIENT));
    Transpose(built_.tensors[value], order, to);
    return to;
  }

  // What `back` makes `tensor` of.
  TensorPtr Before(const RandomValue& value, const ir::Permutation& back,
                   const TensorPtr& tensor) {
    const ir::TensorDesc desc = ir::Permuted(value.desc, ir::Inverse(back));
    const TensorPtr made = built_.graph->CreateTensor(
        SpecOf(desc, value.is_declared ? vx::OUTPUT : vx::TRANSIENT));
    Transpose(made, back, tensor);
    return made;
  }

  void Transpose(const TensorPtr& from, const ir::Permutation& perm,
                 const TensorPtr& to) {
    (*built_.graph->CreateOperation<vx::ops::Transpose>(
         std::vector<uint32_t>(perm.begin(), perm.end())))
        .BindInput(from)
        .BindOutput(to);
  }

  const RandomGraph& random_;
  std::mt19937* const layouts_;  ///< Null: as it is.
  BuiltGraph built_;
};

}  // namespace

BuiltGraph Build(const RandomGraph& random, vx::Context& context) {
  return Builder(random, context, nullptr).Run();
}

BuiltGraph BuildInLayouts(const RandomGraph& random, vx::Context& context,
                          std::mt19937& rng) {
  return Builder(random, context, &rng).Run();
}

}  // namespace tim::testing
