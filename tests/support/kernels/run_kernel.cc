// The half of kernel_runner.h that lowers and runs kernels.
#include <algorithm>
#include <utility>

#include "ir/kernel_def.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/test_launcher.h"

namespace tim::testing {
namespace {

using ir::KernelNode;
using ir::TensorDesc;

std::vector<const ir::KernelDef*> Candidates(const TestNode& node) {
  const KernelNode view =
      ir::MakeKernelNode(node.graph, node.graph.node(node.node));
  const ir::OpSchema& schema = *view.anchor->schema;
  auto kernels =
      node.registry->Kernels(StrCat(schema.domain, ".", schema.name), "opencl");
  if (!view.node->composite) return kernels;
  for (const ir::KernelDef* kernel :
       node.registry->Kernels(view.node->composite->name, "opencl")) {
    kernels.push_back(kernel);
  }
  return kernels;
}

const ir::KernelDef* FindKernel(const TestNode& node, const std::string& name) {
  for (const ir::KernelDef* kernel : Candidates(node)) {
    if (kernel->name == name) return kernel;
  }
  return nullptr;
}

void SetLayout(const ir::Layout& layout, TensorDesc* desc) {
  desc->layout =
      layout.kind == ir::LayoutKind::kAny ? ir::Layout::Dense() : layout;
}

Status SetLayouts(const ir::LayoutTuple& tuple, KernelNode* node) {
  if (tuple.inputs.size() != node->inputs.size() ||
      tuple.outputs.size() != node->outputs.size()) {
    return InvalidArgument("the layout tuple has ", tuple.inputs.size(),
                           " inputs and ", tuple.outputs.size(), " outputs");
  }
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    SetLayout(tuple.inputs[i], &node->inputs[i]);
  }
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    SetLayout(tuple.outputs[i], &node->outputs[i]);
  }
  return OkStatus();
}

using Bytes = std::vector<std::byte>;

// Everything that the steps of one lowering read and write.
struct Memory {
  std::vector<Bytes> inputs;
  std::vector<Bytes> outputs;
  std::vector<Bytes> scratch;
  std::vector<Bytes> packed;
  std::optional<ir::InPlacePair> in_place;

  Bytes& Output(int index) {
    const bool shared = in_place && in_place->output == index;
    return shared ? inputs.at(in_place->input) : outputs.at(index);
  }
  Bytes& At(ir::LoweredOperand operand) {
    switch (operand.kind) {
      case ir::LoweredOperand::Kind::kInput:
        return inputs.at(operand.index);
      case ir::LoweredOperand::Kind::kOutput:
        return Output(operand.index);
      case ir::LoweredOperand::Kind::kScratch:
        return scratch.at(operand.index);
      default:
        return packed.at(operand.index);
    }
  }
};

// NaN for float types, else a byte that is not the zero point's.
std::byte Poison(const TensorDesc& desc) {
  if (ir::IsFloat(desc.type)) return std::byte{0xff};
  const int zero = desc.quantized() ? desc.quantization.ZeroPoint() : 0;
  return static_cast<std::byte>(~zero & 0xff);
}

Status FillInputs(const TestNode& test, const KernelNode& node,
                  const std::vector<TensorData>& inputs, Memory* memory) {
  size_t next = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    memory->inputs.emplace_back();
    if (!node.present[i]) continue;
    const bool constant = node.constants[i] != nullptr;
    if (!constant && next >= test.graph.inputs().size()) {
      return InvalidArgument("input ", i, " has no data");
    }
    TensorData dense{node.inputs[i], {}};
    if (constant) {
      const AlignedBytes& bytes = node.constants[i]->bytes;
      dense.bytes.assign(bytes.begin(), bytes.end());
    } else {
      dense.bytes = inputs[next++].bytes;
    }
    dense.desc.layout = ir::Layout::Dense();
    TIM_ASSIGN_OR_RETURN(memory->inputs.back(),
                         ToLayout(dense, node.inputs[i].layout));
  }
  return OkStatus();
}

