// Ports as locations: the search of kernels and layouts begins and ends there.
#include "compiler/ports.h"

#include <algorithm>

namespace tim::compiler {
namespace {

using ir::Layout;
using ir::ValueId;

constinit const Port kOnHost = {};

const Port& PortOf(const std::vector<Port>& ports, int index) {
  return index < static_cast<int>(ports.size()) ? ports[index] : kOnHost;
}

// An output of the host in whichever layout it is made.
bool IsOpen(const Port& port) {
  return port.free ||
         (port.device == 0 && port.layout.kind == ir::LayoutKind::kAny);
}

// The device has a kernel that does the Reorder of the value.
bool Reorders(const Module& module, ir::TensorDesc desc, const Layout& from,
              const Layout& to, int device) {
  ir::Graph graph("reorder");
  ir::Node node;
  node.schema = module.registry.Find(kReorderOp);
  if (node.schema == nullptr) return false;
  desc.layout = from;
  node.inputs = {graph.AddValue(desc)};
  desc.layout = to;
  node.outputs = {graph.AddValue(desc)};
  const ir::NodeId id = graph.AddNode(std::move(node));
  return FindReorder(module, ViewOf(module, graph, graph.node(id)), device)
             .kind == RunKind::kKernel;
}

// The primary device does a Reorder of the value in the caller's memory.
bool Imports(const Module& module, const ir::TensorDesc& desc,
             const Layout& from, const Layout& to) {
  const int device = module.primary_device();
  return device != 0 && module.device(device).unified_memory &&
         Reorders(module, desc, from, to, device);
}

Status CheckPort(const Module& module, const Port& port,
                 const ir::TensorDesc& desc) {
  if (port.free) return OkStatus();
  const int devices = static_cast<int>(module.options.devices.size());
  if (port.device < 0 || port.device >= devices) {
    return InvalidArgument("is to be on device ", port.device, " of ", devices);
  }
  const Layout& layout = port.layout;
  if (!layout.dense() && !layout.blocked() && !layout.strided()) {
    return InvalidArgument("is to have layout ", layout.ToString(),
                           "; ports are dense, blocked or strided, and outputs "
                           "of the host any");
  }
  if (!desc.shape.IsStatic()) return OkStatus();  // said elsewhere
  ir::TensorDesc there = desc;
  there.layout = layout;
  TIM_RETURN_IF_ERROR(ir::ByteSize(there).status());
  if (port.device == 0 || !layout.strided() ||
      Reorders(module, desc, layout, Layout::Dense(), port.device)) {
    return OkStatus();
  }
  return Unimplemented("is to have layout ", layout.ToString(), " on device ",
                       port.device, ", which has no kernel for it");
}

Status CheckCount(const Module& module, const char* what, size_t given,
                  size_t count) {
  if (given <= count) return OkStatus();
  return InvalidArgument("graph '", module.graph.name(), "' has ", count, " ",
                         what, ", and ports were given for ", given);
}

Status InPort(const Module& module, const char* what, size_t index,
              const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), StrCat("graph '", module.graph.name(), "': ",
                                      what, " ", index, " ", status.message()));
}

Status CheckOutput(const Module& module, const Port& port,
                   const ir::TensorDesc& desc) {
  if (IsOpen(port)) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckPort(module, port, desc));
  if (!port.layout.strided()) return OkStatus();
  ir::TensorDesc there = desc;
  there.layout = port.layout;
  return ir::CheckWritable(there);
}

// Each is a location on the host and on the primary device, and the table of
// locations has room for others' layouts, too.
Status CheckStrides(const Module& module) {
  constexpr size_t kMost = 96;
  std::vector<Layout> strided;
  for (const auto* ports : {&module.options.inputs, &module.options.outputs}) {
    for (const Port& port : *ports) {
      if (!port.layout.strided()) continue;
      if (std::find(strided.begin(), strided.end(), port.layout) ==
          strided.end()) {
        strided.push_back(port.layout);
      }
    }
  }
  if (strided.size() <= kMost) return OkStatus();
  return Unimplemented("graph '", module.graph.name(), "' has ports of ",
                       strided.size(), " different strides, at most ", kMost,
                       " are told apart; give dense memory to the others");
}

