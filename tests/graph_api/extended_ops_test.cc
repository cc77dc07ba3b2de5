// Operations of an application's own: registered, found, partitioned with those
// of the library, and run by kernel, decomposition and on the host.
#include "graph_api/extended_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "graph_api/compiled_partition.h"
#include "tests/graph_api/fancy_norm.h"
#include "tim/graph/extension.hpp"

namespace tim::graph {
namespace {

using lt = logical_tensor;
using dt = lt::data_type;
using layout = lt::layout_type;
using ::testing::AllOf;
using testing::DecomposeFancyNorm;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::FancyNorm;
using testing::FancyNormKernel;
using testing::FancyNormOnHost;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Operations that have a host reference alone run there, beside a device too.
const int kIsLenient = setenv("TIMCL_STRICT", "0", 1);

lt F32(size_t id, const lt::dims& dims) {
  return lt(id, dt::f32, dims, layout::strided);
}

std::string CodeAndText(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& failure) {
    return std::string(tim_graph_status2str(failure.status)) + ": " +
           failure.what();
  }
  return "success";
}

// relu, the kind, relu over {2, last}: one partition, run and compared.
void ExpectRuns(op::kind kind, int64_t last) {
  const engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  const lt x = F32(0, {2, last}), a = F32(1, {2, last}), b = F32(2, {2, last}),
           y = F32(3, {2, last});
  graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::ReLU, {x}, {a}));
  op own(1, kind, {a}, {b});
  own.set_attr("epsilon", 0.5f);
  g.add_op(own);
  g.add_op(op(2, op::kind::ReLU, {b}, {y}));
  g.finalize();
  const std::vector<partition> parts = g.get_partitions();
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_TRUE(parts[0].is_supported());
  const compiled_partition compiled = parts[0].compile({x}, {y}, eng);
  std::vector<float> in, out(static_cast<size_t>(2 * last), -1);
  for (int i = 0; i < 2 * last; ++i) {
    in.push_back(static_cast<float>(i % 7) - 2.0F);
  }
  compiled.execute(strm, {tensor(x, eng, in.data())},
                   {tensor(y, eng, out.data())});
  strm.wait();
  for (int64_t r = 0; r < 2; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < last; ++i) {
      const double v = std::max(in[static_cast<size_t>(r * last + i)], 0.0F);
      sum += v * v;
    }
    const double root = std::sqrt(sum / static_cast<double>(last) + 0.5);
    for (int64_t i = 0; i < last; ++i) {
      const auto at = static_cast<size_t>(r * last + i);
      EXPECT_NEAR(out[at], std::max(in[at], 0.0F) / root, 1e-5) << at;
    }
  }
}

bool HasOpenCl() {
  return std::string(query_support(op(0, op::kind::ReLU, {F32(0, {2, 3})},
                                      {F32(1, {2, 3})}),
                                   engine::kind::cpu)
                         .device)
             .rfind("opencl", 0) == 0;
}

std::string DeviceOf(op::kind kind, int64_t last) {
  const op_support answer = query_support(
      op(0, kind, {F32(0, {2, last})}, {F32(1, {2, last})}), engine::kind::cpu);
  EXPECT_TRUE(answer.supported) << answer.reason;
  return answer.device;
}

// Kernels of the plan of one op, "host" for steps of the host.
std::vector<std::string> KernelsOf(op::kind kind, int64_t last) {
  const engine eng(engine::kind::cpu, 0);
  const lt x = F32(0, {2, last}), y = F32(1, {2, last});
  const compiled_partition compiled =
      partition(op(0, kind, {x}, {y}), engine::kind::cpu)
          .compile({x}, {y}, eng);
  const auto plan = compiled.get()->compiled->plan();
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  std::vector<std::string> kernels;
  for (const ir::Step& step : (*plan)->plan().steps) {
    kernels.push_back(step.device == 0 ? "host" : step.kernel);
  }
  return kernels;
}

