// What the properties need to know of an operator, said once per operator in
// tests/ops/<family>/<stem>_cases.cc:
//
//   TIM_CASES(softmax) {
//     cases.Add({.op = "tim.Softmax", .legal = LegalSoftmax, ...});
//   }
#ifndef TIM_TESTS_PROPERTIES_OPERATOR_CASES_H_
#define TIM_TESTS_PROPERTIES_OPERATOR_CASES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/properties/case_rng.h"
#include "tests/properties/node_case.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"

namespace tim::testing {

/// A node that Compile refuses with a message that contains `word`.
struct IllegalCase {
  NodeCase node;
  std::string word;
};

/// A call of a constructor of the public class, and the attributes that the
/// operation must have; those that are not named here have their defaults.
struct Shell {
  std::string call;  ///< "Softmax(0.5f, -1)"
  std::function<std::shared_ptr<vx::Operation>(vx::Graph&)> make;
  ir::AttributeMap attributes = {};
};

/// The constructor of Op for the given arguments.
template <typename Op, typename... Args>
Shell ShellOf(ir::AttributeMap attributes, Args... args) {
  return {Op::OpName(),
          [args...](vx::Graph& graph) -> std::shared_ptr<vx::Operation> {
            return graph.CreateOperation<Op>(args...);
          },
          std::move(attributes)};
}

enum class PermuteRule : uint8_t {
  kBarrier,   ///< The schema need not have one.
  kPartial,   ///< It must have one, which may refuse.
  kRequired,  ///< It answers for every permutation of an input (one of them).
};

struct OperatorCases {
  std::string op;  ///< "tim.Softmax"
  std::function<NodeCase(CaseRng&)> legal = nullptr;
  std::function<std::vector<IllegalCase>()> illegal = nullptr;
  /// Of float results against eval's, for kernels and permuted nodes; results
  /// of 16 bits may also be rounded to the other neighbour where it is not 0.
  Tolerance tolerance = {};
  /// Operations of the formula, and how far compute_estimate may be from it
  /// (1: equal; 2: at most twice or half as many).
  std::function<double(const NodeCase&)> flops = nullptr;
  double flops_factor = 1;
  std::vector<Shell> shells = {};
  PermuteRule permute_rule = PermuteRule::kBarrier;
};
/// Test names and messages: the operator.
void PrintTo(const OperatorCases& cases, std::ostream* out);

class CaseList {
 public:
  void Add(OperatorCases cases) { all_.push_back(std::move(cases)); }
  const std::vector<OperatorCases>& all() const { return all_; }

 private:
  std::vector<OperatorCases> all_;
};

/// The descriptions that the program is linked with, sorted by operator.
const std::vector<OperatorCases>& AllCases();

/// Registers a function that adds descriptions.
struct CaseRegistration {
  explicit CaseRegistration(void (*add)(CaseList&));
};

#define TIM_CASES(stem)                                         \
  static void AddCases_##stem(::tim::testing::CaseList& cases); \
  static const ::tim::testing::CaseRegistration kCases_##stem(  \
      AddCases_##stem);                                         \
  static void AddCases_##stem(::tim::testing::CaseList& cases)

/// Of results like `desc`: those of 16 bits may be rounded to either neighbour
/// where `tolerance` is not 0.
Tolerance ToleranceOf(const ir::TensorDesc& desc, Tolerance tolerance);

/// Operations of `per_element` for each element of output 0.
std::function<double(const NodeCase&)> FlopsPerElement(double per_element);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_OPERATOR_CASES_H_
