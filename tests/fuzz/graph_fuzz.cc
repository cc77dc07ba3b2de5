// Graph files of any content: read, partitioned, written and read again, and
// compiled for the host where they are small.  With Clang's -fsanitize=fuzzer a
// program of its own (tools/fuzz.sh), else a part of
// tests/fuzz/graph_fuzz_test.cc.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph_api/graph.h"
#include "graph_api/json_graph.h"
#include "graph_api/partition.h"
#include "graph_api/partitioning.h"
#include "tim/graph/c.h"
#include "tools/timcl/graph_json.h"

namespace {

using tim::graph::LogicalTensor;
using tim::graph::Partition;

void Expect(bool condition) {
  if (!condition) std::abort();
}

// True where dims and attributes are so small that compiling takes no time.
bool IsSmall(const std::vector<LogicalTensor>& tensors) {
  for (const LogicalTensor& tensor : tensors) {
    int64_t elements = 1;
    for (int axis = 0; axis < tensor.ndims; ++axis) {
      if (tensor.dims[axis] > 16) return false;
      if (tensor.dims[axis] > 0) elements *= tensor.dims[axis];
      if (elements > 4096) return false;
    }
  }
  return true;
}

bool IsSmall(const tim::graph::Op& op) {
  for (const auto& [attribute, value] : op.attributes) {
    const auto* ints = std::get_if<tim::graph::Dims>(&value);
    if (ints == nullptr) continue;
    for (const int64_t one : *ints) {
      if (one > 16) return false;
    }
  }
  return IsSmall(op.inputs) && IsSmall(op.outputs);
}

tim_graph_engine* HostEngine() {
  setenv("TIMCL_DEVICE", "host", 1);
  tim_graph_engine* engine = nullptr;
  Expect(tim_graph_engine_create(&engine, tim_graph_cpu, 0) ==
         tim_graph_success);
  return engine;
}

void Compile(const std::shared_ptr<const Partition>& partition) {
  static tim_graph_engine* const engine = HostEngine();
  if (!partition->supported() || partition->traits().kind != tim_graph_cpu) {
    return;
  }
  for (const auto& op : partition->ops()) {
    if (!IsSmall(op)) return;
  }
  tim_graph_partition holder = {.partition = partition};
  tim_graph_compiled_partition compiled;
  std::vector<LogicalTensor> ports[2] = {partition->ports().inputs,
                                         partition->ports().outputs};
  std::vector<const LogicalTensor*> pointers[2];
  for (int side = 0; side < 2; ++side) {
    for (LogicalTensor& port : ports[side]) {
      if (port.layout_type == tim_graph_layout_type_undef) {
        port.layout_type = tim_graph_layout_type_any;
      }
      pointers[side].push_back(&port);
    }
  }
  const tim_graph_status_t status = tim_graph_partition_compile(
      &holder, &compiled, pointers[0].size(), pointers[0].data(),
      pointers[1].size(), pointers[1].data(), engine);
  Expect(status != tim_graph_runtime_error);
  Expect((status == tim_graph_success) == (compiled.compiled != nullptr));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = tim::tool::ReadGraphJson(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!file.ok()) {
    Expect(file.status().code() == tim::StatusCode::kInvalidArgument);
    Expect(file.status().message().find(": ") != std::string::npos);
    return 0;
  }
  tim::graph::Graph graph(file->traits);
  for (const tim::graph::Op& op : file->ops) {
    const tim::Status added = graph.AddOp(tim::graph::BuiltinOps(), op);
    Expect(added.ok() || added.code() == tim::StatusCode::kInvalidArgument);
  }
  const tim::Status finalized = graph.Finalize();
  if (!finalized.ok()) {
    Expect(finalized.code() == tim::StatusCode::kInvalidArgument);
    return 0;
  }
  Expect(graph.Filter({}).ok());
  const tim::graph::Ports ports = tim::graph::PortsOf(graph.ops());
  const std::string text =
      tim::graph::JsonOfGraph(graph.ops(), ports, graph.traits());
  const auto again = tim::tool::ReadGraphJson(text);
  Expect(again.ok());
  tim::graph::Graph other(again->traits);
  for (const tim::graph::Op& op : again->ops) {
    Expect(other.AddOp(tim::graph::BuiltinOps(), op).ok());
  }
  Expect(tim::graph::JsonOfGraph(other.ops(), ports, other.traits()) == text);
  for (const auto& partition : graph.partitions()) Compile(partition);
  return 0;
}
