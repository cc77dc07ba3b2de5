#include "compiler/apply_choice.h"

#include <map>

#include "compiler/ports.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

class Applier {
 public:
  Applier(Module& module, LocationTable& locations)
      : module_(module), graph_(module.graph), locations_(locations) {}

  Status Run(const std::vector<NodeId>& order,
             const std::vector<Candidate>& chosen) {
    const auto& inputs = graph_.inputs();
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      const LocationSet set = InputLocations(module_, locations_, i);
      const Port& port = InputPort(module_, i);
      const int home = locations_.Intern({port.device, port.layout});
      SetHome(inputs[i], home);
      inputs_[inputs[i]] = {home, set};
    }
    for (const ValueId id : graph_.ValueIds()) {
      const ir::Role role = graph_.value(id).role;
      if (role == ir::Role::kState) SetHome(id, StateLocation(id));
    }
    for (size_t i = 0; i < order.size(); ++i) {
      TIM_RETURN_IF_ERROR(ApplyNode(order[i], chosen[i]));
    }
    return MoveLiveOuts();
  }

 private:
  // Where a graph input is without a move: its port, and where it is imported.
  struct InputPlace {
    int home = kNoLocation;
    LocationSet locations;
  };

  void SetHome(ValueId id, int location) {
    copies_[id] = {{location, id}};
    graph_.value(id).desc.layout = locations_[location].layout;
    SetDevice(id, locations_[location].device);
  }

  void SetDevice(ValueId id, int device) {
    if (id >= static_cast<int>(module_.locations.size())) {
      module_.locations.resize(id + 1, 0);
    }
    module_.locations[id] = device;
  }

  void SetPlacement(NodeId id, const Placement& placement, double cost) {
    if (id >= static_cast<int>(module_.placements.size())) {
      module_.placements.resize(id + 1);
      module_.costs.resize(id + 1);
    }
    module_.placements[id] = placement;
    module_.costs[id] = cost;
  }

  Status ApplyNode(NodeId id, const Candidate& candidate) {
    SetPlacement(id, candidate.placement, candidate.cost);
    const size_t inputs = graph_.node(id).inputs.size();
    for (size_t i = 0; i < inputs; ++i) {
      const ValueId input = graph_.node(id).inputs[i];
      if (input == ir::kNone) continue;
      TIM_ASSIGN_OR_RETURN(const ValueId there,
                           Bring(input, candidate.inputs[i]));
      if (there != input) graph_.SetInput(id, static_cast<int>(i), there);
    }
    const std::vector<ValueId> outputs = graph_.node(id).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != ir::kNone) SetHome(outputs[i], candidate.outputs[i]);
    }
    return OkStatus();
  }

  int StateLocation(ValueId state) {
    return locations_.Intern({module_.HomeOf(state), ir::Layout::Dense()});
  }

  Status MoveLiveOuts() {
    for (int i = 0; i < static_cast<int>(graph_.outputs().size()); ++i) {
      TIM_ASSIGN_OR_RETURN(const ValueId there,
                           BringOutput(i, graph_.outputs()[i]));
      graph_.SetGraphOutput(i, there);
    }
    const auto updates = graph_.state_updates();
    for (size_t i = 0; i < updates.size(); ++i) {
      TIM_ASSIGN_OR_RETURN(
          const ValueId there,
          Bring(updates[i].value, StateLocation(updates[i].state)));
      graph_.SetStateUpdate(static_cast<int>(i), there);
    }
    return OkStatus();
  }

  Result<ValueId> BringOutput(int index, ValueId id) {
    const Port& port = OutputPort(module_, index);
    if (graph_.value(id).constant) {
      const bool open = port.free || port.layout.kind == ir::LayoutKind::kAny;
      if (open || port.layout.dense()) return id;
      if (port.layout.blocked()) {
        return BringConstant(id, locations_.Intern({port.device, port.layout}));
      }
      const int dense = locations_.Intern({port.device, ir::Layout::Dense()});
      return AddMove(id,
                     {dense, locations_.Intern({port.device, port.layout})});
    }
    if (!copies_.contains(id)) return id;  // never written
    const int target = OutputTarget(module_, locations_, index, Present(id));
    TIM_ASSIGN_OR_RETURN(const ValueId there, Bring(id, target));
    // Two outputs must not be one strided value: each leaves its gaps alone.
    if (port.layout.strided()) copies_[id].erase(target);
    return there;
  }

  LocationSet Present(ValueId id) const {
    const auto input = inputs_.find(id);
    LocationSet set;
    if (input != inputs_.end()) set = input->second.locations;
    for (const auto& [location, copy] : copies_.at(id)) {
      set.Add(location);
    }
    return set;
  }

  // The value that has the content of `id` at a location.
  Result<ValueId> Bring(ValueId id, int target) {
    if (graph_.value(id).constant) return BringConstant(id, target);
    double cost = 0;
    for (const Move& move :
         Route(module_, locations_, Present(id), target, 0, &cost)) {
      TIM_ASSIGN_OR_RETURN(const ValueId from, CopyAt(id, move.from));
      TIM_ASSIGN_OR_RETURN(const ValueId moved, AddMove(from, move));
      copies_[id][move.to] = moved;
    }
    return CopyAt(id, target);
  }

  // A device imports the memory of an input when it first reads it.
  Result<ValueId> CopyAt(ValueId id, int location) {
    const auto known = copies_[id].find(location);
    if (known != copies_[id].end()) return known->second;
    TIM_ASSIGN_OR_RETURN(const ValueId imported,
                         AddMove(id, {inputs_.at(id).home, location}));
    copies_[id][location] = imported;
    return imported;
  }

  // Constants are everywhere; only their layout is made.
  Result<ValueId> BringConstant(ValueId id, int target) {
    const ir::Layout& layout = locations_[target].layout;
    if (layout.dense()) return id;
    const auto [it, added] = copies_[id].emplace(target, ir::kNone);
    if (!added) return it->second;
    const ir::Value& value = graph_.value(id);
    ir::TensorDesc desc = value.desc;
    desc.layout = layout;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
    std::vector<std::byte> data(bytes);
    TIM_ASSIGN_OR_RETURN(const Node node, ReorderNode(value.name));
    const ir::ConstTensor in[] = {{&value.desc, value.constant->bytes.data()}};
    const ir::MutableTensor out[] = {{&desc, data.data()}};
    TIM_RETURN_IF_ERROR(node.schema->eval(ir::EvalContext{node, in, out}));
    it->second = graph_.AddConstant(desc, ir::MakeConstant(data),
                                    value.name + "/" + layout.ToString());
    return it->second;
  }

  Result<Node> ReorderNode(const std::string& of) const {
    Node node;
    node.name = StrCat("reorder(", of, ")");
    node.schema = module_.registry.Find(kReorderOp);
    if (node.schema == nullptr) {
      return TIM_INTERNAL(kReorderOp, " is not registered");
    }
    TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
    return node;
  }

  Result<ValueId> AddMove(ValueId from, const Move& move) {
    const Location& target = locations_[move.to];
    ir::TensorDesc desc = graph_.value(from).desc;
    desc.layout = target.layout;
    const ValueId to = graph_.AddValue(desc);
    SetDevice(to, target.device);
    TIM_ASSIGN_OR_RETURN(Node node, ReorderNode(graph_.value(from).name));
    node.inputs = {from};
    node.outputs = {to};
    const NodeId id = graph_.AddNode(std::move(node));
    Placement placement{.kind = RunKind::kTransfer, .device = target.device};
    const int source_device = locations_[move.from].device;
    if (source_device == 0 && target.device != 0 &&
        graph_.value(from).role == ir::Role::kInput &&
        module_.device(target.device).unified_memory) {
      placement.kind = RunKind::kView;  // the device imports the memory
    } else if (source_device == target.device) {
      placement = FindReorder(module_, ViewOf(module_, graph_, graph_.node(id)),
                              target.device);
    } else if (target.device == 0) {
      placement.device = source_device;  // a device copies to the host
    }
    double cost = 0;
    if (placement.kind != RunKind::kView) {
      Route(module_, locations_, LocationSet(move.from), move.to,
            static_cast<double>(BytesOf(desc)), &cost);
    }
    SetPlacement(id, placement, cost);
    return to;
  }

  Module& module_;
  Graph& graph_;
  LocationTable& locations_;
  // Per original value: the value that holds it at each location.
  std::map<ValueId, std::map<int, ValueId>> copies_;
  std::map<ValueId, InputPlace> inputs_;
};

}  // namespace

Status ApplyChoice(Module& module, LocationTable& locations,
                   const std::vector<NodeId>& order,
                   const std::vector<Candidate>& chosen) {
  return Applier(module, locations).Run(order, chosen);
}

}  // namespace tim::compiler
