// Inputs and outputs of binary graphs, for clients.
#include <span>
#include <utility>

#include "base/guarded.h"
#include "binary/blob.h"
#include "tim/vx/binary_graph.h"
#include "vx/core/failure.h"
#include "vx/core/given_name.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx {
namespace {

Result<TensorSpec> SpecOf(const binary::Port& port, TensorAttribute role) {
  TensorSpec spec(ToVx(port.desc.type), {}, role, ToVx(port.desc.quantization));
  spec.SetName(GivenIn(port.name));
  for (const int64_t extent : port.desc.shape.dims()) {
    if (extent < 0 || extent > UINT32_MAX) {
      return InvalidArgument("the binary graph: '", port.name,
                             "' has no fixed shape of 32 bits");
    }
    spec.shape_.push_back(static_cast<uint32_t>(extent));
  }
  return spec;
}

Result<BinaryGraphInfo> Read(const void* binary, std::size_t size) {
  if (binary == nullptr) return InvalidArgument("the binary graph: null");
  // The bytes are the caller's for the time of the call, and nothing is kept.
  TIM_ASSIGN_OR_RETURN(
      const binary::Blob blob,
      binary::OpenBlob({static_cast<const std::byte*>(binary), size}, nullptr));
  BinaryGraphInfo info;
  info.graph = blob.graph_name;
  info.library = blob.library;
  for (const binary::Port& port : blob.inputs) {
    TIM_ASSIGN_OR_RETURN(TensorSpec spec, SpecOf(port, INPUT));
    info.inputs.push_back(std::move(spec));
  }
  for (const binary::Port& port : blob.outputs) {
    TIM_ASSIGN_OR_RETURN(TensorSpec spec, SpecOf(port, OUTPUT));
    info.outputs.push_back(std::move(spec));
  }
  return info;
}

}  // namespace

bool ReadBinaryGraph(const void* binary, std::size_t size,
                     BinaryGraphInfo* info) {
  const Status status = GuardedCall([&]() -> Status {
    if (info == nullptr)
      return InvalidArgument("ReadBinaryGraph(): info is null");
    TIM_ASSIGN_OR_RETURN(*info, Read(binary, size));
    return OkStatus();
  });
  return status.ok() || Fail(status);
}

}  // namespace tim::vx
