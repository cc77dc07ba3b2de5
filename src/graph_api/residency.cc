// Rules about the places of ports, and conversions at the border of a
// partition.
#include "graph_api/residency.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "device/opencl/interop/shared_memory.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

constexpr std::array<const char*, 4> kNames = {"automatic", "host", "device",
                                               "shared"};

bool IsResidency(Residency residency) {
  return residency >= tim_graph_residency_automatic &&
         residency <= tim_graph_residency_shared;
}

bool IsFloat(tim_graph_data_type_t type) {
  const Types& floats = FloatTypes();
  return std::find(floats.begin(), floats.end(), type) != floats.end();
}

Status CheckDevice(const LogicalTensor& port, const Engine& engine) {
  if (engine.device()->NativeHandle("cl_context") != nullptr) return OkStatus();
  return InvalidArgument("tensor ", port.id, " is wanted on the device, and '",
                         engine.device()->info().name,
                         "' has no memory that tensors can be made of");
}

Status CheckShared(const LogicalTensor& port, const Engine& engine) {
  const device::Device& device = *engine.device();
  const bool has = engine.kind() == tim_graph_gpu
                       ? device::HasSharedMemory(device)
                       : device.info().unified_memory;
  if (has) return OkStatus();
  return Unimplemented("tensor ", port.id,
                       " is wanted in shared memory, which '",
                       device.info().name, "' does not have");
}

const char* KindOf(const ClientTensor& tensor) {
  return tim_graph_engine_kind2str(tensor.engine()->kind());
}

// The place of a port's type in `ops`.
const LogicalTensor* Described(const std::vector<Op>& ops, size_t id) {
  for (const Op& op : ops) {
    for (const auto* operands : {&op.inputs, &op.outputs}) {
      for (const LogicalTensor& operand : *operands) {
        if (operand.id == id) return &operand;
      }
    }
  }
  return nullptr;
}

size_t FirstFreeId(const std::vector<Op>& ops) {
  size_t free = 0;
  for (const Op& op : ops) {
    for (const auto* operands : {&op.inputs, &op.outputs}) {
      for (const LogicalTensor& operand : *operands) {
        free = std::max(free, operand.id + 1);
      }
    }
  }
  return free;
}

void Rename(size_t from, size_t to, std::vector<Op>* ops) {
  for (Op& op : *ops) {
    for (auto* operands : {&op.inputs, &op.outputs}) {
      for (LogicalTensor& operand : *operands) {
        if (operand.id == from) operand.id = to;
      }
    }
  }
}

Op CastOf(const LogicalTensor& from, const LogicalTensor& to) {
  Op cast;
  cast.id = SIZE_MAX;
  cast.kind = tim_graph_op_type_cast;
  cast.name = StrCat("TypeCast of port ", std::min(from.id, to.id));
  cast.inputs = {from};
  cast.outputs = {to};
  cast.def = BuiltinOps().Find(tim_graph_op_type_cast);
  return cast;
}

}  // namespace

Result<Residency> ResidencyOf(const LogicalTensor& port,
                              const Residencies& wanted, const Engine& engine) {
  const auto found = wanted.find(port.id);
  Residency residency =
      found == wanted.end() ? tim_graph_residency_automatic : found->second;
  if (!IsResidency(residency)) {
    return InvalidArgument("tensor ", port.id, " is given residency ",
                           static_cast<int>(residency),
                           "; expected automatic, host, device or shared");
  }
  if (port.property == tim_graph_tensor_property_host_scalar) {
    if (residency == tim_graph_residency_device ||
        residency == tim_graph_residency_shared) {
      return InvalidArgument("tensor ", port.id,
                             " is a host scalar, and is wanted with residency ",
                             kNames[residency]);
    }
    return tim_graph_residency_host;
  }
  if (residency == tim_graph_residency_automatic) {
    residency = engine.kind() == tim_graph_gpu ? tim_graph_residency_device
                                               : tim_graph_residency_host;
  } else if (residency == tim_graph_residency_device) {
    TIM_RETURN_IF_ERROR(CheckDevice(port, engine));
  } else if (residency == tim_graph_residency_shared) {
    TIM_RETURN_IF_ERROR(CheckShared(port, engine));
  }
  return residency;
}

Status CheckPlace(const ClientTensor& tensor, Residency residency,
                  const Engine& engine) {
  if (tensor.is_scalar()) return OkStatus();
  const bool of_gpu = tensor.engine()->kind() == tim_graph_gpu;
  const bool pointer = tensor.handle_kind() == HandleKind::kPointer;
  bool fits = !of_gpu;
  if (residency == tim_graph_residency_device) {
    fits = of_gpu;
  } else if (engine.kind() == tim_graph_gpu ||
             residency == tim_graph_residency_shared) {
    // A pointer of a gpu engine's tensor is the host's where the port is.
    const bool shared_on_gpu = residency == tim_graph_residency_shared &&
                               engine.kind() == tim_graph_gpu;
    fits = of_gpu ? pointer : !shared_on_gpu;
  }
  if (fits) return OkStatus();
  if (of_gpu && !pointer && residency != tim_graph_residency_device) {
    return InvalidArgument(
        "is a cl_mem, its port was compiled with residency ", kNames[residency],
        "; a tensor of a cpu engine is a pointer of the host");
  }
  return InvalidArgument("is memory of an engine of another kind, ",
                         KindOf(tensor),
                         "; its port was compiled for an "
                         "engine of kind ",
                         tim_graph_engine_kind2str(engine.kind()),
                         " with residency ", kNames[residency]);
}

bool IsConverted(const LogicalTensor& port, tim_graph_data_type_t given,
                 const Residencies& wanted) {
  return wanted.count(port.id) != 0 && IsFloat(port.data_type) &&
         IsFloat(given);
}

void ConvertPorts(const std::vector<LogicalTensor>& inputs,
                  const std::vector<LogicalTensor>& outputs,
                  std::vector<Op>* ops) {
  size_t free = FirstFreeId(*ops);
  const auto differs = [&](const LogicalTensor& port) {
    const LogicalTensor* const own = Described(*ops, port.id);
    return own != nullptr && own->data_type != tim_graph_data_type_undef &&
           own->data_type != port.data_type;
  };
  for (const LogicalTensor& port : inputs) {
    if (!differs(port)) continue;
    LogicalTensor inner = *Described(*ops, port.id);
    LogicalTensor outer = inner;
    outer.data_type = port.data_type;
    Rename(port.id, inner.id = free++, ops);
    ops->insert(ops->begin(), CastOf(outer, inner));
  }
  for (const LogicalTensor& port : outputs) {
    if (!differs(port)) continue;
    LogicalTensor inner = *Described(*ops, port.id);
    LogicalTensor outer = inner;
    outer.data_type = port.data_type;
    Rename(port.id, inner.id = free++, ops);
    ops->push_back(CastOf(inner, outer));
  }
}

}  // namespace tim::graph
