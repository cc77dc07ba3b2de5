// Hand-made plans over vectors of floats, for tests of devices and runtime.
#ifndef TIM_TESTS_SUPPORT_PLANS_PLAN_BUILDER_H_
#define TIM_TESTS_SUPPORT_PLANS_PLAN_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "ir/op_registry.h"
#include "ir/plan.h"
#include "tests/support/devices/empty_store.h"

namespace tim::testing {

/// Computes output 0 from input 0.
using FloatFunction =
    std::function<Status(std::span<const float> in, std::span<float> out)>;

/// A host call, called `name`, of a new operator in `operators`: one input and
/// one output, which `function` makes.
ir::HostCall EvalCall(ir::OpRegistry& operators, const std::string& name,
                      int64_t floats, FloatFunction function);

/// A launch of `function` in `text` over `floats` items: one argument per
/// operand, then the number of items as an int.
ir::KernelLaunch FloatLaunch(const std::string& text,
                             const std::string& function, int64_t floats,
                             int operands);

/// Every value is a vector of `floats` floats.  Slots are returned as numbers.
class PlanBuilder {
 public:
  PlanBuilder(std::vector<std::shared_ptr<device::Device>> devices,
              int64_t floats);

  int Input();
  int Output();
  int Temporary(int device);
  int Constant(int device, const std::vector<float>& values);
  /// Number of the state; its slots come from the next two.
  int State(int device);
  int ReadState(int state);
  int WriteState(int state);

  /// Each returns the number of its step.
  int Copy(int device, int from, int to, std::vector<int> waits = {});
  int Launch(int device, ir::Action launch, std::vector<int> operands,
             std::vector<int> waits = {});
  int Eval(int device, FloatFunction function, int from, int to,
           std::vector<int> waits = {});

  const std::vector<std::shared_ptr<device::Device>>& devices() const {
    return devices_;
  }
  int64_t floats() const { return floats_; }
  /// Those of the plan's host calls.
  std::shared_ptr<const ir::OpRegistry> operators() const { return operators_; }
  ir::Plan& plan() { return plan_; }

 private:
  int AddSlot(ir::SlotKind kind, int device, int index, int64_t offset = 0);
  int AddStep(int device, ir::Action action, std::vector<int> operands,
              int written, std::vector<int> waits);
  ir::PlanTensor Tensor(const std::string& name, size_t index) const;

  std::vector<std::shared_ptr<device::Device>> devices_;
  int64_t floats_;
  ir::Plan plan_;
  std::shared_ptr<ir::OpRegistry> operators_ =
      std::make_shared<ir::OpRegistry>();
  std::map<int, int> arena_of_device_;
};

/// A vector of floats.
ir::TensorDesc FloatDesc(int64_t floats);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_PLANS_PLAN_BUILDER_H_
