// Kernels and operators of a plug-in against the library's references.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/parallel_for.h"
#include "compiler/compiler.h"
#include "device/device_sources.h"
#include "device/opencl/opencl_device.h"
#include "ir/evaluate.h"
#include "tools/timcl/kernel_run.h"
#include "tools/timcl/plugin_nodes.h"

namespace tim::tool {
namespace {

using ir::KernelDef;

// Calls `visit` for each case that the kernel takes; how many there were.
template <typename Visit>
int ForEachCase(CheckedPlugin& plugin, const ir::OpRegistry& operators,
                const KernelDef& kernel, const ir::DeviceInfo& info,
                const Visit& visit) {
  int taken = 0;
  for (const NodeCase& one : NodeCases(plugin, operators, kernel.op)) {
    const ir::KernelNode node =
        ir::MakeKernelNode(one.graph, one.graph.node(one.node));
    if (!ir::Analyze(kernel, node, info).ok()) continue;
    ++taken;
    visit(one, node);
    if (!plugin.loaded.plugin->quarantine().empty()) break;
  }
  return taken;
}

// The kernel on one node: outputs, what it leaves alone, two at a time.
Status TryKernel(CheckedPlugin& plugin,
                 const std::shared_ptr<device::Device>& device,
                 const KernelDef& kernel, const NodeCase& one,
                 const ir::KernelNode& node, const ir::OpRegistry& operators) {
  TIM_ASSIGN_OR_RETURN(const auto first,
                       KernelRun::Create(device, kernel, node, operators));
  TIM_ASSIGN_OR_RETURN(const auto second,
                       KernelRun::Create(device, kernel, node, operators));
  for (KernelRun* run : {first.get(), second.get(), first.get()}) {
    const auto inputs = RandomInputs(plugin, one.graph);
    TIM_ASSIGN_OR_RETURN(const auto expected, Evaluated(one.graph, inputs));
    TIM_ASSIGN_OR_RETURN(const auto actual, run->Run(inputs));
    for (size_t i = 0; i < expected.size(); ++i) {
      const ir::ValueId id = one.graph.outputs()[i];
      TIM_RETURN_IF_ERROR(
          Compare(one.graph.value(id).desc, actual[i], expected[i])
              .WithContext(StrCat("output ", i)));
    }
  }
  return OkStatus();
}

void TryKernels(CheckedPlugin& plugin,
                const std::shared_ptr<device::Device>& device,
                const ir::OpRegistry& operators, bool opencl) {
  for (const KernelDef* kernel : KernelsFor(plugin, operators, opencl)) {
    int failures = 0;
    const int cases = ForEachCase(
        plugin, operators, *kernel, device->info(),
        [&](const NodeCase& one, const ir::KernelNode& node) {
          for (const auto& laid : LaidOut(*kernel, node, device->info())) {
            if (failures >= 3) return;
            const Status status =
                TryKernel(plugin, device, *kernel, one, laid.node, operators);
            if (!plugin.Expect(status, StrCat(kernel->name, ", ", one.name,
                                              laid.layouts))) {
              ++failures;
            }
          }
        });
    if (cases == 0) {
      plugin.Skip(kernel->name, ": it takes none of the nodes that are tried");
    }
  }
}

// Makes the kernel ready and runs it, a few times, on a thread per entry of
// `inputs`.
Status RunOnThreads(const std::shared_ptr<device::Device>& device,
                    const KernelDef& kernel, const ir::KernelNode& node,
                    const ir::Graph& graph, const ir::OpRegistry& operators,
                    const std::vector<std::vector<Bytes>>& inputs) {
  return ParallelFor(inputs.size(), [&](size_t thread) -> Status {
    TIM_ASSIGN_OR_RETURN(const auto expected, Evaluated(graph, inputs[thread]));
    for (int i = 0; i < 5; ++i) {
      TIM_ASSIGN_OR_RETURN(const auto run,
                           KernelRun::Create(device, kernel, node, operators));
      TIM_ASSIGN_OR_RETURN(const auto actual, run->Run(inputs[thread]));
      for (size_t k = 0; k < expected.size(); ++k) {
        TIM_RETURN_IF_ERROR(Compare(graph.value(graph.outputs()[k]).desc,
                                    actual[k], expected[k]));
      }
    }
    return OkStatus();
  });
}

// The broken contract that a callback told the library of.
void TellQuarantine(CheckedPlugin& plugin) {
  const std::string reason = plugin.loaded.plugin->quarantine();
  if (!reason.empty()) plugin.Fail(reason);
}

}  // namespace

std::vector<const KernelDef*> KernelsFor(const CheckedPlugin& plugin,
                                         const ir::OpRegistry& operators,
                                         bool opencl) {
  std::vector<const KernelDef*> kernels;
  const std::string kind = plugin.loaded.plugin->kind();
  for (const TimKernel& own : plugin.loaded.plugin->tables().kernel_list) {
    for (const KernelDef* kernel :
         operators.Kernels(own.op, opencl ? "opencl" : kind)) {
      if (kernel->name == own.name) kernels.push_back(kernel);
    }
  }
  return kernels;
}

Status TryKernelsOnThreads(CheckedPlugin& plugin,
                           const std::shared_ptr<device::Device>& device,
                           const ir::OpRegistry& operators) {
  constexpr size_t kThreads = 8;
  for (const KernelDef* kernel : KernelsFor(plugin, operators, false)) {
    Status status;
    int tried = 0;
    ForEachCase(plugin, operators, *kernel, device->info(),
                [&](const NodeCase& one, const ir::KernelNode& node) {
                  const auto laid = LaidOut(*kernel, node, device->info());
                  if (laid.empty() || tried++ > 0) return;
                  std::vector<std::vector<Bytes>> inputs;
                  while (inputs.size() < kThreads) {
                    inputs.push_back(RandomInputs(plugin, one.graph));
                  }
                  status = RunOnThreads(device, *kernel, laid[0].node,
                                        one.graph, operators, inputs);
                });
    if (!status.ok()) return status.WithContext(kernel->name);
  }
  return OkStatus();
}

void CheckCosts(CheckedPlugin& plugin) {
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  for (const device::Devices& pair : plugin.DevicePairs()) {
    const ir::DeviceInfo& info = pair[1]->info();
    for (const KernelDef* kernel : KernelsFor(plugin, *operators, false)) {
      std::map<std::string, double> costs;
      ForEachCase(plugin, *operators, *kernel, info,
                  [&](const NodeCase& one, const ir::KernelNode& node) {
                    const auto problem = ir::Analyze(*kernel, node, info);
                    if (!problem.ok()) return;
                    const double cost = kernel->cost(*problem, node, info);
                    if (!std::isfinite(cost) || cost <= 0) {
                      plugin.Fail(kernel->name, ", ", one.name, ": a cost of ",
                                  cost);
                    }
                    ir::KernelNode twice = node;
                    for (auto* descs : {&twice.inputs, &twice.outputs}) {
                      for (ir::TensorDesc& desc : *descs) {
                        const int last = desc.shape.rank() - 1;
                        if (last != 3) continue;
                        desc.shape.set_dim(last, 2 * desc.shape[last]);
                      }
                    }
                    // A combination of layouts that is none breaks the
                    // contract.
                    static_cast<void>(LaidOut(*kernel, node, info));
                    const auto larger = ir::Analyze(*kernel, twice, info);
                    if (!larger.ok()) return;
                    if (kernel->cost(*larger, twice, info) < cost * 0.999) {
                      plugin.Fail(kernel->name, ", ", one.name,
                                  ": twice the batch costs less");
                    }
                  });
    }
  }
  TellQuarantine(plugin);
}

void CheckKernels(CheckedPlugin& plugin) {
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  if (KernelsFor(plugin, *operators, false).empty()) {
    return plugin.Skip("it has no kernels for its own devices");
  }
  for (const device::Devices& pair : plugin.DevicePairs()) {
    TryKernels(plugin, pair[1], *operators, false);
  }
  TellQuarantine(plugin);
}

void CheckOpenClKernels(CheckedPlugin& plugin) {
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  if (KernelsFor(plugin, *operators, true).empty()) {
    return plugin.Skip("it has no kernels for OpenCL devices");
  }
  const int count = device::CountOpenClDevices();
  if (count == 0) return plugin.Skip("there is no OpenCL device");
  for (int i = 0; i < count; ++i) {
    const auto opencl = device::CreateOpenClDevice(i, {});
    if (!plugin.Expect(opencl.status(), StrCat("opencl:", i))) continue;
    TryKernels(plugin, *opencl, *operators, true);
  }
  TellQuarantine(plugin);
}

void CheckRepeats(CheckedPlugin& plugin) {
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  bool any = false;
  for (const device::Devices& pair : plugin.DevicePairs()) {
    const auto* own = dynamic_cast<plugin::PluginDevice*>(pair[1].get());
    if (own == nullptr ||
        (own->props().flags & TIM_DEVICE_DETERMINISTIC) == 0) {
      continue;
    }
    any = true;
    for (const KernelDef* kernel : KernelsFor(plugin, *operators, false)) {
      int tried = 0;
      ForEachCase(plugin, *operators, *kernel, pair[1]->info(),
                  [&](const NodeCase& one, const ir::KernelNode& node) {
                    const auto laid = LaidOut(*kernel, node, pair[1]->info());
                    if (++tried % 5 != 1 || laid.empty()) return;
                    auto run = KernelRun::Create(pair[1], *kernel, laid[0].node,
                                                 *operators);
                    if (!plugin.Expect(run.status(), kernel->name)) return;
                    const auto inputs = RandomInputs(plugin, one.graph);
                    const auto first = (*run)->Run(inputs);
                    if (!first.ok()) return;  // C10 finds it
                    for (int i = 0; i < 9; ++i) {
                      const auto again = (*run)->Run(inputs);
                      if (again.ok() && *again == *first) continue;
                      return plugin.Fail(kernel->name, ", ", one.name,
                                         ": equal inputs give other bits");
                    }
                  });
    }
  }
  if (!any) plugin.Skip("no device is TIM_DEVICE_DETERMINISTIC");
}

namespace {

// The shape that the operator infers for its first output.
Result<ir::Shape> Inferred(const NodeCase& one, const ir::OpSchema& schema,
                           const std::vector<ir::Shape>& shapes) {
  ir::Node node = one.graph.node(one.node);
  node.composite = nullptr;
  std::vector<ir::TensorDesc> descs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    descs.push_back(one.graph.value(node.inputs[i]).desc);
    descs.back().shape = shapes[i];
  }
  ir::InferContext context{.node = node, .inputs = {}, .outputs = {}};
  for (const ir::TensorDesc& desc : descs) {
    context.inputs.push_back({.desc = &desc});
  }
  ir::InferContext::Output out;
  out.desc = one.graph.value(node.outputs[0]).desc;
  out.desc.shape = ir::Shape();
  context.outputs.push_back(out);
  TIM_RETURN_IF_ERROR(schema.infer_shapes(context));
  return context.outputs[0].desc.shape;
}

// Known extents of the one do not contradict the other.
bool Agrees(const ir::Shape& open, const ir::Shape& known) {
  if (!open.ranked()) return true;
  if (open.rank() != known.rank()) return false;
  for (int i = 0; i < open.rank(); ++i) {
    if (open[i] != ir::kUnknownDim && open[i] != known[i]) return false;
  }
  return true;
}

Status TryOpenShapes(const NodeCase& one, const ir::OpSchema& schema) {
  std::vector<ir::Shape> known;
  std::vector<ir::Shape> of_rank;
  for (const ir::ValueId id : one.graph.node(one.node).inputs) {
    known.push_back(one.graph.value(id).desc.shape);
    of_rank.push_back(ir::Shape::OfRank(known.back().rank()));
  }
  TIM_ASSIGN_OR_RETURN(const ir::Shape expected, Inferred(one, schema, known));
  for (const auto& shapes : {of_rank, std::vector<ir::Shape>(known.size())}) {
    TIM_ASSIGN_OR_RETURN(const ir::Shape open, Inferred(one, schema, shapes));
    if (Agrees(open, expected)) continue;
    return InvalidArgument("infer() gives ", open.ToString(), " for ",
                           shapes[0].ToString(), ", and ", expected.ToString(),
                           " for ", known[0].ToString());
  }
  return OkStatus();
}

// eval() and the operators of decompose() compute the same.
Status TryDecompose(CheckedPlugin& plugin, const NodeCase& one,
                    const ir::OpSchema& schema) {
  if (!schema.eval || !schema.decompose) return OkStatus();
  const auto inputs = RandomInputs(plugin, one.graph);
  TIM_ASSIGN_OR_RETURN(const auto parts, Evaluated(one.graph, inputs));
  ir::Graph plain = one.graph;
  plain.node(one.node).composite = nullptr;
  TIM_ASSIGN_OR_RETURN(const auto whole, Evaluated(plain, inputs));
  for (size_t i = 0; i < whole.size(); ++i) {
    TIM_RETURN_IF_ERROR(Compare(one.graph.value(one.graph.outputs()[i]).desc,
                                parts[i], whole[i])
                            .WithContext("decompose() and eval() differ"));
  }
  return OkStatus();
}

}  // namespace

void CheckOperatorsOf(CheckedPlugin& plugin) {
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  const auto& list = plugin.loaded.plugin->tables().op_list;
  if (list.empty()) return plugin.Skip("it has no operators");
  for (const TimOp& op : list) {
    const std::string name = StrCat(op.domain, ".", op.name);
    const ir::OpSchema* const schema = operators->Find(name);
    if (schema == nullptr) {
      plugin.Fail(name, " is not in the library's list");
      continue;
    }
    const auto cases = NodeCases(plugin, *operators, name);
    if (cases.empty()) {
      plugin.Skip(name, ": it takes none of the nodes that are tried");
    }
    for (const NodeCase& one : cases) {
      if (!plugin.Expect(TryOpenShapes(one, *schema), one.name)) break;
      if (!plugin.Expect(TryDecompose(plugin, one, *schema), one.name)) break;
    }
  }
  TellQuarantine(plugin);
}

}  // namespace tim::tool
