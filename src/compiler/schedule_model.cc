// Simulates divisions of a graph, and makes one by list scheduling.
#include "compiler/schedule_model.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "compiler/candidates.h"
#include "compiler/ports.h"

namespace tim::compiler {
namespace {

constexpr size_t kNoValue = static_cast<size_t>(-1);
constexpr double kNever = std::numeric_limits<double>::infinity();

void AddUnique(size_t what, std::vector<size_t>* list) {
  if (std::find(list->begin(), list->end(), what) == list->end()) {
    list->push_back(what);
  }
}

}  // namespace

// One simulation: where values are, and when queues and links are free.
class ScheduleModel::Run {
 public:
  explicit Run(const ScheduleModel& model)
      : model_(model),
        devices_(static_cast<size_t>(model.devices_)),
        there_(model.values_.size() * devices_, kNever),
        free_(devices_, 0),
        busy_(devices_, 0),
        link_free_(devices_ * devices_, 0),
        link_busy_(devices_ * devices_, 0) {
    for (size_t v = 0; v < model.values_.size(); ++v) {
      const ModelValue& value = model.values_[v];
      if (value.home < 0) continue;
      There(v, value.home) = 0;
      if (!value.is_input || value.home != 0) continue;
      for (int d = 1; d < model.devices_; ++d) {
        if (model.imports_[static_cast<size_t>(d)]) There(v, d) = 0;
      }
    }
  }

  // When the node would end on the device; does nothing.
  double EndOf(size_t node, int device) const {
    Run tried(*this);
    return tried.Do(node, device);
  }

  // Runs the node; the time of its end.
  double Do(size_t node, int device) {
    const ModelNode& what = model_.nodes_[node];
    double begin = 0;
    for (const size_t value : what.inputs) {
      begin = std::max(begin, Bring(value, device));
    }
    double end = begin;
    if (!what.free) {
      end = Work(device, begin, what.costs[static_cast<size_t>(device)]);
    }
    for (const size_t value : what.outputs) There(value, device) = end;
    last_ = std::max(last_, end);
    return end;
  }

  // Copies a value to the host at once where somebody wants it beyond there.
  void Leave(size_t node, int device, const DeviceMap& map) {
    if (device == 0) return;
    for (const size_t v : model_.nodes_[node].outputs) {
      const ModelValue& value = model_.values_[v];
      bool wanted = value.target == 0 && !Imports(device);
      for (const size_t reader : value.readers) {
        const int to = map[reader];
        wanted |= to != device && !model_.links_.Between(device, to).direct;
      }
      if (wanted) Bring(v, 0);
    }
  }

  // Outputs go where they are wanted.
  Prediction Finish() {
    for (size_t v = 0; v < model_.values_.size(); ++v) {
      const int target = model_.values_[v].target;
      if (target < 0) continue;
      bool made_there = false;
      for (int d = 1; target == 0 && d < model_.devices_; ++d) {
        made_there |= Imports(d) && There(v, d) < kNever;
      }
      if (!made_there) last_ = std::max(last_, Bring(v, target));
    }
    Prediction found{.makespan_us = last_};
    for (const auto* list : {&busy_, &link_busy_}) {
      for (const double us : *list) {
        found.busiest_us = std::max(found.busiest_us, us);
      }
    }
    found.sum_us = std::accumulate(busy_.begin(), busy_.end(), 0.0);
    return found;
  }

 private:
  bool Imports(int device) const {
    return model_.imports_[static_cast<size_t>(device)];
  }
  double& There(size_t value, int device) {
    return there_[value * devices_ + static_cast<size_t>(device)];
  }

  double Work(int device, double begin, double us) {
    double& free = free_[static_cast<size_t>(device)];
    free = std::max(free, begin) + us;
    busy_[static_cast<size_t>(device)] += us;
    return free;
  }

  double Copy(size_t value, int from, int to, int by) {
    const double us = model_.links_.Between(from, to).Microseconds(
        model_.values_[value].bytes);
    const size_t link =
        static_cast<size_t>(from) * devices_ + static_cast<size_t>(to);
    const double begin = std::max(There(value, from), link_free_[link]);
    link_free_[link] = Work(by, begin, us);
    link_busy_[link] += us;
    There(value, to) = link_free_[link];
    return link_free_[link];
  }

  double Bring(size_t value, int device) {
    if (There(value, device) < kNever) return There(value, device);
    if (There(value, 0) == kNever) {
      int source = 1;
      for (int d = 1; d < model_.devices_; ++d) {
        if (There(value, d) == kNever) continue;
        source = d;
        if (device != 0 && model_.links_.Between(d, device).direct) {
          return Copy(value, d, device, device);
        }
      }
      Copy(value, source, 0, source);
    }
    return device == 0 ? There(value, 0) : Copy(value, 0, device, device);
  }