Status FillRest(const KernelNode& node, const ir::Lowering& lowering,
                Memory* memory) {
  for (const TensorDesc& desc : node.outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
    memory->outputs.emplace_back(bytes, Poison(desc));
  }
  for (const ir::ScratchSpec& scratch : lowering.scratch) {
    memory->scratch.emplace_back(scratch.bytes, std::byte{0xff});
  }
  for (const ir::PackedConstant& packed : lowering.packed) {
    memory->packed.emplace_back(packed.bytes);
    TIM_RETURN_IF_ERROR(packed.pack(memory->packed.back()));
  }
  return OkStatus();
}

Status RunStep(const ir::LoweredStep& step, std::byte guard, Memory* memory) {
  if (step.written.size() != step.operands.size()) {
    return InvalidArgument("'written' has ", step.written.size(),
                           " entries for ", step.operands.size(), " operands");
  }
  std::vector<LaunchOperand> operands;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    operands.push_back({&memory->At(step.operands[i]), step.written[i]});
  }
  if (const auto* launch = std::get_if<ir::KernelLaunch>(&step.action)) {
    return RunLaunch(*launch, operands, guard);
  }
  if (std::holds_alternative<ir::Gemm>(step.action)) {
    return RunAction(step.action, operands, guard);
  }
  if (const auto* copy = std::get_if<ir::Copy>(&step.action)) {
    std::copy_n(operands[0].bytes->begin(), copy->bytes,
                operands[1].bytes->begin());
    return OkStatus();
  }
  return Unimplemented("the test runner cannot do ", ir::ToString(step.action));
}

struct Lowered {
  KernelNode view;
  ir::Lowering lowering;
};

Result<Lowered> Lower(const ir::KernelDef& kernel,
                      const ir::KernelProblem& problem, KernelNode node,
                      const ir::LayoutTuple& layouts,
                      const ir::DeviceInfo& device) {
  Lowered out = {.view = std::move(node), .lowering = {}};
  TIM_RETURN_IF_ERROR(SetLayouts(layouts, &out.view));
  if (!(kernel.cost(problem, out.view, device) > 0)) {
    return InvalidArgument("the cost is not positive");
  }
  TIM_ASSIGN_OR_RETURN(out.lowering, kernel.lower(problem, out.view, device));
  if (out.lowering.applied != static_cast<int>(out.view.epilogue.size())) {
    return InvalidArgument("the lowering applies ", out.lowering.applied,
                           " of ", out.view.epilogue.size(),
                           " fused operators");
  }
  return out;
}

Result<Lowered> Lower(const TestNode& node, const std::string& kernel,
                      int layout_index, const ir::DeviceInfo& device) {
  const ir::KernelDef* def = FindKernel(node, kernel);
  if (def == nullptr) return NotFound("no kernel ", kernel);
  const KernelNode view =
      ir::MakeKernelNode(node.graph, node.graph.node(node.node));
  TIM_ASSIGN_OR_RETURN(const ir::KernelProblem problem,
                       ir::Analyze(*def, view, device));
  const auto tuples = ir::LayoutsOf(*def, problem, view, TestDevice());
  return Lower(*def, problem, view, tuples.at(layout_index), device);
}

}  // namespace

std::vector<std::string> SupportedKernels(const TestNode& node) {
  const KernelNode view =
      ir::MakeKernelNode(node.graph, node.graph.node(node.node));
  std::vector<std::string> out;
  for (const ir::KernelDef* kernel : Candidates(node)) {
    if (ir::Analyze(*kernel, view, TestDevice()).ok()) {
      out.push_back(kernel->name);
    }
  }
  return out;
}

std::string Refusals(const TestNode& node) {
  const KernelNode view =
      ir::MakeKernelNode(node.graph, node.graph.node(node.node));
  std::string out;
  for (const ir::KernelDef* kernel : Candidates(node)) {
    const Status status = ir::Analyze(*kernel, view, TestDevice()).status();
    if (!status.ok()) out += StrCat(kernel->name, ": ", status.message(), "\n");
  }
  return out;
}

Status Supports(const TestNode& node, const std::string& kernel,
                const ir::DeviceInfo& device) {
  const ir::KernelDef* found = FindKernel(node, kernel);
  if (found == nullptr) return NotFound("no kernel ", kernel);
  return ir::Analyze(*found,
                     ir::MakeKernelNode(node.graph, node.graph.node(node.node)),
                     device)
      .status();
}

