#include "bench/networks/binary_file.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "base/aligned_memory.h"
#include "base/mapped_file.h"
#include "base/options.h"
#include "bench/networks/graph_of_network.h"
#include "binary/blob.h"
#include "runtime/device_pool.h"
#include "tim/vx/error.h"
#include "vx/core/user_programs.h"
#include "vx/lite/loaded_graph.h"

namespace tim::bench {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<std::vector<char>> BinaryOf(vx::Graph& graph) {
  size_t size = 0;
  if (!graph.CompileToBinary(nullptr, &size)) {
    return FailedPrecondition(vx::LastError());
  }
  std::vector<char> binary(size);
  if (!graph.CompileToBinary(binary.data(), &size)) {
    return FailedPrecondition(vx::LastError());
  }
  return binary;
}

// Memory of ports, and what runs are given of it.
struct Ports {
  std::vector<AlignedMemory> memory;
  std::vector<runtime::PortMemory> ports;
};

// Zeros for every input or output that is used.
Result<Ports> PortsOf(const std::vector<binary::Port>& ports) {
  Ports made;
  for (const binary::Port& port : ports) {
    if (port.unused) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(port.desc));
    AlignedMemory memory = AllocateAligned(bytes, binary::kBlobAlignment);
    if (memory == nullptr) return OutOfMemory(bytes, " bytes");
    std::fill_n(memory.get(), bytes, std::byte{0});
    made.ports.emplace_back(memory.get(), bytes);
    made.memory.push_back(std::move(memory));
  }
  return made;
}

Result<double> RunOnce(lite::LoadedGraph& graph) {
  TIM_ASSIGN_OR_RETURN(const Ports inputs, PortsOf(graph.blob().inputs));
  TIM_ASSIGN_OR_RETURN(const Ports outputs, PortsOf(graph.blob().outputs));
  const auto start = Clock::now();
  TIM_RETURN_IF_ERROR(graph.Run(inputs.ports, outputs.ports));
  const double seconds = SecondsSince(start);
  for (const auto& port : inputs.ports) graph.Release(port.host);
  for (const auto& port : outputs.ports) graph.Release(port.host);
  return seconds;
}

}  // namespace

Result<nlohmann::json> WriteBinaryFile(const Network& network,
                                       const std::string& path) {
  const auto context = vx::Context::Create();
  if (context == nullptr) return FailedPrecondition(vx::LastError());
  const NetworkGraph graph = GraphOfNetwork(*context, network);
  const auto start = Clock::now();
  if (!graph.graph->Compile()) return FailedPrecondition(vx::LastError());
  const double compile_seconds = SecondsSince(start);
  TIM_ASSIGN_OR_RETURN(const std::vector<char> binary, BinaryOf(*graph.graph));
  std::ofstream file(path, std::ios::binary);
  file.write(binary.data(), static_cast<std::streamsize>(binary.size()));
  if (!file.flush()) return NotFound(path, " cannot be written");
  const int64_t weights = ParameterBytes(network);
  return nlohmann::json{{"network", network.name},
                        {"device", context->DeviceName()},
                        {"compile_s", compile_seconds},
                        {"weight_bytes", weights},
                        {"file_bytes", binary.size()},
                        {"ratio", static_cast<double>(binary.size()) /
                                      static_cast<double>(weights)}};
}

Result<nlohmann::json> LoadBinaryFile(const std::string& path) {
  TIM_ASSIGN_OR_RETURN(const auto mapped, MapFile(path));
  TIM_ASSIGN_OR_RETURN(
      auto devices,
      runtime::SelectDevices(GetOptions().device, GetOptions().on_device));
  const std::string device = devices.back()->info().name;
  const auto programs = vx::UserPrograms();
  const auto start = Clock::now();
  TIM_ASSIGN_OR_RETURN(binary::Blob blob,
                       binary::OpenBlob(mapped->bytes, mapped));
  TIM_ASSIGN_OR_RETURN(
      const auto graph,
      lite::LoadedGraph::Create(std::move(blob), std::move(devices), programs));
  const double load_seconds = SecondsSince(start);
  TIM_ASSIGN_OR_RETURN(const double run_seconds, RunOnce(*graph));
  return nlohmann::json{{"file_bytes", mapped->bytes.size()},
                        {"device", device},
                        {"load_s", load_seconds},
                        {"programs_built", programs->builds()},
                        {"run_ms", 1e3 * run_seconds}};
}

}  // namespace tim::bench
