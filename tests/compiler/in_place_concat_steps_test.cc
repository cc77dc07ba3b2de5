// Operators other than Concat whose inputs may be made in their output.
#include <gtest/gtest.h>

#include <variant>

#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using ir::LoweredStep;
using testing::CountKernels;
using testing::ToyGraph;
using testing::ToyOperators;
using Kind = ir::LoweredOperand::Kind;

constexpr int64_t kFloats = 16;  // an input has a cache line

// A launch that reads all of its operands but the last.
LoweredStep Step(const std::string& function,
                 std::vector<ir::LoweredOperand> operands) {
  ir::KernelLaunch launch;
  launch.source = "toy.cl";
  launch.function = function;
  LoweredStep step;
  for (size_t i = 0; i < operands.size(); ++i) {
    launch.arguments.emplace_back(
        ir::TensorArg{.operand = static_cast<int>(i)});
    step.written.push_back(i + 1 == operands.size());
  }
  step.operands = std::move(operands);
  step.action = launch;
  return step;
}

// toy.Glue: two inputs behind one another.  Its kernel is made of `steps`,
// with a scratch of 1 KiB from step `first` to step `last`.
class Glue {
 public:
  Glue(const std::vector<LoweredStep>& steps, int first, int last) {
    ir::OpSchema schema = *ToyOperators().Find("toy.Sum");
    schema.name = "Glue";
    schema.infer_shapes = [](ir::InferContext& context) {
      context.outputs[0].desc.type = context.inputs[0].desc->type;
      context.outputs[0].desc.shape = ir::Shape({2 * kFloats});
      return OkStatus();
    };
    schema.in_place_offsets = [](const ir::NodeView&) {
      return ir::InPlaceOffsets{.inputs = {0, 4 * kFloats}};
    };
    registry_.Add(schema);
    ir::KernelDef kernel = *ToyOperators().Kernels("toy.Sum", "opencl")[0];
    kernel.op = "toy.Glue";
    kernel.name = "glue";
    kernel.lower = [=](const ir::KernelProblem&, const ir::KernelNode&,
                       const ir::DeviceInfo&) {
      ir::Lowering lowering;
      lowering.steps = steps;
      lowering.scratch = {{.bytes = 1024, .first = first, .last = last}};
      return Result<ir::Lowering>(lowering);
    };
    registry_.Add(kernel);
  }

  ir::OpRegistry& registry() { return registry_; }

  /// twice(glue(<producer>(x), <producer>(x)))
  Result<ir::Plan> Compile(const std::string& producer = "Twice") const {
    ToyGraph toy;
    const ir::ValueId x = toy.Input({kFloats});
    const ir::ValueId y =
        toy.Op("Glue", {toy.Op("Bump", {x}), toy.Op("Bump", {x})});
    toy.Output(toy.Op("Twice", {y}));
    for (const ir::NodeId id : toy.graph().NodeIds()) {
      ir::Node& node = toy.graph().node(id);
      if (node.name.starts_with("Glue")) {
        node.schema = registry_.Find("toy.Glue");
      } else if (node.name.starts_with("Bump")) {
        node.schema = registry_.Find("toy." + producer);
      }
    }
    return compiler::Compile(toy.graph(), registry_, testing::ToyOptions());
  }

 private:
  ir::OpRegistry registry_{&ToyOperators()};
};

LoweredStep CopyOf(int input) {
  return Step("copy", {{Kind::kInput, input}, {Kind::kOutput, 0}});
}
LoweredStep Tail() {
  return Step("tail", {{Kind::kScratch, 0}, {Kind::kOutput, 0}});
}

// Of the step with this function: its `operand`.
const ir::Slot& SlotOf(const ir::Plan& plan, const std::string& function,
                       int operand) {
  for (const ir::Step& step : plan.steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    if (launch != nullptr && launch->function == function) {
      return plan.slots[step.operands[operand]];
    }
  }
  static const ir::Slot kNothing;
  ADD_FAILURE() << "no step " << function;
  return kNothing;
}

TEST(InPlaceConcatSteps, CopiesGoAndScratchOfTheOthersStays) {
  const Glue glue({CopyOf(0), CopyOf(1), Tail()}, 1, 2);
  const Result<ir::Plan> plan = glue.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "copy"), 0);
  ASSERT_EQ(CountKernels(*plan, "tail"), 1);
  EXPECT_EQ(SlotOf(*plan, "tail", 0).bytes, 1024);
  EXPECT_EQ(SlotOf(*plan, "tail", 1).bytes, 2 * 4 * kFloats);
  EXPECT_NE(SlotOf(*plan, "tail", 0).allocation,
            SlotOf(*plan, "tail", 1).allocation);
}