int LayoutCount(const TestNode& node, const std::string& kernel) {
  const ir::KernelDef* found = FindKernel(node, kernel);
  if (found == nullptr) return 0;
  const KernelNode view =
      ir::MakeKernelNode(node.graph, node.graph.node(node.node));
  const auto problem = ir::Analyze(*found, view, TestDevice());
  if (!problem.ok()) return 0;
  const auto tuples = ir::LayoutsOf(*found, *problem, view, TestDevice());
  return static_cast<int>(tuples.size());
}

Result<std::vector<ir::KernelLaunch>> LaunchesOf(const TestNode& node,
                                                 const std::string& kernel,
                                                 const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Lowered lowered, Lower(node, kernel, 0, device));
  std::vector<ir::KernelLaunch> launches;
  for (const ir::LoweredStep& step : lowered.lowering.steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    if (launch == nullptr) return Unimplemented("a step that is no launch");
    launches.push_back(*launch);
  }
  return launches;
}

Result<std::vector<ir::LoweredStep>> StepsFor(const TestNode& node,
                                              const ir::DeviceInfo& device) {
  const KernelNode view =
      ir::MakeKernelNode(node.graph, node.graph.node(node.node));
  std::vector<ir::LoweredStep> steps;
  for (const ir::KernelDef* kernel : Candidates(node)) {
    const Result<ir::KernelProblem> problem =
        ir::Analyze(*kernel, view, device);
    if (!problem.ok()) continue;
    for (const ir::LayoutTuple& layouts :
         ir::LayoutsOf(*kernel, *problem, view, device)) {
      const auto lowered = Lower(*kernel, *problem, view, layouts, device);
      if (!lowered.ok()) return lowered.status().WithContext(kernel->name);
      const auto& added = lowered->lowering.steps;
      steps.insert(steps.end(), added.begin(), added.end());
    }
  }
  return steps;
}

Result<std::vector<ir::InPlacePair>> InPlacePairs(const TestNode& node,
                                                  const std::string& kernel,
                                                  int layout_index) {
  TIM_ASSIGN_OR_RETURN(const Lowered lowered,
                       Lower(node, kernel, layout_index, TestDevice()));
  const KernelNode& view = lowered.view;
  std::vector<ir::InPlacePair> pairs;
  for (const ir::InPlacePair& pair : lowered.lowering.in_place) {
    if (!view.present.at(pair.input) || view.constants[pair.input]) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t from,
                         ir::ByteSize(view.inputs[pair.input]));
    TIM_ASSIGN_OR_RETURN(const int64_t to,
                         ir::ByteSize(view.outputs.at(pair.output)));
    if (from == to) pairs.push_back(pair);
  }
  return pairs;
}

Result<std::vector<TensorData>> RunKernel(const TestNode& node,
                                          const std::string& kernel,
                                          int layout_index,
                                          const std::vector<TensorData>& inputs,
                                          const ir::DeviceInfo& device) {
  return RunKernel(node, kernel, layout_index, inputs,
                   KernelRun{.device = device});
}

Result<std::vector<TensorData>> RunKernel(const TestNode& node,
                                          const std::string& kernel,
                                          int layout_index,
                                          const std::vector<TensorData>& inputs,
                                          const KernelRun& run) {
  TIM_ASSIGN_OR_RETURN(const Lowered lowered,
                       Lower(node, kernel, layout_index, run.device));
  const auto& [view, lowering] = lowered;
  Memory memory;
  memory.in_place = run.in_place;
  TIM_RETURN_IF_ERROR(FillInputs(node, view, inputs, &memory));
  TIM_RETURN_IF_ERROR(FillRest(view, lowering, &memory));
  for (const ir::LoweredStep& step : lowering.steps) {
    TIM_RETURN_IF_ERROR(RunStep(step, run.guard, &memory));
  }
  std::vector<TensorData> out;
  for (size_t i = 0; i < view.outputs.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(
        out.emplace_back(),
        FromLayout(memory.Output(static_cast<int>(i)), view.outputs[i]));
  }
  return out;
}

}  // namespace tim::testing
