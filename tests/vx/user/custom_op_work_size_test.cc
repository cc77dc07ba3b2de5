// Work sizes of custom operators: every item runs once, in the groups asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;

constexpr uint32_t kItems = 6 * 4 * 2;

// counts[i]: x[i] and how often item i ran; locals: the local sizes.  The items
// count in x, which is a copy for each run.
struct Counted {
  explicit Counted(const OpPlan& sizes) {
    const auto ints = [&](const vx::ShapeType& shape,
                          vx::TensorAttribute attribute) {
      return graph->CreateTensor(
          vx::TensorSpec(DataType::INT32, shape, attribute));
    };
    x = ints({kItems}, vx::INPUT);
    counts = ints({kItems}, vx::OUTPUT);
    locals = ints({3}, vx::OUTPUT);
    OpPlan plan;
    plan.outputs = 2;
    plan.source =
        "__kernel void f(__global int* x, __global int* counts,\n"
        "                __global int* locals) {\n"
        "  const size_t i = get_global_id(0) + get_global_size(0) *\n"
        "      (get_global_id(1) + get_global_size(1) * get_global_id(2));\n"
        "  counts[i] = atomic_inc(x + i) + 1;\n"
        "  locals[0] = get_local_size(0);\n"
        "  locals[1] = get_local_size(1);\n"
        "  locals[2] = get_local_size(2);\n"
        "}\n";
    plan.shapes = [](OpPlan::Op& op) {
      op.outputs_size_[0] = {kItems};
      op.outputs_size_[1] = {3};
    };
    plan.enqueue = sizes.enqueue;
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutputs(
        {counts, locals});
  }
  std::shared_ptr<vx::Graph> graph = OpenClGraph();
  std::shared_ptr<vx::Tensor> x;
  std::shared_ptr<vx::Tensor> counts;
  std::shared_ptr<vx::Tensor> locals;
};

OpPlan Sized(uint32_t dim, OpPlan::Sizes global, OpPlan::Sizes local) {
  OpPlan plan;
  plan.enqueue = Sizes(dim, std::move(global), std::move(local));
  return plan;
}

std::vector<int32_t> RunTwice(Counted* counted) {
  for (const int32_t start : {0, 100}) {
    const std::vector<int32_t> x(kItems, start);
    Write(counted->x, x);
    EXPECT_TRUE(counted->graph->Run()) << vx::LastError();
    EXPECT_THAT(Read<int32_t>(counted->counts), Each(start + 1));
    EXPECT_EQ(Read<int32_t>(counted->x), x) << "the caller's is unchanged";
  }
  return Read<int32_t>(counted->locals);
}

const OpPlan::Sizes kGlobals[] = {{kItems, 0, 0}, {12, 4, 0}, {6, 4, 2}};

TEST(CustomOpWorkSize, LocalSizesOfZeroAreTheRuntimesChoice) {
  for (uint32_t dim = 1; dim <= 3; ++dim) {
    Counted counted(Sized(dim, kGlobals[dim - 1], {0, 0, 0}));
    EXPECT_THAT(RunTwice(&counted), Each(::testing::Ge(1)));
  }
}

TEST(CustomOpWorkSize, ExplicitLocalSizesAreTaken) {
  const OpPlan::Sizes local = {3, 2, 2};
  for (uint32_t dim = 1; dim <= 3; ++dim) {
    Counted counted(Sized(dim, kGlobals[dim - 1], local));
    EXPECT_THAT(RunTwice(&counted),
                ElementsAre(3, dim > 1 ? 2 : 1, dim > 2 ? 2 : 1));
  }
}

TEST(CustomOpWorkSize, ZeroBesideOtherLocalSizesIsOne) {
  Counted first(Sized(3, kGlobals[2], {3, 0, 0}));
  EXPECT_THAT(RunTwice(&first), ElementsAre(3, 1, 1));
  Counted middle(Sized(3, kGlobals[2], {0, 2, 0}));
  EXPECT_THAT(RunTwice(&middle), ElementsAre(1, 2, 1));
}

TEST(CustomOpWorkSize, VectorsMayBeReplacedByShorterOnes) {
  Counted counted(Sized(2, {12, 4}, {}));
  RunTwice(&counted);
}

void ExpectRefused(const OpPlan& plan, const std::vector<std::string>& texts) {
  TestOpGraph g(plan);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "user.TestOp#1"));
  for (const std::string& text : texts) {
    EXPECT_THAT(vx::LastError(), HasSubstr(text));
  }
  EXPECT_FALSE(g.graph->Run());
  EXPECT_THAT(TestOpGraph(OpPlan()).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4))
      << "a good graph works afterwards";
}

TEST(CustomOpWorkSizeErrors, Dimensions) {
  ExpectRefused(Sized(0, {4, 1, 1}, {0, 0, 0}), {"dim to 0", "1, 2 or 3"});
  ExpectRefused(Sized(4, {4, 1, 1}, {0, 0, 0}), {"dim to 4", "1, 2 or 3"});
}

TEST(CustomOpWorkSizeErrors, GlobalSizes) {
  ExpectRefused(Sized(1, {0, 0, 0}, {0, 0, 0}),
                {"global size 0 of dimension 0", "at least 1"});
  ExpectRefused(Sized(2, {4, 0, 0}, {0, 0, 0}),
                {"global size 0 of dimension 1"});
  ExpectRefused(Sized(2, {4}, {}), {"1 global sizes, dim is 2"});
  ExpectRefused(Sized(1, {~size_t{0}, 0, 0}, {0, 0, 0}), {"beyond 63 bits"});
}

TEST(CustomOpWorkSizeErrors, LocalSizes) {
  ExpectRefused(Sized(1, {4, 0, 0}, {3, 0, 0}),
                {"local size 3 does not divide global size 4 of dimension 0; "
                 "round the global size up, and test the index in the "
                 "kernel"});
  ExpectRefused(Sized(1, {4, 0, 0}, {8, 0, 0}), {"local size 8"});
  ExpectRefused(Sized(1, {size_t{1} << 40, 0, 0}, {size_t{1} << 40, 0, 0}),
                {"local size 1099511627776", "exceeds"});
  ExpectRefused(Sized(3, {4096, 4096, 4096}, {4096, 4096, 4096}), {"exceed"});
}

}  // namespace
}  // namespace tim::testing
