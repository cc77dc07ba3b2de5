// Golden cases: operator, operands and expected outputs that independent
// programs computed (tests/goldens/README.md says how and in which format).
#ifndef TIM_TESTS_SUPPORT_DATA_GOLDEN_H_
#define TIM_TESTS_SUPPORT_DATA_GOLDEN_H_

#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/kernels/kernel_runner.h"

namespace tim::testing {

struct Golden {
  std::string name;  ///< "conv2d_f32_1x1": unique.
  std::string op;    ///< "tim.Conv2d"
  ir::AttributeMap attributes;
  std::vector<std::optional<TensorData>> inputs;  ///< nullopt: absent.
  std::vector<bool> constant;                     ///< Per input.
  std::vector<TensorData> outputs;  ///< Expected; bytes in the desc's layout.
  std::vector<bool> declared;       ///< Per output: the user gives its shape.
  Tolerance tolerance;

  /// The present inputs that are not constant, in order.
  std::vector<TensorData> VariableInputs() const;
};
/// Test names and messages: the name alone.
void PrintTo(const Golden& golden, std::ostream* out);

/// tests/goldens, from the working directory (both builds), the runfiles, or
/// the source tree that TIMCL_SOURCE_ROOT names.
Result<std::string> GoldensFolder();

/// The signatures of host_steps.txt: what has no kernel and runs on the host.
const std::set<std::string>& HostSteps();

/// types.txt: by operator ("tim.Add") the combinations of types that its
/// goldens must contain ("u8a,f32>u8a").
std::map<std::string, std::vector<std::string>> GoldenTypes();

/// The cases of one folder (cases.txt, cases.bin).
Result<std::vector<Golden>> LoadGoldens(const std::string& folder);
/// The cases of every folder, in order of names.
Result<std::vector<Golden>> LoadAllGoldens();

/// The operator with its operands, inferred and checked.
Result<TestNode> MakeNode(const Golden& golden);

/// A type and its kind of quantization, short: "f32", "u8a" (scale and zero
/// point), "i8d" (fixed point), "i8pc" (per channel), "i32" (plain).
std::string TypeToken(const ir::TensorDesc& desc);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DATA_GOLDEN_H_
