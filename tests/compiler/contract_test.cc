// What the compiler promises the functions of schemas and kernels, and what it
// checks of a lowering.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ir/effect_order.h"
#include "ir/part_def.h"
#include "ir/typed_kernel.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::ToyGraph;
using testing::ToyOperators;

constexpr char kUnknownShape[] = "is not known at compile time";

// How often a function was called, and how often with unknown extents.
struct Calls {
  int all = 0;
  int unknown = 0;

  void Count(bool is_static) {
    ++all;
    unknown += !is_static;
  }
  void Count(const ir::NodeView& view) {
    bool is_static = true;
    for (const auto& descs : {view.inputs, view.outputs}) {
      for (const ir::TensorDesc* desc : descs) {
        is_static &= desc == nullptr || desc->shape.IsStatic();
      }
    }
    Count(is_static);
  }
  void Count(const ir::KernelNode& node) {
    bool is_static = true;
    for (const auto& descs : {node.inputs, node.outputs}) {
      for (const ir::TensorDesc& desc : descs) {
        is_static &= desc.shape.IsStatic();
      }
    }
    Count(is_static);
  }
};

// A schema and a kernel of two inputs, toy.Probe, that may be changed.
class Probe {
 public:
  Probe() : schema(*ToyOperators().Find("toy.Sum")) {
    schema.name = "Probe";
    kernel = *ToyOperators().Kernels("toy.Sum", "opencl")[0];
    kernel.op = "toy.Probe";
    kernel.name = "probe";
  }

  // Kernels count how often they are asked.
  std::shared_ptr<Calls> CountAnalyses() {
    auto calls = std::make_shared<Calls>();
    kernel.analyze = [calls, analyze = kernel.analyze](
                         const ir::KernelNode& node,
                         const ir::DeviceInfo& device) {
      calls->Count(node);
      return analyze(node, device);
    };
    return calls;
  }

  // Adds a node whose output has the shape of `a`.
  ir::ValueId Add(ToyGraph& toy, ir::ValueId a, ir::ValueId b) {
    Register();
    const ir::ValueId y = toy.Op("Sum", {a, b});
    ir::Graph& graph = toy.graph();
    graph.node(graph.value(y).producer).schema = registry.Find("toy.Probe");
    return y;
  }

  Result<ir::Plan> Compile(const ToyGraph& toy) {
    Register();
    ToyGraph copy = toy;
    return compiler::Compile(copy.graph(), registry, testing::ToyOptions());
  }

  ir::OpSchema schema;
  ir::KernelDef kernel;
  ir::OpRegistry registry{&ToyOperators()};

 private:
  void Register() {
    if (registered_) return;
    registered_ = true;
    registry.Add(schema);
    registry.Add(kernel);
  }

  bool registered_ = false;
};

TEST(Contract, KernelsAreNotAskedOfUnknownShapesByFusion) {
  Probe probe;
  const auto calls = probe.CountAnalyses();
  ToyGraph toy;
  const ir::ValueId x = toy.Op("Heavy", {toy.Input({8, 8, 32, 1})});
  toy.Output(probe.Add(toy, x, toy.Input(ir::Shape())));
  EXPECT_ERROR(probe.Compile(toy), kUnknownShape);
  EXPECT_EQ(calls->unknown, 0);

  Probe known;
  const auto known_calls = known.CountAnalyses();
  ToyGraph all_known;
  const ir::ValueId y = all_known.Op("Heavy", {all_known.Input({8})});
  all_known.Output(known.Add(all_known, y, all_known.Input({8})));
  EXPECT_OK(known.Compile(all_known));
  EXPECT_GT(known_calls->all, 0);
  EXPECT_EQ(known_calls->unknown, 0);
}

// bump(probe(x, x)), where the probe's kernel may take fused operators.
Result<ir::Plan> CompileBumped(Probe& probe, bool takes_epilogue) {
  probe.kernel.takes_epilogue = takes_epilogue;
  ToyGraph toy;
  const ir::ValueId x = toy.Input({8});
  toy.Output(toy.Op("Bump", {probe.Add(toy, x, x)}));
  return probe.Compile(toy);
}

TEST(Contract, KernelsAreAskedOnceOfANode) {
  Probe alone;
  const auto calls = alone.CountAnalyses();
  EXPECT_OK(CompileBumped(alone, false));
  EXPECT_EQ(calls->all, 1);

  // A fused node that is taken is asked about once more.
  Probe fused;
  const auto fused_calls = fused.CountAnalyses();
  EXPECT_OK(CompileBumped(fused, true));
  EXPECT_EQ(fused_calls->all, 2);
}

// Two probes with ordered effects, of which the second one's operands are there
// first, and what is made of both.
ToyGraph TwoProbes(Probe& probe) {
  probe.schema.effects.ordered = true;
  ToyGraph toy;
  const ir::ValueId x = toy.Input({8});
  ir::ValueId late = x;
  for (int i = 0; i < 3; ++i) late = toy.Op("Twice", {late});
  const ir::ValueId first = probe.Add(toy, late, x);
  const ir::ValueId second = probe.Add(toy, x, x);
  toy.Output(toy.Op("Sum", {second, first}));
  return toy;
}

