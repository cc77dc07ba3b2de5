// Makes the record of devices, parts and nodes that dumps and tools show.
#include "compiler/describe_partition.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/partitioner.h"
#include "ir/part_names.h"

namespace tim::compiler {
namespace {

class Describer {
 public:
  Describer(Module& module, const std::vector<ir::NodeId>& order,
            const std::vector<Candidate>& chosen)
      : module_(module), order_(order), chosen_(chosen) {
    for (size_t i = 0; i < order.size(); ++i) places_[order[i]] = i;
  }

  Status Run() {
    module_.partition.policy = ToString(module_.options.policy);
    module_.partition.compared = module_.compared;
    module_.partition.chosen = module_.chosen_division;
    AddDevices();
    for (size_t i = 0; i < order_.size(); ++i) AddNode(i);
    TIM_RETURN_IF_ERROR(AddParts());
    for (int i = 0; i < static_cast<int>(Parts().size()); ++i) AddInputs(i);
    return OkStatus();
  }

 private:
  std::vector<ir::PartitionPart>& Parts() { return module_.partition.parts; }
  int DeviceAt(size_t place) const { return chosen_[place].placement.device; }

  void AddDevices() {
    const int count = static_cast<int>(module_.options.devices.size());
    for (int d = 0; d < count; ++d) {
      const ir::DeviceInfo& info = module_.device(d);
      ir::PartitionDevice device{.spec = info.Label(),
                                 .gflops = info.gflops,
                                 .gbytes_per_second = info.gbytes_per_second,
                                 .launch_us = info.launch_us,
                                 .links = {}};
      for (int to = 0; to < count; ++to) {
        if (to == d) continue;
        const Link link = module_.options.links.Between(d, to);
        device.links.push_back({.to = to,
                                .latency_us = link.latency_us,
                                .gbytes_per_second = link.gbytes_per_second,
                                .direct = link.direct});
      }
      module_.partition.devices.push_back(std::move(device));
    }
  }

  // A part that its device compiles as a whole.
  bool IsClaimed(ir::NodeId id) const {
    const ir::Node& node = module_.graph.node(id);
    return node.composite && node.composite->name.starts_with(ir::kPartPrefix);
  }

  void AddNode(size_t place) {
    const Candidate& chosen = chosen_[place];
    module_.partition.nodes.push_back(
        {.name = module_.decisions[place].node,
         .part = 0,
         .kernel = chosen.label,
         .predicted_us = PredictedUs(chosen.placement, chosen.cost),
         .refused = module_.decisions[place].refused});
  }

  Status AddParts() {
    // Most graphs have one device, and then are one part.
    const bool one = std::all_of(
        chosen_.begin(), chosen_.end(), [&](const Candidate& candidate) {
          return candidate.placement.device == chosen_[0].placement.device;
        });
    if (one) {
      if (!order_.empty()) AddPart(DeviceAt(0), order_);
      return OkStatus();
    }
    TIM_ASSIGN_OR_RETURN(
        const auto parts,
        PartitionGraph(
            module_.graph,
            [&](const ir::Node& node) { return DeviceAt(places_.at(node.id)); },
            PartitionLimits()));
    for (const GraphPart& part : parts) {
      AddPart(DeviceAt(places_.at(part.nodes[0])), part.nodes);
    }
    return OkStatus();
  }

  void AddPart(int device, const std::vector<ir::NodeId>& nodes) {
    const int number = static_cast<int>(Parts().size());
    ir::PartitionPart part{
        .device = device,
        .graph = std::all_of(nodes.begin(), nodes.end(),
                             [&](ir::NodeId id) { return IsClaimed(id); }),
        .nodes = {},
        .inputs = {}};
    for (const ir::NodeId id : nodes) {
      const size_t place = places_.at(id);
      ir::PartitionNode& node = module_.partition.nodes[place];
      node.part = number;
      part.nodes.push_back(static_cast<int>(place));
      part.predicted_us += node.predicted_us;
    }
    Parts().push_back(std::move(part));
  }

  // Values that other parts or nobody makes, each once.
  void AddInputs(int number) {
    ir::PartitionPart& part = Parts()[static_cast<size_t>(number)];
    std::vector<ir::ValueId> seen;
    for (const int place : part.nodes) {
      const ir::Node& node =
          module_.graph.node(order_[static_cast<size_t>(place)]);
      for (const ir::ValueId id : node.inputs) {
        if (id == ir::kNone || module_.graph.value(id).constant) continue;
        const ir::Value& value = module_.graph.value(id);
        const int from =
            value.producer == ir::kNone
                ? -1
                : module_.partition.nodes[places_.at(value.producer)].part;
        if (from == number ||
            std::find(seen.begin(), seen.end(), id) != seen.end()) {
          continue;
        }
        seen.push_back(id);
        part.inputs.push_back(
            {.value = value.name, .bytes = BytesOf(value.desc), .from = from});
      }
    }
  }

  Module& module_;
  const std::vector<ir::NodeId>& order_;
  const std::vector<Candidate>& chosen_;
  std::map<ir::NodeId, size_t> places_;
};

}  // namespace

Status DescribePartition(Module& module, const std::vector<ir::NodeId>& order,
                         const std::vector<Candidate>& chosen) {
  return Describer(module, order, chosen).Run();
}

}  // namespace tim::compiler
