#include "ir/kernel_def.h"

#include <algorithm>

namespace tim::ir {
namespace {

void AddOperands(const Graph& graph, const Node& node, KernelNode* out) {
  for (const ValueId id : node.inputs) {
    out->present.push_back(id != kNone);
    if (id == kNone) {
      out->inputs.emplace_back();
      out->constants.push_back(nullptr);
      continue;
    }
    out->inputs.push_back(graph.value(id).desc);
    out->constants.push_back(graph.value(id).constant);
  }
  for (const ValueId id : node.outputs) {
    out->outputs.push_back(id != kNone ? graph.value(id).desc : TensorDesc());
  }
}

// The body of a fused node is a chain: anchor first, each further node reads
// the value before it and body inputs.
void AddEpilogue(const Composite& fused, KernelNode* out) {
  const Graph& body = fused.body;
  ValueId running = body.node(fused.anchor).outputs[0];
  out->anchor_output = body.value(running).desc;
  while (!body.value(running).uses.empty()) {
    const Node& next = body.node(body.value(running).uses[0].node);
    EpilogueStep step{.node = &next, .operands = {}, .result = {}};
    for (const ValueId id : next.inputs) {
      const auto& inputs = body.inputs();
      const auto it = std::find(inputs.begin(), inputs.end(), id);
      step.operands.push_back(
          id == running ? kRunning : static_cast<int>(it - inputs.begin()));
    }
    running = next.outputs[0];
    step.result = body.value(running).desc;
    out->epilogue.push_back(std::move(step));
  }
}

}  // namespace

KernelNode MakeKernelNode(const Graph& graph, const Node& node) {
  KernelNode out;
  out.node = &node;
  out.anchor = &node;
  AddOperands(graph, node, &out);
  if (!out.outputs.empty()) out.anchor_output = out.outputs[0];
  if (node.composite && node.composite->anchor != kNone) {
    out.anchor = &node.composite->body.node(node.composite->anchor);
    AddEpilogue(*node.composite, &out);
  }
  return out;
}

LayoutTuple DenseLayouts(const KernelNode& node) {
  return {std::vector<Layout>(node.inputs.size(), Layout::Dense()),
          std::vector<Layout>(node.outputs.size(), Layout::Dense())};
}

double EstimateMicroseconds(const ComputeEstimate& estimate,
                            const DeviceInfo& device, double compute_efficiency,
                            double memory_efficiency) {
  const double compute =
      estimate.flops / (device.gflops * compute_efficiency * 1e3);
  const double memory = (estimate.bytes_read + estimate.bytes_written) /
                        (device.gbytes_per_second * memory_efficiency * 1e3);
  return std::max(compute, memory) + device.launch_us;
}

Result<KernelProblem> Analyze(const KernelDef& kernel, const KernelNode& node,
                              const DeviceInfo& device) {
  if (!node.epilogue.empty() && !kernel.takes_epilogue) {
    return Unimplemented("takes no fused operators");
  }
  return kernel.analyze(node, device);
}

std::vector<LayoutTuple> LayoutsOf(const KernelDef& kernel,
                                   const KernelProblem& problem,
                                   const KernelNode& node,
                                   const DeviceInfo& device) {
  if (!kernel.layouts) return {DenseLayouts(node)};
  return kernel.layouts(problem, node, device);
}

std::string Dump(const KernelDef& kernel) {
  return StrCat(kernel.op, " ", kernel.name, " on ", kernel.device_kind);
}

}  // namespace tim::ir
