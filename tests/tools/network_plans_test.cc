// Plans of the networks that are measured: checks 29, 30 and 34 of the
// specification of several devices.
#include <gmock/gmock.h>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "binary/plan/plan_file.h"
#include "compiler/memory/memory_planner.h"
#include "runtime/device_set.h"
#include "tests/support/status_macros.h"
#include "tests/tools/timcl_program.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/memory_problem.h"

namespace tim::tool {
namespace {

using compiler::MemorySolver;

// Each layer reads the one before and no other.
bool IsChain(const bench::Network& network) {
  for (size_t i = 1; i < network.layers.size(); ++i) {
    const auto& inputs = network.layers[i].inputs;
    if (inputs.size() != 1 || inputs[0] != static_cast<int>(i) - 1) {
      return false;
    }
  }
  return true;
}

// Check 29.
void ExpectLittleMemory(const ir::MemoryReport& memory, bool is_chain) {
  const auto bound = static_cast<double>(memory.lower_bound);
  EXPECT_LE(static_cast<double>(memory.peak), 1.05 * bound);
  if (!is_chain) return;
  EXPECT_EQ(memory.peak, memory.lower_bound);
}

// Check 30: as a file and back, by each solver; two ranges put in one place are
// found.
void ExpectRoundTrip(const ir::Plan& plan) {
  const NamedProblem written = ProblemOf(plan);
  const auto read = ReadProblem(WriteProblem(written));
  ASSERT_OK(read);
  EXPECT_EQ(read->ids, written.ids);
  EXPECT_EQ(read->offsets, written.offsets);
  EXPECT_OK(CheckOffsets(*read, -1));
  for (const MemorySolver solver :
       {MemorySolver::kNone, MemorySolver::kByTime, MemorySolver::kBySize,
        MemorySolver::kSomas, MemorySolver::kExact, MemorySolver::kAuto}) {
    NamedProblem solved = *read;
    solved.problem.alignment = written.problem.alignment;
    const auto layout = compiler::Solve(solved.problem, solver);
    solved.offsets = layout.offsets;
    const auto again = ReadProblem(WriteProblem(solved));
    ASSERT_OK(again);
    EXPECT_OK(CheckOffsets(*again, layout.peak)) << ToString(solver);
  }
  for (size_t i = 0; i < read->ids.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!read->problem.InConflict(i, k)) continue;
      NamedProblem planted = *read;
      planted.offsets[i] = planted.offsets[k];
      EXPECT_ERROR(CheckOffsets(planted, -1), " overlap from byte ");
      return;
    }
  }
}

// Check 34: a list of one device and no policy change nothing.
void ExpectUndivided(const binary::Blob& blob, const ir::Plan& plan) {
  const auto set = runtime::OpenDevices("opencl:0");
  ASSERT_OK(set);
  const auto listed =
      PlanOf(blob, set->devices, runtime::DivisionOf(*set, {}, nullptr));
  ASSERT_OK(listed);
  EXPECT_TRUE(listed->plan.notes.partition.compared.empty());
  EXPECT_EQ(ir::Dump(listed->plan), ir::Dump(plan));
  const auto bytes = binary::WritePlan(listed->plan);
  const auto expected = binary::WritePlan(plan);
  ASSERT_OK(bytes);
  ASSERT_OK(expected);
  EXPECT_TRUE(*bytes == *expected);
}

class NetworkPlans : public ::testing::TestWithParam<bench::CatalogEntry> {};

TEST_P(NetworkPlans, AreSmallAndUndivided) {
  const bench::Network network = GetParam().make(64);
  const auto built = bench::GraphOfNetwork(*testing::HostContext(), network);
  ASSERT_TRUE(built.graph->Compile()) << vx::LastError();
  const auto blob = OpenGraphFile(
      WriteGraph(*built.graph, FreshFolder("plans") + "/network.bin"), {});
  ASSERT_OK(blob);
  for (const char* device : {"host", "opencl:0"}) {
    SCOPED_TRACE(device);
    const auto devices = DevicesFor(device, {});
    if (!devices.ok()) continue;  // there is no OpenCL device
    const auto planned = PlanOf(*blob, *devices);
    ASSERT_OK(planned);
    ExpectLittleMemory(planned->plan.memory, IsChain(network));
    ExpectRoundTrip(planned->plan);
    const auto& info = devices->back()->info();
    if (info.kind != "opencl" || info.remote) continue;
    ExpectUndivided(*blob, planned->plan);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, NetworkPlans,
                         ::testing::ValuesIn(bench::Catalog().begin(),
                                             bench::Catalog().end()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tim::tool
