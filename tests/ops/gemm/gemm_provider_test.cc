// Every operator that is a matrix product has a kernel of every provider.
#include "ops/gemm/gemm_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/builtin.h"
#include "tests/support/status_macros.h"

namespace tim::ops {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsSupersetOf;

std::vector<std::string> NamesWith(const std::string& stem) {
  std::vector<std::string> names;
  for (const GemmProvider* provider : GemmProviders()) {
    names.push_back(stem + "_" + provider->name);
  }
  return names;
}

std::vector<std::string> KernelsOf(const ir::OpRegistry& registry,
                                   const std::string& op) {
  std::vector<std::string> names;
  for (const ir::KernelDef* kernel : registry.Kernels(op, "opencl")) {
    names.push_back(kernel->name);
  }
  return names;
}

TEST(GemmProviders, MakeTheProductsOfAllOperators) {
  const ir::OpRegistry& builtins = BuiltinOperators();
  EXPECT_THAT(KernelsOf(builtins, "tim.Matmul"),
              IsSupersetOf(NamesWith("matmul")));
  EXPECT_THAT(KernelsOf(builtins, "tim.FullyConnected"),
              IsSupersetOf(NamesWith("fullyconnected")));
}

// An operator that no provider is asked about where it refuses itself.
TEST(GemmProviders, AreAskedAfterTheOperator) {
  ir::OpRegistry registry;
  AddGemmKernels({.op = "tim.Cell",
                  .stem = "cell",
                  .problem = [](const ir::KernelNode&) -> Result<GemmProblem> {
                    return Unimplemented("a cell of no rows");
                  }},
                 registry);
  EXPECT_THAT(KernelsOf(registry, "tim.Cell"),
              ElementsAreArray(NamesWith("cell")));
  for (const ir::KernelDef* kernel : registry.Kernels()) {
    EXPECT_ERROR(ir::Analyze(*kernel, {}, {}), "a cell of no rows");
  }
}

}  // namespace
}  // namespace tim::ops
