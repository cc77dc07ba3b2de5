#include "compiler/transposes/apply_axes.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/transposes/default_layouts.h"
#include "ir/evaluate.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::Permutation;
using ir::ValueId;

Permutation Extended(Permutation order, size_t rank) {
  for (size_t i = order.size(); i < rank; ++i) {
    order.push_back(static_cast<int>(i));
  }
  return order;
}

// One net: the value of each order that is needed.
class NetWriter {
 public:
  NetWriter(Module& module, const Nets& nets, const Net& net)
      : module_(module),
        graph_(module.graph),
        nets_(nets),
        net_(net),
        is_constant_(graph_.value(net.root).role == ir::Role::kConstant) {}

  Status Write(const PermutedNodes& nodes);

 private:
  ValueId MakeDriven(const Permutation& order);
  Status WriteOutside();
  Result<ValueId> InOrder(const Permutation& order);
  Result<ValueId> Make(const Permutation& order, ValueId to);
  Result<ValueId> MakeConstant(const Permutation& order);
  Status AddNode(const std::string& op, const std::string& attribute,
                 std::vector<int64_t> value, ValueId from, ValueId to);
  ValueId AddValue(const Permutation& order);
  ValueId AtFirstIn(const Permutation& order) const;
  bool IsMoved(ValueId value) const;
  ir::TensorDesc Desc(const Permutation& order) const {
    return ir::Permuted(graph_.value(net_.root).desc, order);
  }

  Module& module_;
  Graph& graph_;
  const Nets& nets_;
  const Net& net_;
  const bool is_constant_;
  Permutation driven_;
  std::map<Permutation, ValueId> written_;
  std::set<NodeId> kept_;  ///< Transposes.
};

// What leaves the graph is written by the driver itself where it fits.
ValueId NetWriter::MakeDriven(const Permutation& order) {
  const bool is_first = order == nets_.OrderOf(net_.root);
  if (net_.driver == ir::kNone || (is_first && graph_.IsLiveOut(net_.root))) {
    return net_.root;
  }
  ValueId made = ir::kNone;
  for (const Sink& sink : net_.sinks) {
    if (sink.node != ir::kNone || nets_.OrderOf(sink.value) != order) continue;
    made = sink.value;
    graph_.RemoveNode(graph_.value(made).producer);
    break;
  }
  if (made == ir::kNone && is_first) return net_.root;
  if (made == ir::kNone) {
    made = AddValue(order);
    graph_.value(made).shape_declared = graph_.value(net_.root).shape_declared;
  }
  graph_.SetOutput(net_.driver, net_.output, made);
  return made;
}

ValueId NetWriter::AddValue(const Permutation& order) {
  return graph_.AddValue(Desc(order), ir::Role::kTransient,
                         graph_.value(net_.root).name + ".permuted");
}

// A value that was in this order, kNone where there is none.
ValueId NetWriter::AtFirstIn(const Permutation& order) const {
  if (order == nets_.OrderOf(net_.root) && net_.driver != ir::kNone) {
    return net_.root;
  }
  for (const NodeId id : net_.transposes) {
    if (!graph_.HasNode(id)) continue;
    const ValueId value = graph_.node(id).outputs[0];
    if (nets_.OrderOf(value) == order) return value;
  }
  return ir::kNone;
}

// A Transpose of the source's that makes it of what is driven, and has to.
bool NetWriter::IsMoved(ValueId value) const {
  const NodeId producer = graph_.value(value).producer;
  return producer != ir::kNone && producer != net_.driver &&
         graph_.node(producer).inputs[0] == written_.at(driven_) &&
         nets_.Key(net_, nets_.OrderOf(value)) != nets_.Key(net_, driven_);
}

Status NetWriter::AddNode(const std::string& op, const std::string& attribute,
                          std::vector<int64_t> value, ValueId from,
                          ValueId to) {
  TIM_ASSIGN_OR_RETURN(ir::Node node, MakeNode(module_.registry, op, attribute,
                                               std::move(value)));
  node.name = StrCat(op, " of ", graph_.value(from).name);
  node.inputs = {from};
  node.outputs = {to};
  graph_.AddNode(std::move(node));
  return OkStatus();
}

