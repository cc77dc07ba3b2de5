// Estimates of graphs: the compiler makes a plan, of which nothing is built.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/guarded.h"
#include "compiler/compiler.h"
#include "ir/node_descs.h"
#include "runtime/compile_options.h"
#include "runtime/step_estimates.h"
#include "tim/values/graph.h"
#include "values/access.h"
#include "values/estimates.h"
#include "values/failure.h"
#include "values/graph_state.h"
#include "values/program_plan.h"

namespace tim::values {
namespace internal {
namespace {

struct Planned {
  ir::Graph graph;  ///< Inferred.
  ir::Plan plan;
  bool bound = false;
};

// Inputs with extents that have bounds at their bounds.
Result<std::vector<PortSpec>> PortsOf(const GraphState& graph, bool* bound) {
  std::vector<TensorSpec> specs = graph.InputSpecs();
  for (const Value& value : graph.ClosedOver()) {
    specs.push_back(StateOf(value)->spec());
  }
  for (const GraphState::State& state : graph.states()) {
    specs.push_back(state.variable->spec());
  }
  std::vector<PortSpec> ports;
  for (size_t i = 0; i < specs.size(); ++i) {
    ir::Shape& shape = specs[i].desc.shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] != ir::kUnknownDim) continue;
      if (shape.Bound(axis) == ir::kUnknownDim) {
        return InvalidArgument("input ", i, ": the extent of axis ", axis,
                               " is unknown, and it has no bound");
      }
      shape.set_dim(axis, shape.Bound(axis));
      *bound = true;
    }
    const auto bytes = BytesOf(specs[i].desc);
    if (!bytes.ok()) return bytes.status().WithContext(StrCat("input ", i));
    ports.push_back({std::move(specs[i]), {}});
  }
  return ports;
}

Result<Planned> PlanOf(const GraphState& graph, const DeviceState& device) {
  TIM_RETURN_IF_ERROR(graph.status());
  TIM_RETURN_IF_ERROR(device.status());
  Planned planned;
  TIM_ASSIGN_OR_RETURN(const auto ports, PortsOf(graph, &planned.bound));
  const runtime::Surroundings surroundings = device.surroundings();
  compiler::CompileOptions options =
      runtime::CompileOptionsFor(surroundings.devices);
  options.was_compiled = true;
  TIM_ASSIGN_OR_RETURN(compiler::InferredGraph inferred,
                       InferFor(*graph.Snapshot(), ports, options));
  planned.graph = inferred.graph;
  const int main = device.main_device();
  options.inputs.resize(inferred.graph.inputs().size(), {.device = main});
  options.outputs.resize(inferred.graph.outputs().size(), {.free = true});
  TIM_ASSIGN_OR_RETURN(
      planned.plan,
      compiler::Compile(std::move(inferred), *surroundings.operators, options));
  return planned;
}

Result<int64_t> BytesOfAll(const ir::Graph& graph,
                           const std::vector<ir::ValueId>& ids) {
  int64_t sum = 0;
  for (const ir::ValueId id : ids) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(graph.value(id).desc));
    sum += bytes;
  }
  return sum;
}

Result<MemoryEstimate> MemoryOfGraph(const GraphState& graph) {
  TIM_ASSIGN_OR_RETURN(const Planned planned,
                       PlanOf(graph, *DeviceState::Default()));
  MemoryEstimate estimate;
  estimate.bound = planned.bound;
  TIM_ASSIGN_OR_RETURN(estimate.inputs,
                       BytesOfAll(planned.graph, planned.graph.inputs()));
  TIM_ASSIGN_OR_RETURN(estimate.outputs,
                       BytesOfAll(planned.graph, planned.graph.outputs()));
  estimate.scratch = planned.plan.memory.peak;
  for (const ir::ConstantBlock& block : planned.plan.constants) {
    estimate.scratch += block.bytes;
  }
  return estimate;
}

