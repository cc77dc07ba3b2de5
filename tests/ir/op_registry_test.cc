#include "ir/op_registry.h"

#include <gtest/gtest.h>

#include "ir/typed_kernel.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::ir {
namespace {

OpSchema Copy(const char* name) { return *testing::ToyOperators().Find(name); }

TEST(OpRegistry, FindsByKeyAndByNewestVersion) {
  OpRegistry registry;
  OpSchema schema = Copy("toy.Twice");
  registry.Add(schema);
  schema.version = 2;
  registry.Add(schema);
  EXPECT_EQ(registry.Find("toy.Twice")->version, 2);
  EXPECT_EQ(registry.Find("toy.Twice@1")->version, 1);
  EXPECT_EQ(registry.Find("toy.Thrice"), nullptr);
  EXPECT_OK(registry.Check());
}

TEST(OpRegistry, DuplicatesAndHolesAreReported) {
  OpRegistry registry;
  registry.Add(Copy("toy.Twice"));
  registry.Add(Copy("toy.Twice"));
  EXPECT_EQ(registry.Check().message(), "toy.Twice@1 is registered twice");
  OpRegistry hollow;
  OpSchema schema = Copy("toy.Twice");
  schema.eval = nullptr;
  hollow.Add(schema);
  EXPECT_NE(hollow.Check().message().find("lacks"), std::string::npos);

  // One with functions of a type of its own is not taken for whole either.
  OpRegistry typed;
  typed.Add(PlainKernel{
      .op = "tim.Relu",
      .name = "typed",
      .analyze = nullptr,
      .cost = [](const KernelNode&, const DeviceInfo&) { return 1.0; },
      .lower = [](const KernelNode&,
                  const DeviceInfo&) { return Result<Lowering>(Lowering()); }});
  EXPECT_NE(typed.Check().message().find("lacks analyze"), std::string::npos);
}

TEST(OpRegistry, LooksIntoItsParent) {
  const OpRegistry registry(&testing::ToyOperators());
  EXPECT_NE(registry.Find("toy.Twice"), nullptr);
  EXPECT_EQ(registry.Kernels("toy.Heavy", "opencl").size(), 2u);
  EXPECT_TRUE(registry.Kernels("toy.Heavy", "cuda").empty());
}

TEST(OpRegistry, HasWaysOfPartsPerKindOfDevice) {
  OpRegistry registry(&testing::ToyOperators());
  const auto claim = [](const Graph&, const DeviceInfo&) {
    return Result<PartClaims>(PartClaims());
  };
  PartDef part;
  part.name = "acme.graph";
  part.device_kind = "acme";
  part.claim = claim;
  registry.Add(part);
  const OpRegistry child(&registry);
  ASSERT_EQ(child.Parts("acme").size(), 1u);
  EXPECT_EQ(child.Parts("acme")[0]->name, "acme.graph");
  EXPECT_TRUE(child.Parts("opencl").empty());
  registry.Add(part);
  part.name = "acme.other";
  part.claim = nullptr;
  registry.Add(part);
  EXPECT_EQ(registry.Check().message(),
            "parts acme.graph are registered twice; parts acme.other lack both "
            "claim and optimize");
}

TEST(OpRegistry, OperatorsOfDevicesNeedNoEval) {
  OpSchema schema = Copy("toy.Twice");
  schema.eval = nullptr;
  schema.device_only = true;
  OpRegistry registry;
  registry.Add(schema);
  EXPECT_TRUE(registry.Check().ok()) << registry.Check().message();
}

TEST(OpRegistry, DumpListsAttributes) {
  const std::string dump = testing::ToyOperators().Dump();
  EXPECT_NE(dump.find("toy.Bump@1 inputs 1..1"), std::string::npos) << dump;
  EXPECT_NE(dump.find("  by: float = 1\n"), std::string::npos) << dump;
  EXPECT_NE(dump.find("toy.Heavy heavy_blocked on opencl"), std::string::npos);
}

}  // namespace
}  // namespace tim::ir