// Inputs of the probes' steps in the order of the plan: the first one's is made
// by another step.
TEST(Contract, EffectsKeepTheirOrder) {
  for (const int streams : {1, 2}) {
    Probe probe;
    ToyGraph toy = TwoProbes(probe);
    compiler::CompileOptions options = testing::ToyOptions();
    options.policy.streams = streams;
    const auto plan = compiler::Compile(toy.graph(), probe.registry, options);
    ASSERT_OK(plan);
    std::vector<size_t> probes;
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      if (plan->steps[i].kernel == "probe") probes.push_back(i);
    }
    ASSERT_EQ(probes.size(), 2u);
    const ir::Step& first = plan->steps[probes[0]];
    const ir::Step& second = plan->steps[probes[1]];
    EXPECT_NE(first.operands[0], first.operands[1]);
    EXPECT_EQ(second.operands[0], second.operands[1]);
    const auto& waits = second.waits;
    EXPECT_TRUE(ir::InOneQueue(first, second) ||
                std::find(waits.begin(), waits.end(),
                          static_cast<int>(probes[0])) != waits.end());
  }
}

TEST(Contract, EditsKeepTheOrderOfEffects) {
  for (const bool swaps : {false, true}) {
    Probe probe;
    ToyGraph toy = TwoProbes(probe);
    probe.registry.Add(ir::PartDef{
        .name = "toy.editor",
        .device_kind = "opencl",
        .compiles = false,
        .options = {},
        .claim = nullptr,
        .optimize = [swaps](const ir::Graph& graph, int,
                            const ir::DeviceInfo&) -> Result<ir::Graph> {
          ir::Graph edited = graph;
          std::vector<ir::NodeId> order = ir::EffectOrder(graph);
          if (swaps) std::swap(order[0], order[1]);
          ir::SetEffectOrder(order, &edited);
          return edited;
        }});
    compiler::CompileOptions options = testing::ToyOptions();
    options.strict = true;
    const auto plan = compiler::Compile(toy.graph(), probe.registry, options);
    if (swaps) {
      EXPECT_ERROR(plan, "have their effects in another order");
    } else {
      EXPECT_OK(plan);
    }
  }
}

// y = a + b as the composite toy.Whole, which the probe's kernel claims.
Result<ir::Plan> CompileComposite(Probe& probe, ir::Shape b) {
  probe.kernel.op = "toy.Whole";
  ToyGraph body("body");
  const ir::ValueId first = body.Input(ir::Shape());
  const ir::ValueId second = body.Input(ir::Shape());
  body.Output(body.Op("Sum", {first, second}));
  auto composite = std::make_shared<ir::Composite>();
  composite->name = "toy.Whole";
  composite->body = body.graph();
  ToyGraph toy;
  ir::Node node;
  node.name = "Whole#0";
  node.inputs = {toy.Input({8}), toy.Input(std::move(b))};
  node.outputs = {toy.graph().AddValue(ir::TensorDesc())};
  node.composite = composite;
  toy.Output(node.outputs[0]);
  toy.graph().AddNode(std::move(node));
  return probe.Compile(toy);
}

TEST(Contract, KernelsAreNotAskedOfUnknownShapesOfComposites) {
  Probe unknown;
  const auto unknown_calls = unknown.CountAnalyses();
  EXPECT_ERROR(CompileComposite(unknown, ir::Shape()), kUnknownShape);
  EXPECT_EQ(unknown_calls->all, 0);
  Probe known;
  const auto calls = known.CountAnalyses();
  EXPECT_OK(CompileComposite(known, {8}));
  EXPECT_GT(calls->all, 0);
}

const ir::Shape kShapes[] = {{8}, {ir::kUnknownDim}, ir::Shape()};

TEST(Contract, IdentitiesAreSoughtAmongKnownRanks) {
  for (const ir::Shape& shape : kShapes) {
    Probe probe;
    Calls calls;
    probe.schema.is_identity = [&calls](const ir::NodeView& view) {
      calls.Count(view);
      return false;
    };
    ToyGraph toy;
    toy.Output(probe.Add(toy, toy.Input({8}), toy.Input(shape)));
    const Result<ir::Plan> plan = probe.Compile(toy);
    EXPECT_EQ(plan.ok(), shape.IsStatic());
    EXPECT_EQ(calls.all > 0, shape.ranked());
  }
}

TEST(Contract, PaddingIsSoughtAmongKnownRanks) {
  for (const ir::Shape& shape : kShapes) {
    Probe probe;
    Calls calls;
    probe.schema.padding =
        [&calls](const ir::NodeView& view) -> std::optional<ir::Padding> {
      calls.Count(view);
      return std::nullopt;
    };
    probe.schema.absorb_padding = [](const ir::NodeView&, const ir::Padding&) {
      return std::optional<ir::AttributeMap>();
    };
    ToyGraph toy;
    const ir::ValueId one = toy.Input({8});
    const ir::ValueId padded = probe.Add(toy, one, toy.Input(shape));
    toy.Output(probe.Add(toy, padded, one));
    EXPECT_EQ(probe.Compile(toy).ok(), shape.IsStatic());
    EXPECT_EQ(calls.all > 0, shape.ranked());
  }
}