Result<ComputeEstimate> ComputeOfState(const GraphState& graph) {
  TIM_RETURN_IF_ERROR(graph.status());
  bool bound = false;
  TIM_ASSIGN_OR_RETURN(const auto ports, PortsOf(graph, &bound));
  compiler::CompileOptions options;
  options.was_compiled = true;
  TIM_ASSIGN_OR_RETURN(const compiler::InferredGraph inferred,
                       InferFor(*graph.Snapshot(), ports, options));
  ComputeEstimate estimate = ComputeOfGraph(inferred.graph);
  estimate.bound = bound;
  return estimate;
}

// "opencl:conv2d_nchw16c -> ..., 12 us": device and kernel.
std::pair<std::string, std::string> PlaceOf(const std::string& chosen) {
  const size_t colon = chosen.find(':');
  if (colon == std::string::npos) return {"", chosen};
  const size_t end = std::min(chosen.find(' ', colon), chosen.find(',', colon));
  return {chosen.substr(0, colon),
          chosen.substr(colon + 1, end == std::string::npos ? std::string::npos
                                                            : end - colon - 1)};
}

Result<std::vector<NodeReport>> ReportOf(const GraphState& graph,
                                         const DeviceState& device) {
  TIM_ASSIGN_OR_RETURN(const Planned planned, PlanOf(graph, device));
  std::vector<NodeReport> reports;
  for (const ir::Decision& decision : planned.plan.decisions) {
    if (runtime::IsRecognized(decision)) continue;
    NodeReport& report = reports.emplace_back();
    report.name = decision.node;
    std::tie(report.device, report.kernel) = PlaceOf(decision.chosen);
    report.predicted_us = runtime::CostOf(decision).value_or(0);
    for (const std::string& refused : decision.refused) {
      report.reason += (report.reason.empty() ? "" : "\n") + refused;
    }
    const auto work = planned.plan.notes.work.find(decision.node);
    if (work != planned.plan.notes.work.end()) {
      report.op = work->second.op;
      report.compute.flops = work->second.operations;
      report.compute.bytes_read = work->second.bytes;
    }
    for (const ir::NodeId id : planned.graph.NodeIds()) {
      const ir::Node& node = planned.graph.node(id);
      if (node.name != decision.node || node.composite) continue;
      const ir::NodeDescs descs(planned.graph, node);
      const auto estimate = node.schema->compute_estimate(descs.view());
      report.compute.bytes_read = estimate.bytes_read;
      report.compute.bytes_written = estimate.bytes_written;
      const auto bytes = [&](const auto& list) {
        int64_t sum = 0;
        for (const ir::TensorDesc* desc : list) {
          if (desc != nullptr)
            sum += ir::ByteSize(*desc).ok() ? *ir::ByteSize(*desc) : 0;
        }
        return sum;
      };
      report.memory.inputs = bytes(descs.view().inputs);
      report.memory.outputs = bytes(descs.view().outputs);
      if (node.schema->memory_estimate) {
        report.memory.scratch = node.schema->memory_estimate(descs.view());
      }
    }
  }
  return reports;
}

template <typename T>
T ValueOr(Result<T> result, T otherwise) {
  if (result.ok()) return *std::move(result);
  Fail(result.status());
  return otherwise;
}

}  // namespace
}  // namespace internal

using internal::Access;

MemoryEstimate Graph::EstimateMemory() const {
  return internal::ValueOr(
      GuardedCall([&] { return internal::MemoryOfGraph(*state_); }),
      {-1, -1, -1, false});
}

ComputeEstimate Graph::EstimateCompute() const {
  return internal::ValueOr(
      GuardedCall([&] { return internal::ComputeOfState(*state_); }),
      {-1, -1, -1, false});
}

std::vector<NodeReport> Graph::Report(const Device& device) const {
  return internal::ValueOr(GuardedCall([&] {
                             return internal::ReportOf(
                                 *state_, *Access::StateOf(device));
                           }),
                           {});
}

double Graph::PredictMicroseconds(const Device& device) const {
  const std::vector<NodeReport> reports = Report(device);
  if (reports.empty()) return -1;
  double sum = 0;
  for (const NodeReport& report : reports) sum += report.predicted_us;
  return sum;
}

}  // namespace tim::values