Result<ValueId> NetWriter::MakeConstant(const Permutation& order) {
  ir::Value& root = graph_.value(net_.root);
  ir::TensorDesc extended =
      Desc(Extended(nets_.OrderOf(net_.root), order.size()));
  const ir::TensorDesc desc = Desc(order);
  std::shared_ptr<const ir::ConstantData> data = root.constant;
  if (nets_.Key(net_, order) != nets_.Key(net_, nets_.OrderOf(net_.root))) {
    TIM_ASSIGN_OR_RETURN(
        const ir::Node node,
        MakeNode(module_.registry, "tim.Transpose", "perm",
                 std::vector<int64_t>(order.begin(), order.end())));
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
    std::vector<std::byte> permuted(static_cast<size_t>(bytes));
    const ir::ConstTensor input = {&extended, root.constant->bytes.data()};
    const ir::MutableTensor output = {&desc, permuted.data()};
    TIM_RETURN_IF_ERROR(ir::Evaluate(node, {&input, 1}, {&output, 1}));
    data = ir::MakeConstant(permuted);
  }
  const bool is_scalar = root.is_scalar;
  const ValueId made =
      graph_.AddConstant(desc, std::move(data), root.name + ".permuted");
  graph_.value(made).is_scalar = is_scalar && desc.shape.rank() <= 1;
  return made;
}

// `to` may be kNone.
Result<ValueId> NetWriter::Make(const Permutation& order, ValueId to) {
  if (is_constant_ && to == ir::kNone) return MakeConstant(order);
  if (to == ir::kNone) to = AddValue(order);
  for (const auto& [known, value] : written_) {
    if (nets_.Key(net_, known) != nets_.Key(net_, order)) continue;
    TIM_RETURN_IF_ERROR(
        AddNode("tim.Reshape", "shape", Desc(order).shape.dims(), value, to));
    return to;
  }
  ValueId from = written_.at(driven_);
  const Permutation whole = Extended(driven_, order.size());
  if (whole != driven_) {
    const ValueId extended = AddValue(whole);
    TIM_RETURN_IF_ERROR(AddNode("tim.Reshape", "shape",
                                Desc(whole).shape.dims(), from, extended));
    from = extended;
  }
  const Permutation perm = ir::Compose(ir::Inverse(whole), order);
  TIM_RETURN_IF_ERROR(AddNode("tim.Transpose", "perm",
                              std::vector<int64_t>(perm.begin(), perm.end()),
                              from, to));
  return to;
}

Result<ValueId> NetWriter::InOrder(const Permutation& order) {
  const auto known = written_.find(order);
  if (known != written_.end()) return known->second;
  ValueId value = is_constant_ ? ir::kNone : AtFirstIn(order);
  if (value != ir::kNone && IsMoved(value)) {
    kept_.insert(graph_.value(value).producer);
  } else {
    if (value != ir::kNone && graph_.value(value).producer != ir::kNone) {
      graph_.RemoveNode(graph_.value(value).producer);
    }
    TIM_ASSIGN_OR_RETURN(value, Make(order, value));
  }
  written_.emplace(order, value);
  return value;
}

// Values that the user or a state takes are written, each by a node.
Status NetWriter::WriteOutside() {
  std::set<ValueId> done = {written_.at(driven_)};
  for (const Sink& sink : net_.sinks) {
    if (sink.node != ir::kNone || !done.insert(sink.value).second) continue;
    const ValueId value = sink.value;
    const Permutation& order = nets_.OrderOf(value);
    const NodeId producer = graph_.value(value).producer;
    if (IsMoved(value)) {
      kept_.insert(producer);
    } else {
      if (producer != ir::kNone) graph_.RemoveNode(producer);
      TIM_RETURN_IF_ERROR(Make(order, value).status());
    }
    written_.emplace(order, value);
  }
  return OkStatus();
}

Status NetWriter::Write(const PermutedNodes& nodes) {
  driven_ = nets_.Driven(net_, nodes);
  written_.emplace(driven_, MakeDriven(driven_));
  TIM_RETURN_IF_ERROR(WriteOutside());
  for (const Sink& sink : net_.sinks) {
    if (sink.node == ir::kNone) continue;
    TIM_ASSIGN_OR_RETURN(const ValueId value,
                         InOrder(nets_.Wanted(sink, nodes)));
    graph_.SetInput(sink.node, sink.operand, value);
  }
  for (auto id = net_.transposes.rbegin(); id != net_.transposes.rend(); ++id) {
    if (graph_.HasNode(*id) && !kept_.contains(*id)) graph_.RemoveNode(*id);
  }
  return OkStatus();
}

}  // namespace

Status ApplyAxes(Module& module, const Nets& nets, const PermutedNodes& nodes) {
  for (const auto& [id, option] : nodes) {
    module.graph.node(id).attributes = option->attributes;
  }
  for (const Net& net : nets.all()) {
    TIM_RETURN_IF_ERROR(NetWriter(module, nets, net).Write(nodes));
  }
  return OkStatus();
}

}  // namespace tim::compiler