// ------------------------------------------------------------------- lowering

#ifdef NDEBUG  // elsewhere a broken invariant aborts

using Change = std::function<void(ir::Lowering&)>;

// Of a probe of an input and a constant whose lowering was changed.
Result<ir::Plan> CompileLowering(const Change& change) {
  Probe probe;
  probe.kernel.lower =
      [change, lower = probe.kernel.lower](
          const ir::KernelProblem& problem, const ir::KernelNode& node,
          const ir::DeviceInfo& device) -> Result<ir::Lowering> {
    TIM_ASSIGN_OR_RETURN(ir::Lowering lowering, lower(problem, node, device));
    change(lowering);
    return lowering;
  };
  ToyGraph toy;
  toy.Output(probe.Add(toy, toy.Input({16}), toy.Constant({16}, 1)));
  return probe.Compile(toy);
}

ir::PackedConstant Packed(std::vector<int> sources, int64_t bytes = 64) {
  return {.id = "p",
          .sources = std::move(sources),
          .bytes = bytes,
          .pack = [](std::span<std::byte>) { return OkStatus(); }};
}

TEST(Lowering, AppliesAllFusedOperators) {
  Probe probe;
  probe.kernel.lower = [lower = probe.kernel.lower](
                           const ir::KernelProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
    Result<ir::Lowering> lowering = lower(problem, node, device);
    if (lowering.ok()) lowering->applied = 0;
    return lowering;
  };
  EXPECT_ERROR(CompileBumped(probe, true),
               "a lowering applies 0 of 1 fused operators");
  Probe alone;
  alone.kernel.lower = probe.kernel.lower;
  EXPECT_OK(CompileBumped(alone, false));
}

TEST(Lowering, IsTakenAsItIsWhereItNamesWhatIsThere) {
  EXPECT_OK(CompileLowering([](ir::Lowering& lowering) {
    lowering.scratch.push_back({.bytes = 0, .first = 0, .last = 0});
    lowering.packed.push_back(Packed({1}));
    lowering.in_place.push_back({.input = 1, .output = 0});
  }));
}

TEST(Lowering, HasStepsAndOperandsThatAreThere) {
  EXPECT_ERROR(
      CompileLowering([](ir::Lowering& lowering) { lowering.steps.clear(); }),
      "kernel probe: ");
  EXPECT_ERROR(
      CompileLowering([](ir::Lowering& lowering) { lowering.steps.clear(); }),
      "a lowering without steps");
  EXPECT_ERROR(CompileLowering([](ir::Lowering& lowering) {
                 lowering.steps[0].operands[0].index = 2;
               }),
               "a lowered step names operand 2 of 2");
  EXPECT_ERROR(CompileLowering([](ir::Lowering& lowering) {
                 lowering.steps[0].operands[0].kind =
                     ir::LoweredOperand::Kind::kScratch;
               }),
               "a lowered step names operand 0 of 0");
  EXPECT_ERROR(CompileLowering([](ir::Lowering& lowering) {
                 lowering.steps[0].written.pop_back();
               }),
               "a lowered step does not say what it writes");
}

TEST(Lowering, ScratchLivesWithinTheSteps) {
  for (const ir::ScratchSpec& scratch :
       {ir::ScratchSpec{-1, 0, 0}, ir::ScratchSpec{4, -1, 0},
        ir::ScratchSpec{4, 0, 1}, ir::ScratchSpec{4, 1, 0}}) {
    EXPECT_ERROR(CompileLowering([&](ir::Lowering& lowering) {
                   lowering.scratch.push_back(scratch);
                 }),
                 StrCat("scratch of ", scratch.bytes, " bytes from step ",
                        scratch.first, " to ", scratch.last, " of 1"));
  }
}

TEST(Lowering, IsPackedOfConstants) {
  const auto with = [](const ir::PackedConstant& packed) {
    return CompileLowering(
        [&](ir::Lowering& lowering) { lowering.packed.push_back(packed); });
  };
  for (const int source : {-1, 0, 2}) {
    EXPECT_ERROR(with(Packed({1, source})),
                 StrCat("is made of input ", source, ", which is no constant"));
  }
  EXPECT_ERROR(with(Packed({1}, -4)), "packed constant 'p' of -4 bytes");
  ir::PackedConstant empty = Packed({1});
  empty.pack = nullptr;
  EXPECT_ERROR(with(empty), "of 64 bytes without content");
}

TEST(Lowering, TakesThePlaceOfAnInputOfItsOwn) {
  for (const ir::InPlacePair& pair :
       {ir::InPlacePair{-1, 0}, ir::InPlacePair{2, 0}, ir::InPlacePair{0, 1},
        ir::InPlacePair{0, -1}}) {
    EXPECT_ERROR(CompileLowering([&](ir::Lowering& lowering) {
                   lowering.in_place.push_back(pair);
                 }),
                 StrCat("output ", pair.output, " in place of input ",
                        pair.input, " of 2 and 1"));
  }
}

#endif  // NDEBUG

}  // namespace
}  // namespace tim