TEST(ExtendedOps, AreFoundByDomainNameAndVersion) {
  op_definition definition = FancyNorm("Found");
  definition.host = FancyNormOnHost;
  definition.version = 2;
  const op::kind second = register_op(definition);
  definition.version = 1;
  const op::kind first = register_op(definition);
  EXPECT_GE(static_cast<int>(second), 0x10000);
  EXPECT_NE(first, second);
  EXPECT_EQ(find_op("demo", "Found"), second);
  EXPECT_EQ(find_op("demo", "Found", 1), first);
  EXPECT_EQ(find_op("demo", "Found", 3), op::kind::LastSymbol);
  EXPECT_EQ(find_op("demos", "Found"), op::kind::LastSymbol);
  EXPECT_EQ(find_op("demo", "Foun"), op::kind::LastSymbol);
  ASSERT_NE(FindOpNamed("demo.Found"), nullptr);
  EXPECT_EQ(FindOpNamed("demo.Found")->name, "demo.Found@2");
  EXPECT_EQ(FindOpNamed("demo.Found@1")->name, "demo.Found@1");
  EXPECT_EQ(FindOpNamed("demo.Found@9"), nullptr);
  EXPECT_EQ(FindOpNamed("ReLU")->name, "ReLU");
}

TEST(ExtendedOps, RunOnTheHost) {
  ASSERT_EQ(kIsLenient, 0);
  op_definition definition = FancyNorm("OnHost");
  definition.host = FancyNormOnHost;
  const op::kind kind = register_op(definition);
  ExpectRuns(kind, 4);
  EXPECT_EQ(DeviceOf(kind, 4), "host");
}

TEST(ExtendedOps, RunByDecomposition) {
  op_definition definition = FancyNorm("Composed");
  definition.infer_shapes = nullptr;
  definition.decompose = DecomposeFancyNorm;
  ExpectRuns(register_op(definition), 4);
}

TEST(ExtendedOps, RunByKernelAndWhereItIsRefusedByDecomposition) {
  op_definition definition = FancyNorm("FancyNorm");
  definition.decompose = DecomposeFancyNorm;
  definition.kernel = FancyNormKernel();
  // Asked on devices where no kernel is taken.
  definition.host = [](host_context& context) {
    return context.fail(status::runtime_error, "the host was asked");
  };
  const op::kind kind = register_op(definition);
  ExpectRuns(kind, 4);
  ExpectRuns(kind, 5);
  ASSERT_EQ(find_op("demo", "FancyNorm"), kind);
  if (!HasOpenCl()) GTEST_SKIP() << "no OpenCL device runs the kernel";
  EXPECT_THAT(KernelsOf(kind, 4), ElementsAre("demo.FancyNorm@1"));
  EXPECT_THAT(KernelsOf(kind, 5),
              AllOf(SizeIs(::testing::Gt(0u)),
                    Each(AllOf(Not(HasSubstr("FancyNorm")), Not("host")))));
}

TEST(ExtendedOps, AHostReferenceTakesWhatADecompositionDoesNot) {
  op_definition definition = FancyNorm("Partly");
  definition.decompose = [](build_context& context) {
    return context.fail(status::unimplemented, "never");
  };
  definition.host = FancyNormOnHost;
  ExpectRuns(register_op(definition), 4);
}

TEST(ExtendedOps, AKernelAloneNeedsADevice) {
  op_definition definition = FancyNorm("KernelOnly");
  definition.kernel = FancyNormKernel();
  const op::kind kind = register_op(definition);
  const op five(0, kind, {F32(0, {2, 5})}, {F32(1, {2, 5})});
  const op_support refused = query_support(five, engine::kind::cpu);
  EXPECT_FALSE(refused.supported);
  EXPECT_FALSE(partition(five, engine::kind::cpu).is_supported());
  if (!HasOpenCl()) {
    GTEST_SKIP() << "no OpenCL device runs the kernel";
  }
  EXPECT_THAT(refused.reason, HasSubstr("no axis of 5"));
  ExpectRuns(kind, 4);
  EXPECT_THAT(DeviceOf(kind, 4), StartsWith("opencl: "));
}

