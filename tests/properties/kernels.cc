// Properties of kernels against eval.
#include <algorithm>

#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

// Large numbers of either sign in every type, so that what is read around an
// operand changes sums and extremes.
constexpr std::byte kGuards[] = {std::byte{0x7A}, std::byte{0xFA}};

bool IsOfManyKernels(const ir::TensorDesc& desc) {
  const bool bytes = ir::IsInteger(desc.type) && ir::Info(desc.type).bits == 8;
  return desc.type == ir::DataType::kFloat32 ||
         desc.type == ir::DataType::kFloat16 ||
         (bytes && !desc.quantization.per_channel());
}

bool NeedsKernel(const NodeCase& node) {
  for (const auto& input : node.inputs) {
    if (input && !IsOfManyKernels(*input)) return false;
  }
  return std::all_of(node.outputs.begin(), node.outputs.end(), IsOfManyKernels);
}

Status CompareAll(const std::vector<TensorData>& expected,
                  const std::vector<TensorData>& actual, Tolerance tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    TIM_RETURN_IF_ERROR(CompareTensors(expected[i], actual[i],
                                       ToleranceOf(expected[i].desc, tolerance))
                            .WithContext(StrCat("output ", i)));
  }
  return OkStatus();
}

Status SameBits(const std::vector<TensorData>& expected,
                const std::vector<TensorData>& actual, const char* because) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].bytes == actual[i].bytes) continue;
    return InvalidArgument("output ", i, because);
  }
  return OkStatus();
}

Status CheckKernel(const TestNode& node, const std::string& kernel, int layout,
                   const std::vector<TensorData>& inputs,
                   const std::vector<TensorData>& expected,
                   Tolerance tolerance) {
  std::vector<std::vector<TensorData>> results;
  for (const std::byte guard : kGuards) {
    TIM_ASSIGN_OR_RETURN(
        results.emplace_back(),
        RunKernel(node, kernel, layout, inputs, KernelRun{.guard = guard}));
  }
  TIM_RETURN_IF_ERROR(
      SameBits(results[0], results[1],
               " changes with what lies around the operands: the kernel reads "
               "outside of them"));
  return CompareAll(expected, results[0], tolerance);
}

// Calls check(kernel, layout) for everything that takes the node.
template <typename Check>
Status ForEachKernel(const TestNode& node, const Check& check) {
  for (const std::string& kernel : SupportedKernels(node)) {
    const int layouts = LayoutCount(node, kernel);
    if (layouts == 0) return InvalidArgument(kernel, " offers no layouts");
    for (int layout = 0; layout < layouts; ++layout) {
      TIM_RETURN_IF_ERROR(check(kernel, layout)
                              .WithContext(StrCat(kernel, " layout ", layout)));
    }
  }
  return OkStatus();
}

}  // namespace

Status KernelsAgree(const Described& described, const NodeCase& node,
                    CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  const auto inputs = CaseInputs(node, rng.engine());
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(made, inputs));
  const Tolerance tolerance = described.cases.tolerance;
  if (made.graph.node(made.node).schema->decompose) {
    const auto actual = RunCompiled(made, inputs);
    if (actual.status().code() == StatusCode::kUnimplemented &&
        !NeedsKernel(node)) {
      return OkStatus();  // Types that the body's kernels do not take.
    }
    TIM_RETURN_IF_ERROR(actual.status());
    return CompareAll(expected, *actual, tolerance).WithContext("compiled");
  }
  if (NeedsKernel(node) && SupportedKernels(made).empty()) {
    return Unimplemented("no kernel:\n", Refusals(made));
  }
  return ForEachKernel(made, [&](const std::string& kernel, int layout) {
    return CheckKernel(made, kernel, layout, inputs, expected, tolerance);
  });
}

Status InPlaceAgrees(const Described& described, const NodeCase& node,
                     CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  const auto inputs = CaseInputs(node, rng.engine());
  return ForEachKernel(
      made, [&](const std::string& kernel, int layout) -> Status {
        TIM_ASSIGN_OR_RETURN(const auto pairs,
                             InPlacePairs(made, kernel, layout));
        if (pairs.empty()) return OkStatus();
        TIM_ASSIGN_OR_RETURN(const auto expected,
                             RunKernel(made, kernel, layout, inputs));
        for (const ir::InPlacePair& pair : pairs) {
          TIM_ASSIGN_OR_RETURN(const auto actual,
                               RunKernel(made, kernel, layout, inputs,
                                         KernelRun{.in_place = pair}));
          TIM_RETURN_IF_ERROR(
              SameBits(expected, actual, " differs where it is in place")
                  .WithContext(StrCat("input ", pair.input)));
        }
        return OkStatus();
      });
}

}  // namespace tim::testing