  const ScheduleModel& model_;
  const size_t devices_;
  std::vector<double> there_;  // by value and device
  std::vector<double> free_;   // by device
  std::vector<double> busy_;
  std::vector<double> link_free_;  // by pair
  std::vector<double> link_busy_;
  double last_ = 0;
};

Result<ScheduleModel> ScheduleModel::Create(const Module& module) {
  ScheduleModel model;
  model.devices_ = static_cast<int>(module.options.devices.size());
  model.links_ = module.options.links;
  for (const ir::DeviceInfo& info : module.options.devices) {
    model.imports_.push_back(info.unified_memory && info.kind != "host");
  }
  model.value_index_.assign(static_cast<size_t>(module.graph.value_id_limit()),
                            kNoValue);
  model.node_index_.resize(static_cast<size_t>(module.graph.node_id_limit()));
  TIM_RETURN_IF_ERROR(model.AddNodes(module));
  model.CloseStages(module);
  model.RankNodes();
  return model;
}

Status ScheduleModel::AddNodes(const Module& module) {
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       module.graph.TopologicalOrder());
  for (size_t i = 0; i < module.graph.inputs().size(); ++i) {
    ModelValue& value = values_[ValueOf(module, module.graph.inputs()[i])];
    value.home = InputPort(module, static_cast<int>(i)).device;
    value.is_input = true;
  }
  for (const ir::ValueId id : module.graph.ValueIds()) {
    if (module.graph.value(id).role != ir::Role::kState) continue;
    values_[ValueOf(module, id)].home = module.primary_device();
  }
  for (const ir::NodeId id : order) {
    const ir::Node& node = module.graph.node(id);
    // Locations of one node: a table for all would be full.
    LocationTable locations;
    node_index_[static_cast<size_t>(id)] = nodes_.size();
    ModelNode& made = nodes_.emplace_back();
    made.id = id;
    made.costs.assign(static_cast<size_t>(devices_), kImpossible);
    const NodeCandidates found = CandidatesOn(module, node, -1, locations);
    made.free = !found.candidates.empty();
    for (const Candidate& candidate : found.candidates) {
      double& cost =
          made.costs[static_cast<size_t>(candidate.placement.device)];
      cost = std::min(cost, candidate.cost);
      made.free &= candidate.placement.kind == RunKind::kView ||
                   candidate.placement.device == 0;
    }
    if (found.candidates.empty()) {
      return EnumerateCandidates(module, node, locations).status();
    }
    AddOperands(module, node);
  }
  for (size_t i = 0; i < module.graph.outputs().size(); ++i) {
    const Port& port = OutputPort(module, static_cast<int>(i));
    const size_t value =
        value_index_[static_cast<size_t>(module.graph.outputs()[i])];
    if (value != kNoValue && !port.free) values_[value].target = port.device;
  }
  for (const auto& update : module.graph.state_updates()) {
    const size_t value = value_index_[static_cast<size_t>(update.value)];
    if (value != kNoValue) values_[value].target = module.primary_device();
  }
  return OkStatus();
}

size_t ScheduleModel::ValueOf(const Module& module, ir::ValueId id) {
  size_t& index = value_index_[static_cast<size_t>(id)];
  if (index != kNoValue) return index;
  index = values_.size();
  ModelValue& value = values_.emplace_back();
  value.bytes = static_cast<double>(BytesOf(module.graph.value(id).desc));
  return index;
}

void ScheduleModel::AddOperands(const Module& module, const ir::Node& node) {
  const size_t number = nodes_.size() - 1;
  for (const ir::ValueId id : node.inputs) {
    if (id == ir::kNone) continue;
    const ir::Value& value = module.graph.value(id);
    if (value.constant && value.role != ir::Role::kState) {
      const int64_t bytes = BytesOf(value.desc);
      size_t& index = value_index_[static_cast<size_t>(id)];
      if (index == kNoValue) {
        index = constants_.size();
        constants_.push_back(bytes);
      }
      nodes_[number].constants.push_back(index);
      nodes_[number].constant_bytes += bytes;
      continue;
    }
    const size_t index = ValueOf(module, id);
    AddUnique(index, &nodes_[number].inputs);
    AddUnique(number, &values_[index].readers);
    nodes_[number].operand_bytes += static_cast<int64_t>(values_[index].bytes);
    if (value.producer == ir::kNone) continue;
    const size_t producer = node_index_[static_cast<size_t>(value.producer)];
    AddUnique(producer, &nodes_[number].producers);
    AddUnique(number, &nodes_[producer].readers);
  }
  for (const ir::ValueId id : node.outputs) {
    if (id == ir::kNone) continue;
    const size_t index = ValueOf(module, id);
    nodes_[number].outputs.push_back(index);
    nodes_[number].operand_bytes += static_cast<int64_t>(values_[index].bytes);
  }
}