// The location that an output is taken from: dense ones are the first.  What is
// nowhere dense a device makes so where it can.
int SourceOf(const Module& module, const LocationTable& locations,
             const LocationSet& present) {
  const int first = present.First();
  if (locations[first].layout.dense()) return first;
  for (int i = first; i < LocationSet::kLimit; i = present.Next(i)) {
    if (locations[i].device == module.primary_device()) return i;
  }
  return first;
}

bool IsOn(const LocationTable& locations, const LocationSet& present,
          int device) {
  for (int i = present.First(); i < LocationSet::kLimit; i = present.Next(i)) {
    if (locations[i].device == device) return true;
  }
  return false;
}

}  // namespace

const Port& InputPort(const Module& module, int index) {
  return PortOf(module.options.inputs, index);
}

const Port& OutputPort(const Module& module, int index) {
  return PortOf(module.options.outputs, index);
}

Status CheckPorts(const Module& module) {
  const auto& inputs = module.options.inputs;
  const auto& outputs = module.options.outputs;
  TIM_RETURN_IF_ERROR(CheckCount(module, "inputs", inputs.size(),
                                 module.graph.inputs().size()));
  TIM_RETURN_IF_ERROR(CheckCount(module, "outputs", outputs.size(),
                                 module.graph.outputs().size()));
  TIM_RETURN_IF_ERROR(CheckStrides(module));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = module.graph.inputs()[i];
    if (inputs[i].free) {
      return InPort(module, "input", i,
                    InvalidArgument("has no place: only outputs are free"));
    }
    TIM_RETURN_IF_ERROR(
        InPort(module, "input", i,
               CheckPort(module, inputs[i], module.graph.value(id).desc)));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId id = module.graph.outputs()[i];
    TIM_RETURN_IF_ERROR(
        InPort(module, "output", i,
               CheckOutput(module, outputs[i], module.graph.value(id).desc)));
  }
  return OkStatus();
}

Placement FindReorder(const Module& module, const ir::KernelNode& node,
                      int device) {
  // Kernels are asked about dense operands, but where memory is a caller's.
  ir::KernelNode asked = node;
  const ir::LayoutTuple wanted{{node.inputs[0].layout},
                               {node.outputs[0].layout}};
  if (!wanted.inputs[0].strided() && !wanted.outputs[0].strided()) {
    asked.inputs[0].layout = asked.outputs[0].layout = Layout::Dense();
  }
  const ir::DeviceInfo& info = module.device(device);
  for (const Offer& offer : OffersOn(module, asked, device)) {
    if (!offer.problem.ok()) continue;
    const auto tuples =
        ir::LayoutsOf(*offer.kernel, *offer.problem, asked, info);
    if (std::find(tuples.begin(), tuples.end(), wanted) != tuples.end()) {
      return {.kind = RunKind::kKernel,
              .device = device,
              .kernel = offer.kernel,
              .problem = *offer.problem};
    }
  }
  return {.kind = RunKind::kEval, .device = device};
}

LocationSet InputLocations(const Module& module, LocationTable& locations,
                           int index) {
  const Port& port = InputPort(module, index);
  LocationSet set(locations.Intern({port.device, port.layout}));
  if (port.device != 0 || port.layout.dense()) return set;
  const ir::TensorDesc& desc =
      module.graph.value(module.graph.inputs()[index]).desc;
  if (Imports(module, desc, port.layout, Layout::Dense())) {
    set.Add(locations.Intern({module.primary_device(), port.layout}));
  }
  return set;
}

int OutputTarget(const Module& module, LocationTable& locations, int index,
                 const LocationSet& present) {
  const Port& port = OutputPort(module, index);
  const int source = SourceOf(module, locations, present);
  const Location& made = locations[source];
  if (IsOpen(port) && !made.layout.strided()) return source;
  if (IsOpen(port) || (port.device == 0 && port.layout.dense())) {
    return locations.Intern({made.device, Layout::Dense()});
  }
  if (port.device != 0) return locations.Intern({port.device, port.layout});
  const int device = module.primary_device();
  const ir::TensorDesc& desc =
      module.graph.value(module.graph.outputs()[index]).desc;
  const bool direct = IsOn(locations, present, device) &&
                      Imports(module, desc, Layout::Dense(), port.layout);
  return locations.Intern({direct ? device : 0, port.layout});
}

}  // namespace tim::compiler
