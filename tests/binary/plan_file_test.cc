#include "binary/plan/plan_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/aligned_memory.h"
#include "ir/graph.h"
#include "ir/op_schema.h"
#include "tests/support/plans/same_plan.h"
#include "tests/support/plans/whole_plan.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::binary {
namespace {

using ::testing::HasSubstr;
using testing::ToyOperators;
using testing::WholePlan;

using Bytes = std::vector<std::byte>;

// A copy that begins `shift` bytes behind a page.
struct Memory {
  explicit Memory(const Bytes& bytes, size_t shift = 0)
      : all(AllocateAligned(static_cast<int64_t>(bytes.size() + shift), 4096)),
        file(all.get() + shift, bytes.size()) {
    std::memcpy(all.get() + shift, bytes.data(), bytes.size());
  }
  bool Has(const std::byte* at) const {
    return at >= file.data() && at < file.data() + file.size();
  }

  std::shared_ptr<std::byte[]> all;
  std::span<const std::byte> file;
};

Bytes Written(const ir::Plan& plan) {
  const auto bytes = WritePlan(plan);
  EXPECT_OK(bytes);
  return bytes.ok() ? *bytes : Bytes();
}

// As verification leaves them.
ir::Graph Completed(ir::Graph graph) {
  for (const ir::NodeId id : graph.NodeIds()) {
    ir::Node& node = graph.node(id);
    EXPECT_OK(ir::CompleteAttributes(*node.schema, &node.attributes));
  }
  return graph;
}

TEST(PlanFile, KeepsAllThatStandsInAPlan) {
  const ir::Plan plan = WholePlan();
  const auto read = ReadPlan(Written(plan), ToyOperators());
  ASSERT_OK(read);
  testing::ExpectSamePlan(plan, *read);
}

TEST(PlanFile, KeepsBodiesOfComposites) {
  ir::Plan plan = WholePlan();
  auto& call = std::get<ir::HostCall>(plan.steps[testing::kHost].action);
  testing::ToyGraph body("body");
  const auto x = body.Op("Twice", {body.Input({8, 2})});
  body.Output(body.Op("Sum", {x, body.Constant({8, 2}, 3)}));
  call.body = std::make_shared<const ir::Graph>(Completed(body.graph()));
  const Memory memory(Written(plan));
  for (const auto& keeper : {memory.all, decltype(memory.all)()}) {
    const auto read = ReadPlan(memory.file, ToyOperators(), keeper);
    ASSERT_OK(read);
    testing::ExpectSamePlan(plan, *read);
    EXPECT_EQ(Written(*read), Written(plan));
  }
  EXPECT_ERROR(ReadPlan(memory.file, ir::OpRegistry()),
               "step 5: binary graph: ");
}

TEST(PlanFile, KeepsTextsThatAreNotEmbedded) {
  ir::Plan plan = WholePlan();
  auto& launch =
      std::get<ir::KernelLaunch>(plan.steps[testing::kKernel].action);
  launch.source = "bench.gemm";
  launch.text = "__kernel void gemm() {}";
  const auto read = ReadPlan(Written(plan), ToyOperators());
  ASSERT_OK(read);
  testing::ExpectSamePlan(plan, *read);
}

TEST(PlanFile, KeepsWhatTheCompilerMakes) {
  testing::ToyGraph toy;
  const auto x = toy.Op("Heavy", {toy.Input({8, 8, 16})});
  const auto w = toy.Constant({1}, 3);
  toy.Output(toy.Op("Slow", {toy.Op("Weighted", {x, w})}));
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  const auto read = ReadPlan(Written(*plan), ToyOperators());
  ASSERT_OK(read);
  testing::ExpectSamePlan(*plan, *read);
}

TEST(PlanFile, TheSamePlanGivesTheSameBytes) {
  const Bytes bytes = Written(WholePlan());
  EXPECT_EQ(Written(WholePlan()), bytes);
  const auto read = ReadPlan(bytes, ToyOperators());
  ASSERT_OK(read);
  EXPECT_EQ(Written(*read), bytes);
}

TEST(PlanFile, DoesNotKeepTheEditionOfAProcess) {
  ir::Plan plan = WholePlan();
  std::get<ir::UserLaunch>(plan.steps[testing::kUser].action).edition = 9;
  const auto read = ReadPlan(Written(plan), ToyOperators());
  ASSERT_OK(read);
  testing::ExpectSamePlan(WholePlan(), *read);
}

TEST(PlanFile, ConstantsAreUsedWhereTheFileHasThem) {
  const Memory memory(Written(WholePlan()));
  auto read = ReadPlan(memory.file, ToyOperators(), memory.all);
  ASSERT_OK(read);
  // The blocks, and a host call's attribute.
  const auto pieces = static_cast<int64_t>(read->constants.size()) + 1;
  EXPECT_EQ(memory.all.use_count(), 1 + pieces);
  for (const ir::ConstantBlock& block : read->constants) {
    EXPECT_TRUE(memory.Has(block.data.get()));
  }
  EXPECT_TRUE(IsAligned(read->constants[0].data.get(), 128));  // the device's
  EXPECT_TRUE(IsAligned(read->constants[1].data.get(), 64));
  testing::ExpectSamePlan(WholePlan(), *read);
}

TEST(PlanFile, ConstantsAreCopiedWhereTheFileIsNotKept) {
  const Memory memory(Written(WholePlan()));
  const auto read = ReadPlan(memory.file, ToyOperators());
  ASSERT_OK(read);
  for (const ir::ConstantBlock& block : read->constants) {
    EXPECT_FALSE(memory.Has(block.data.get()));
    EXPECT_TRUE(IsAligned(block.data.get(), 4096));
  }
}

TEST(PlanFile, AFileMayBeginAnywhere) {
  for (const size_t shift : {1, 4, 8, 64}) {
    const Memory memory(Written(WholePlan()), shift);
    const auto read = ReadPlan(memory.file, ToyOperators(), memory.all);
    ASSERT_OK(read);
    EXPECT_FALSE(memory.Has(read->constants[0].data.get())) << shift;
    testing::ExpectSamePlan(WholePlan(), *read);
  }
}

TEST(PlanFile, PlansThatAreNotSoundAreNeitherWrittenNorRead) {
  ir::Plan plan = WholePlan();
  plan.constants[1].data = nullptr;  // the runtime forgets what it uploads
  EXPECT_ERROR(WritePlan(plan), "a plan to be written: plan: constant 1 of 64");
  Bytes bytes = Written(WholePlan());
  // The slot of the input: {kind, device, index, allocation, offset, bytes}.
  const int64_t slot[] = {0, 64};
  const auto found = std::search(bytes.begin(), bytes.end(),
                                 reinterpret_cast<const std::byte*>(slot),
                                 reinterpret_cast<const std::byte*>(slot + 2));
  ASSERT_NE(found, bytes.end());
  const int64_t huge = int64_t{1} << 62;
  std::memcpy(&*found, &huge, sizeof(huge));
  const auto read = ReadPlan(bytes, ToyOperators());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(read.status().message(), HasSubstr("binary plan: plan: "));
}

void ExpectNoHarm(const Bytes& bytes) {
  const auto read = ReadPlan(bytes, ToyOperators());
  if (!read.ok()) {
    ASSERT_EQ(read.status().code(), StatusCode::kInvalidArgument)
        << read.status().ToString();
    return;
  }
  EXPECT_OK(ir::Verify(*read));
  EXPECT_FALSE(ir::Dump(*read).empty());
}

TEST(PlanFile, EveryPrefixIsRefused) {
  const Bytes bytes = Written(WholePlan());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = ReadPlan(std::span(bytes).first(size), ToyOperators());
    ASSERT_EQ(read.status().code(), StatusCode::kInvalidArgument) << size;
  }
}

TEST(PlanFile, AnyByteMayBeWrong) {
  const Bytes bytes = Written(WholePlan());
  std::mt19937 random(3);
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned change : {1u << random() % 8, 0x80u, 0xffu}) {
      Bytes wrong = bytes;
      wrong[i] ^= std::byte(change);
      ExpectNoHarm(wrong);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tim::binary