TEST(ExtendedOps, ArePartsOfLaterOnes) {
  op_definition inner = FancyNorm("Inner");
  inner.host = FancyNormOnHost;
  const op::kind kind = register_op(inner);
  op_definition outer = FancyNorm("Outer");
  outer.decompose = [kind](build_context& context) {
    op part(0, kind, {context.input(0)}, {context.output(0)});
    part.set_attr("epsilon", context.get_attr<float>("epsilon"));
    context.add_op(part);
    return status::success;
  };
  ExpectRuns(register_op(outer), 4);
  op_definition itself = FancyNorm("Itself");
  itself.decompose = [](build_context& context) {
    context.add_op(op(0, find_op("demo", "Itself"), {context.input(0)},
                      {context.output(0)}));
    return status::success;
  };
  const op::kind loop = register_op(itself);
  const lt x = F32(0, {2, 4}), y = F32(1, {2, 4});
  const engine eng(engine::kind::cpu, 0);
  EXPECT_THAT(CodeAndText([&] {
                partition(op(0, loop, {x}, {y}), engine::kind::cpu)
                    .compile({x}, {y}, eng);
              }),
              HasSubstr("registered no earlier than demo.Itself@1"));
}

TEST(ExtendedOps, AreCheckedLikeOthers) {
  op_definition definition = FancyNorm("Checked");
  definition.attributes.push_back(
      {"mode", attribute_type::string, false, "fast", {"fast", "exact"}});
  definition.attributes.push_back(
      {"sizes", attribute_type::s64_list, true, {}, {}});
  definition.host = FancyNormOnHost;
  const op::kind kind = register_op(definition);
  const lt x = F32(0, {2, 4}), y = F32(1, {2, 4});
  const auto made = [&] {
    op one(7, kind, {x}, {y});
    one.set_attr("sizes", 3);
    return one;
  };
  const auto refusal = [](const op& one) {
    return CodeAndText([&] { partition(one, engine::kind::cpu); });
  };
  EXPECT_EQ(refusal(made()), "success");
  EXPECT_EQ(refusal(made().set_attr(op::attr::sizes, lt::dims{1, 2})),
            "success");
  EXPECT_THAT(refusal(op(7, kind, {x}, {y})),
              HasSubstr("attribute 'sizes' is required"));
  EXPECT_THAT(refusal(made().set_attr("mode", "slow")),
              HasSubstr("'slow', expected one of 'fast', 'exact'"));
  EXPECT_THAT(refusal(made().set_attr("epsilon", "x")),
              HasSubstr("is a string, expected a float"));
  EXPECT_THAT(refusal(made().set_attr("other", 1)),
              HasSubstr("attribute 'other' is not one that the kind has"));
  const std::string arity = refusal(op(7, kind, {x, x}, {y}));
  EXPECT_THAT(arity, StartsWith("invalid_graph_op"));
  EXPECT_THAT(arity, HasSubstr("demo.Checked@1: expected 1 input"));
  const lt half(2, dt::f16, {2, 4}, layout::strided);
  EXPECT_THAT(refusal(op(7, kind, {half}, {y})), HasSubstr("expected f32"));
  // By name, of a kind of the library.
  op leaky(8, op::kind::LeakyReLU, {x}, {y});
  leaky.set_attr("alpha", 0.5f);
  EXPECT_EQ(refusal(leaky), "success");
  leaky.set_attr("beta", 0.5f);
  EXPECT_THAT(refusal(leaky), HasSubstr("'beta' is not one"));
}

TEST(ExtendedOps, ShapesAndThrownErrorsAreTold) {
  op_definition definition = FancyNorm("Thrower");
  definition.host = [](host_context&) -> status {
    throw std::runtime_error("the host gives up");
  };
  const op::kind kind = register_op(definition);
  const engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  const lt x = F32(0, {2, 4}), y = F32(1, {2, 4});
  const lt scalar(0, dt::f32, lt::dims{}, layout::strided);
  const lt any(1, dt::f32, -1, layout::strided);
  EXPECT_THAT(CodeAndText([&] {
                partition(op(0, kind, {scalar}, {any}), engine::kind::cpu)
                    .compile({scalar}, {any}, eng);
              }),
              HasSubstr("a scalar has no last axis"));
  const compiled_partition compiled =
      partition(op(0, kind, {x}, {y}), engine::kind::cpu)
          .compile({x}, {y}, eng);
  std::vector<float> data(8, 1);
  const std::string text = CodeAndText([&] {
    compiled.execute(strm, {tensor(x, eng, data.data())},
                     {tensor(y, eng, data.data())});
    strm.wait();
  });
  EXPECT_THAT(text, StartsWith("runtime_error"));
  EXPECT_THAT(text, HasSubstr("the host gives up"));
}

