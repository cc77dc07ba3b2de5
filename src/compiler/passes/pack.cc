#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "compiler/passes/passes.h"

namespace tim::compiler {
namespace {

// One packed constant to make; several nodes may want the same.
struct Job {
  const ir::PackedConstant* packed = nullptr;
  std::string id;
  int device = 0;
  std::shared_ptr<const ir::ConstantData> data;
  Status status;
};

std::string PackedId(const ir::Graph& graph, const ir::Node& node,
                     const ir::PackedConstant& packed) {
  std::string id = packed.id;
  for (const int source : packed.sources) {
    const ir::Value& value = graph.value(node.inputs[source]);
    id += ":";
    id += value.constant->hash.ToString();
  }
  return id;
}

void Make(Job& job) {
  std::vector<std::byte> bytes(job.packed->bytes);
  job.status = job.packed->pack(bytes);
  if (job.status.ok()) job.data = ir::MakeConstant(std::move(bytes));
}

void MakeAll(std::vector<Job>& jobs) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) Make(jobs[i]);
  };
  const size_t count = std::min<size_t>(
      jobs.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::jthread> workers;
  for (size_t i = 1; i < count; ++i) workers.emplace_back(work);
  work();
}

}  // namespace

Status Pack(Module& module) {
  const ir::Graph& graph = module.graph;
  module.packed.resize(graph.node_id_limit());
  std::vector<Job> jobs;
  std::map<std::pair<int, std::string>, size_t> by_id;
  for (const ir::NodeId id : graph.NodeIds()) {
    for (const ir::PackedConstant& packed : module.lowerings[id].packed) {
      const int device = module.placements[id].device;
      const std::string key = PackedId(graph, graph.node(id), packed);
      const auto [it, added] =
          by_id.emplace(std::pair(device, key), jobs.size());
      if (added) jobs.push_back({&packed, key, device, nullptr, {}});
      module.packed[id].push_back(static_cast<int>(it->second));
    }
  }
  MakeAll(jobs);
  for (Job& job : jobs) {
    TIM_RETURN_IF_ERROR(job.status.WithContext(StrCat("packing ", job.id)));
    module.constants.push_back({job.device, job.id, std::move(job.data)});
  }
  return OkStatus();
}

}  // namespace tim::compiler
