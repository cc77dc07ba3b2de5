// Checks that items are independent, and copies the graph for each share.
#include "compiler/batch_split.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/effects.h"
#include "compiler/passes/passes.h"
#include "compiler/ports.h"
#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr char kSplitOp[] = "tim.Split";
constexpr char kJoinOp[] = "tim.Concat";

int OutermostAxis(const ir::TensorDesc& desc) { return desc.shape.rank() - 1; }

int64_t OutermostExtent(const ir::TensorDesc& desc) {
  const int axis = OutermostAxis(desc);
  return axis < 0 ? 0 : desc.shape[axis];
}

ir::TensorDesc WithItems(ir::TensorDesc desc, int64_t items) {
  std::vector<int64_t> dims = desc.shape.dims();
  dims.back() = items;
  desc.shape = ir::Shape(dims);
  return desc;
}

// Follows the values that have items.
class BatchCheck {
 public:
  explicit BatchCheck(const Module& module)
      : module_(module), graph_(module.graph) {}

  Result<int64_t> Run() {
    TIM_RETURN_IF_ERROR(CheckInputs());
    TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                         graph_.TopologicalOrder());
    for (const NodeId id : order) {
      const Status status = CheckNode(graph_.node(id));
      if (!status.ok()) {
        return status.WithContext(
            StrCat(Describe(graph_, graph_.node(id)), ": split=batch"));
      }
    }
    for (const ValueId id : graph_.outputs()) {
      if (HasItems(id)) continue;
      return Unimplemented("split=batch: output ", graph_.value(id).name,
                           " has no items of the batch");
    }
    return items_;
  }

 private:
  bool HasItems(ValueId id) const {
    return id < static_cast<int>(has_items_.size()) && has_items_[id];
  }
  void Mark(ValueId id) {
    has_items_.resize(static_cast<size_t>(graph_.value_id_limit()), false);
    has_items_[static_cast<size_t>(id)] = true;
  }

  Status CheckInputs() {
    for (const ValueId id : graph_.ValueIds()) {
      if (graph_.value(id).role != ir::Role::kState) continue;
      return Unimplemented("split=batch: the graph has the state ",
                           graph_.value(id).name,
                           ", which all items would share");
    }
    if (graph_.inputs().empty()) {
      return Unimplemented("split=batch: the graph has no inputs");
    }
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const ir::Value& value = graph_.value(graph_.inputs()[i]);
      const int64_t items = OutermostExtent(value.desc);
      if (i == 0) items_ = items;
      if (items != items_ || items < 2) {
        return Unimplemented("split=batch: input ", value.name, " has ", items,
                             " items along its outermost axis, expected ",
                             i == 0 ? "at least 2" : StrCat(items_));
      }
      const Port& port = InputPort(module_, static_cast<int>(i));
      if (port.device != 0 || !port.layout.dense()) {
        return Unimplemented("split=batch: input ", value.name,
                             " is not dense memory of the host");
      }
      Mark(value.id);
    }
    return OkStatus();
  }

  Status CheckNode(const Node& node) {
    const bool any = std::any_of(
        node.inputs.begin(), node.inputs.end(),
        [&](ValueId id) { return id != ir::kNone && HasItems(id); });
    if (!any) return OkStatus();
    if (node.composite || HasEffects(node)) {
      return Unimplemented("it cannot be done item by item");
    }
    for (const ValueId id : node.outputs) {
      if (id == ir::kNone) continue;
      const int64_t items = OutermostExtent(graph_.value(id).desc);
      if (items != items_) {
        return Unimplemented("output ", graph_.value(id).name, " has ", items,
                             " items along its outermost axis, the inputs of "
                             "the graph have ",
                             items_);
      }
    }
    const std::vector<bool> sliced = SlicedInputs(node);
    if (sliced.empty()) {
      return Unimplemented("it cannot be done item by item");
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == ir::kNone || HasItems(node.inputs[i]) == sliced[i])
        continue;
      return Unimplemented("input ", i,
                           sliced[i] ? " is a constant with a part per item"
                                     : " has items, and is needed as a whole");
    }
    for (const ValueId id : node.outputs) {
      if (id != ir::kNone) Mark(id);
    }
    return OkStatus();
  }

  // Inputs of which an item of the outputs needs its own item alone; none where
  // items depend on one another.
  std::vector<bool> SlicedInputs(const Node& node) const {
    const ir::NodeDescs descs(graph_, node);
    const ir::NodeView view = descs.view();
    const ir::TensorDesc& output = *view.outputs[0];
    // Items lie one behind the other before and after a view.
    if (node.schema->is_view && node.schema->is_view(view) &&
        OutermostExtent(*view.inputs[0]) == items_) {
      std::vector<bool> sliced(node.inputs.size(), false);
      sliced[0] = true;
      return sliced;
    }
    if (!node.schema->sliced_inputs) return {};
    return node.schema->sliced_inputs(view, OutermostAxis(output));
  }

  const Module& module_;
  const Graph& graph_;
  int64_t items_ = 0;
  std::vector<bool> has_items_;  // by value id
};

class Splitter {
 public:
  Splitter(Module& module, const std::vector<BatchShare>& shares)
      : module_(module), graph_(module.graph), shares_(shares) {}