TEST(ExtendedOps, ExpressionsAreOperations) {
  const op::kind kind = register_expression(
      "demo", "Scaled",
      "op scaled(X) -> (O) attr (float s = 2.0) { O = X * s; }");
  const lt x = F32(0, {3}), y = F32(1, {3});
  op one(0, kind, {x}, {y});
  one.set_attr("s", 3.0f);
  const engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  const compiled_partition compiled =
      partition(one, engine::kind::cpu).compile({x}, {y}, eng);
  std::vector<float> in = {1, 2, 3}, out(3);
  compiled.execute(strm, {tensor(x, eng, in.data())},
                   {tensor(y, eng, out.data())});
  strm.wait();
  EXPECT_EQ(out, (std::vector<float>{3, 6, 9}));
  const lt half(1, dt::f16, {3}, layout::strided);
  EXPECT_THAT(CodeAndText([&] {
                partition(op(0, kind, {x}, {half}), engine::kind::cpu);
              }),
              HasSubstr("the expression gives float32"));
  EXPECT_THAT(
      CodeAndText([] { register_expression("demo", "Bad", "O[i] = +(A[i)"); }),
      HasSubstr("invalid_arguments"));
}

TEST(ExtendedOps, DefinitionsAreChecked) {
  const auto refusal = [](const std::function<void(op_definition*)>& change) {
    op_definition definition = FancyNorm("Wrong");
    definition.host = FancyNormOnHost;
    change(&definition);
    return CodeAndText([&] { register_op(definition); });
  };
  const struct {
    std::function<void(op_definition*)> change;
    const char* text;
  } cases[] = {
      {[](op_definition* d) { d->domain = "tim"; }, "the library's own"},
      {[](op_definition* d) { d->domain = ""; }, "domain is ''"},
      {[](op_definition* d) { d->name = "9"; }, "the name is '9'"},
      {[](op_definition* d) { d->version = 0; }, "the version is 0"},
      {[](op_definition* d) { d->host = nullptr; }, "nothing that computes it"},
      {[](op_definition* d) { d->infer_shapes = nullptr; },
       "infer_shapes is missing"},
      {[](op_definition* d) { d->inputs.clear(), d->same_types.clear(); },
       "there is no input"},
      {[](op_definition* d) { d->outputs.clear(), d->same_types.clear(); },
       "there is no required output"},
      {[](op_definition* d) {
         d->outputs[0].name = "x", d->same_types.clear();
       },
       "'x'"},
      {[](op_definition* d) { d->inputs[0].types = {dt::s4}; }, "the type s4"},
      {[](op_definition* d) { d->same_types[0][1] = "z"; }, "no operand"},
      {[](op_definition* d) { d->same_types[0][1] = "x"; }, "'x' twice"},
      {[](op_definition* d) { d->outputs[0].types = {dt::f16}; },
       "equal lists of types"},
      {[](op_definition* d) {
         d->inputs = {{"o", {}, true}, {"x", {dt::f32}, false}};
       },
       "which is optional"},
      {[](op_definition* d) { d->attributes[0].default_value = 1; },
       "an integer for a default, expected a float"},
      {[](op_definition* d) { d->attributes[0].default_value = {}; },
       "no default"},
      {[](op_definition* d) { d->attributes[0].required = true; },
       "is required and has a default"},
      {[](op_definition* d) { d->attributes[0].choices = {"a"}; },
       "strings alone have"},
      {[](op_definition* d) { d->attributes.push_back(d->attributes[0]); },
       "two attributes are called 'epsilon'"},
      {[](op_definition* d) { d->kernel.source = "x"; },
       "the kernel's function is ''"},
      {[](op_definition* d) { d->expression = "O = A;"; },
       "give it without them"}};
  for (const auto& one : cases) {
    const std::string text = refusal(one.change);
    EXPECT_THAT(text, StartsWith("invalid_arguments")) << one.text;
    EXPECT_THAT(text, HasSubstr(one.text));
  }
  EXPECT_EQ(find_op("demo", "Wrong"), op::kind::LastSymbol);
  EXPECT_EQ(refusal([](op_definition*) {}), "success");
  EXPECT_THAT(refusal([](op_definition*) {}), HasSubstr("registered already"));
}

}  // namespace
}  // namespace tim::graph