TEST(InPlaceConcatSteps, ScratchThatOnlyCopiesSpanNeedsNoMemory) {
  const Glue glue({CopyOf(0), CopyOf(1)}, 0, 1);
  const Result<ir::Plan> plan = glue.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "copy"), 0);
  EXPECT_LT(plan->arenas[1].bytes, 1024);
}

TEST(InPlaceConcatSteps, OneStepMayCopyThemAll) {
  const Glue glue(
      {Step("copy", {{Kind::kInput, 0}, {Kind::kInput, 1}, {Kind::kOutput, 0}}),
       Tail()},
      1, 1);
  const Result<ir::Plan> plan = glue.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "copy"), 0);
  EXPECT_EQ(CountKernels(*plan, "tail"), 1);
}

// Were its input in the output, it would read what the copy has not written.
TEST(InPlaceConcatSteps, AStepThatDoesMoreKeepsItsInputsWhereTheyAre) {
  const Glue glue({Step("sum", {{Kind::kInput, 0}, {Kind::kScratch, 0}}),
                   CopyOf(0), CopyOf(1), Tail()},
                  0, 3);
  const Result<ir::Plan> plan = glue.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "sum"), 1);
  EXPECT_EQ(CountKernels(*plan, "copy"), 1) << "of input 0";
  EXPECT_NE(SlotOf(*plan, "copy", 0).allocation,
            SlotOf(*plan, "copy", 1).allocation);
}

// As the second step must stay, the first one must, too.
TEST(InPlaceConcatSteps, InputsOfOneStepLieThereTogetherOrNotAtAll) {
  const Glue glue(
      {Step("copy", {{Kind::kInput, 0}, {Kind::kInput, 1}, {Kind::kOutput, 0}}),
       Step("sum", {{Kind::kInput, 1}, {Kind::kScratch, 0}}), Tail()},
      1, 2);
  const Result<ir::Plan> plan = glue.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "copy"), 1);
  EXPECT_EQ(CountKernels(*plan, "sum"), 1);
}

// Adds toy.<name>: Twice, but for what `change` does to its schema.
template <typename Change>
void AddTwice(ir::OpRegistry& registry, const std::string& name,
              Change change) {
  ir::OpSchema schema = *ToyOperators().Find("toy.Twice");
  schema.name = name;
  change(schema);
  registry.Add(schema);
  ir::KernelDef kernel = *ToyOperators().Kernels("toy.Twice", "opencl")[0];
  kernel.op = "toy." + name;
  kernel.name = name;
  registry.Add(kernel);
}

TEST(InPlaceConcatSteps, UsersKernelsWriteAlignedMemory) {
  Glue glue({CopyOf(0), CopyOf(1), Tail()}, 2, 2);
  AddTwice(glue.registry(), "Users",
           [](ir::OpSchema& schema) { schema.user_kernel = true; });
  const Result<ir::Plan> plan = glue.Compile("Users");
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "copy"), 2);
}

TEST(InPlaceConcatSteps, AnOperatorWithoutEvalIsNoUsersKernel) {
  Glue glue({CopyOf(0), CopyOf(1), Tail()}, 2, 2);
  AddTwice(glue.registry(), "Opaque",
           [](ir::OpSchema& schema) { schema.eval = nullptr; });
  const Result<ir::Plan> plan = glue.Compile("Opaque");
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "copy"), 0);
}

// The reason why nothing runs toy.<name> where only the host is there.
std::string RefusalOnTheHost(const std::string& name, bool user_kernel) {
  ir::OpRegistry registry(&ToyOperators());
  AddTwice(registry, name, [&](ir::OpSchema& schema) {
    schema.eval = nullptr;
    schema.user_kernel = user_kernel;
  });
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input({4})}));
  toy.graph().node(0).schema = registry.Find("toy." + name);
  compiler::CompileOptions options = testing::ToyOptions();
  options.devices.resize(1);
  return compiler::Compile(toy.graph(), registry, options).status().message();
}

TEST(InPlaceConcatSteps, RefusalsTellUsersKernelsFromOperatorsWithoutEval) {
  EXPECT_NE(RefusalOnTheHost("Users", true).find("a user's kernel"),
            std::string::npos);
  const std::string opaque = RefusalOnTheHost("Opaque", false);
  EXPECT_NE(opaque.find("no host reference"), std::string::npos) << opaque;
}

}  // namespace
}  // namespace tim