  Status Run() {
    TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                         graph_.TopologicalOrder());
    for (const ValueId id : graph_.inputs()) {
      TIM_RETURN_IF_ERROR(SplitInput(id));
    }
    // Whatever has no items is made once, for all.
    std::vector<NodeId> copied;
    for (const NodeId id : order) {
      if (!ReadsItems(graph_.node(id))) continue;
      copied.push_back(id);
      for (size_t s = 0; s < shares_.size(); ++s) {
        TIM_RETURN_IF_ERROR(CopyNode(id, s));
      }
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      TIM_RETURN_IF_ERROR(JoinOutput(static_cast<int>(i)));
    }
    for (auto id = copied.rbegin(); id != copied.rend(); ++id) {
      graph_.RemoveNode(*id);
    }
    return OkStatus();
  }

 private:
  // One per share.
  using Copies = std::vector<ValueId>;

  bool ReadsItems(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId id) { return copies_.contains(id); });
  }

  Result<Node> NewNode(const char* op, const std::string& name) const {
    Node node;
    node.name = name;
    node.schema = module_.registry.Find(op);
    if (node.schema == nullptr) return TIM_INTERNAL(op, " is not registered");
    node.device = 0;
    return node;
  }

  Status SplitInput(ValueId id) {
    const ir::TensorDesc desc = graph_.value(id).desc;
    const std::string name = graph_.value(id).name;
    TIM_ASSIGN_OR_RETURN(Node node,
                         NewNode(kSplitOp, StrCat("items of ", name)));
    std::vector<int64_t> slices;
    Copies copies;
    for (const BatchShare& share : shares_) {
      slices.push_back(share.items);
      copies.push_back(graph_.AddValue(WithItems(desc, share.items),
                                       ir::Role::kTransient,
                                       StrCat(name, "/", copies.size())));
    }
    node.attributes.Set("axis", int64_t{OutermostAxis(desc)});
    node.attributes.Set("slices", slices);
    TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
    node.inputs = {id};
    node.outputs = copies;
    graph_.AddNode(std::move(node));
    copies_[id] = std::move(copies);
    return OkStatus();
  }

  Status CopyNode(NodeId id, size_t share) {
    Node node = graph_.node(id);
    node.id = ir::kNone;
    node.name = StrCat(node.name, "/", share);
    const ir::TensorDesc before = graph_.value(node.outputs[0]).desc;
    for (ValueId& input : node.inputs) {
      const auto known = copies_.find(input);
      if (known != copies_.end()) input = known->second[share];
    }
    for (ValueId& output : node.outputs) {
      if (output == ir::kNone) continue;
      const ir::Value& value = graph_.value(output);
      const ValueId copy =
          graph_.AddValue(WithItems(value.desc, shares_[share].items),
                          ir::Role::kTransient, StrCat(value.name, "/", share));
      graph_.value(copy).is_scalar = graph_.value(output).is_scalar;
      copies_[output].resize(shares_.size(), ir::kNone);
      copies_[output][share] = copy;
      output = copy;
    }
    SetItems(before, shares_[share].items, &node.attributes);
    const NodeId made = graph_.AddNode(std::move(node));
    module_.Assign(made, shares_[share].device);
    return CheckShapes(made);
  }

  // Attributes that are the extents of the output.
  static void SetItems(const ir::TensorDesc& output, int64_t items,
                       ir::AttributeMap* attributes) {
    std::vector<std::pair<std::string, std::vector<int64_t>>> changed;
    for (const auto& [name, value] : attributes->entries()) {
      const auto* ints = std::get_if<std::vector<int64_t>>(&value);
      if (ints == nullptr || *ints != output.shape.dims()) continue;
      changed.emplace_back(name, *ints);
      changed.back().second.back() = items;
    }
    for (auto& [name, ints] : changed) attributes->Set(name, std::move(ints));
  }

  // Inference gives the copy the shapes that it has.
  Status CheckShapes(NodeId id) {
    std::vector<ir::Shape> given;
    for (const ValueId output : graph_.node(id).outputs) {
      given.push_back(output == ir::kNone ? ir::Shape()
                                          : graph_.value(output).desc.shape);
    }
    Status status = InferNode(module_, graph_, id, Doubts::kNone);
    const std::vector<ValueId> outputs = graph_.node(id).outputs;
    for (size_t i = 0; i < outputs.size() && status.ok(); ++i) {
      if (outputs[i] == ir::kNone ||
          graph_.value(outputs[i]).desc.shape == given[i]) {
        continue;
      }
      status = Unimplemented("it would have the shape ",
                             graph_.value(outputs[i]).desc.shape.ToString(),
                             " where ", given[i].ToString(), " is expected");
    }
    if (status.ok()) return status;
    return Unimplemented(
        Describe(graph_, graph_.node(id)),
        ": split=batch: it cannot be done item by item: ", status.message());
  }

  Status JoinOutput(int index) {
    const ValueId id = graph_.outputs()[static_cast<size_t>(index)];
    const ir::TensorDesc desc = graph_.value(id).desc;
    const std::string name = graph_.value(id).name;
    TIM_ASSIGN_OR_RETURN(Node node,
                         NewNode(kJoinOp, StrCat("items of ", name)));
    node.attributes.Set("axis", int64_t{OutermostAxis(desc)});
    node.attributes.Set("input_cnt", static_cast<int64_t>(shares_.size()));
    TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
    node.inputs = copies_.at(id);
    const ValueId joined = graph_.AddValue(desc, ir::Role::kTransient, name);
    node.outputs = {joined};
    module_.batch_joins.push_back(graph_.AddNode(std::move(node)));
    graph_.SetGraphOutput(index, joined);
    return OkStatus();
  }

  Module& module_;
  Graph& graph_;
  const std::vector<BatchShare>& shares_;
  std::map<ValueId, Copies> copies_;
};

}  // namespace

Result<int64_t> CheckBatch(const Module& module) {
  return BatchCheck(module).Run();
}

Status SplitInto(Module& module, const std::vector<BatchShare>& shares) {
  return Splitter(module, shares).Run();
}

}  // namespace tim::compiler