// From the first node that touches a state to the last one.
void ScheduleModel::CloseStages(const Module& module) {
  for (const auto& update : module.graph.state_updates()) {
    std::vector<size_t> users;
    for (const ir::Use& use : module.graph.value(update.state).uses) {
      users.push_back(node_index_[static_cast<size_t>(use.node)]);
    }
    const ir::NodeId producer = module.graph.value(update.value).producer;
    if (producer != ir::kNone) {
      users.push_back(node_index_[static_cast<size_t>(producer)]);
    }
    if (users.empty()) continue;
    const auto [first, last] = std::minmax_element(users.begin(), users.end());
    for (size_t n = *first; n < *last; ++n) nodes_[n].ends_stage = false;
  }
}

double ScheduleModel::SharedBytes(size_t producer, size_t reader) const {
  double bytes = 0;
  for (const size_t value : nodes_[producer].outputs) {
    const auto& inputs = nodes_[reader].inputs;
    if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) {
      bytes += values_[value].bytes;
    }
  }
  return bytes;
}

int ScheduleModel::Cheapest(size_t node) const {
  const auto& costs = nodes_[node].costs;
  return static_cast<int>(std::min_element(costs.begin(), costs.end()) -
                          costs.begin());
}

double ScheduleModel::MeanTransfer(double bytes) const {
  double sum = 0;
  int count = 0;
  for (int a = 0; a < devices_; ++a) {
    for (int b = 0; b < devices_; ++b) {
      if (a == b) continue;
      sum += links_.Between(a, b).Microseconds(bytes);
      ++count;
    }
  }
  return count == 0 ? 0 : sum / count;
}

// The rank of a node is the longest way from it to the end, with mean costs;
// the highest comes first.
void ScheduleModel::RankNodes() {
  std::vector<double> rank(nodes_.size(), 0);
  for (size_t n = nodes_.size(); n-- > 0;) {
    double mean = 0;
    int count = 0;
    for (int d = 1; d < devices_; ++d) {
      if (Cost(n, d) == kImpossible) continue;
      mean += Cost(n, d);
      ++count;
    }
    rank[n] = count != 0 ? mean / count : std::min(Cost(n, 0), 1e9);
    double behind = 0;
    for (const size_t reader : nodes_[n].readers) {
      behind =
          std::max(behind, rank[reader] + MeanTransfer(SharedBytes(n, reader)));
    }
    rank[n] += behind;
  }
  order_.resize(nodes_.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](size_t a, size_t b) { return rank[a] > rank[b]; });
}

Prediction ScheduleModel::Predict(const DeviceMap& map) const {
  Run run(*this);
  for (const size_t node : order_) {
    run.Do(node, map[node]);
    run.Leave(node, map[node], map);
  }
  return run.Finish();
}

DeviceMap ScheduleModel::ListSchedule() const {
  DeviceMap map(nodes_.size(), 0);
  Run run(*this);
  for (const size_t node : order_) {
    int best = Cheapest(node);
    if (!nodes_[node].free) {
      double first = kNever;
      for (int d = 0; d < devices_; ++d) {
        if (Cost(node, d) == kImpossible) continue;
        const double end = run.EndOf(node, d);
        if (end < first) {
          first = end;
          best = d;
        }
      }
    } else if (!nodes_[node].producers.empty()) {
      const int device = map[nodes_[node].producers[0]];
      if (Cost(node, device) != kImpossible) best = device;
    }
    map[node] = best;
    run.Do(node, best);
  }
  return map;
}

int64_t ScheduleModel::Bytes(const DeviceMap& map, int device) const {
  std::vector<bool> held(constants_.size(), false);
  int64_t constants = 0;
  int64_t operands = 0;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    if (map[n] != device) continue;
    operands = std::max(operands, nodes_[n].operand_bytes);
    for (const size_t constant : nodes_[n].constants) {
      if (!held[constant]) constants += constants_[constant];
      held[constant] = true;
    }
  }
  return constants + operands;
}

}  // namespace tim::compiler
