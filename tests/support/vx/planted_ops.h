// Custom operators with a mistake each, for the check of custom operators to
// find: C++14 over the SDK alone.
#ifndef TIM_TESTS_SUPPORT_VX_PLANTED_OPS_H_
#define TIM_TESTS_SUPPORT_VX_PLANTED_OPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tim/vx/custom_op_check.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops/custom_base.h"

namespace planted {

/// An operator on one FLOAT32 tensor, which keeps its shape.
struct Fault {
  const char* name;
  tim::vx::check::FaultKind kind;  ///< That is to be found.
  /// Operator of `__kernel void f(__global const float* x, __global float* y,
  /// ...)`.
  const char* source;
  /// Work-items for `elements`.
  std::size_t (*items)(std::size_t elements);
  std::size_t local;  ///< Size of a work-group; 0: open.
  /// Which element of x, or the sum of which, y[i] is; see Reference().
  enum class Rule { kDouble, kDifference, kCopy, kPairs } rule;
  enum class Scalars { kNone, kShape, kFactor } scalars;
};

inline std::size_t Each(std::size_t elements) { return elements; }
inline std::size_t RoundedUp(std::size_t elements) {
  return (elements + 7) / 8 * 8;
}
inline std::size_t InFours(std::size_t elements) {
  return elements < 4 ? 1 : elements / 4;
}

inline const std::vector<Fault>& Faults() {
  using tim::vx::check::FaultKind;
  static const std::vector<Fault> faults = {
      // The global size is rounded up, and nobody tests the index.
      {"WritesOutside", FaultKind::kWritesOutside, R"(
__kernel void f(__global const float* x, __global float* y) {
  const size_t i = get_global_id(0);
  y[i] = 2 * x[i];
})",
       RoundedUp, 0, Fault::Rule::kDouble, Fault::Scalars::kNone},
      // The last element has none behind it.
      {"ReadsOutside", FaultKind::kReadsOutside, R"(
__kernel void f(__global const float* x, __global float* y) {
  const size_t i = get_global_id(0);
  y[i] = x[i + 1] - x[i];
})",
       Each, 0, Fault::Rule::kDifference, Fault::Scalars::kNone},
      // Four elements an item, and none for the rest.
      {"UnwrittenTail", FaultKind::kUnwritten, R"(
__kernel void f(__global const float* x, __global float* y, int count) {
  const size_t first = 4 * get_global_id(0);
  for (int i = 0; i < 4 && first + i < count; ++i) {
    y[first + i] = 2 * x[first + i];
  }
})",
       InFours, 0, Fault::Rule::kDouble, Fault::Scalars::kShape},
      // No barrier between the writes to `tile` and the reads: right as long
      // as a group has one item.
      {"Race", FaultKind::kWrongValue, R"(
__kernel void f(__global const float* x, __global float* y, int count) {
  __local float tile[257];
  const int item = get_local_id(0);
  const int i = get_global_id(0);
  const int items = get_local_size(0);
  tile[item] = x[i];
  float next = 0;
  if (i + 1 < count) next = item + 1 < items ? tile[item + 1] : x[i + 1];
  y[i] = tile[item] + next;
  tile[item] = 0;
})",
       Each, 1, Fault::Rule::kPairs, Fault::Scalars::kShape},
      // Rows are taken for columns: right where both are as many.
      {"SwappedAxis", FaultKind::kWrongValue, R"(
__kernel void f(__global const float* x, __global float* y, int count,
                int width) {
  const int i = get_global_id(0);
  const int height = count / width;
  y[i / width + height * (i % width)] = x[i];
})",
       Each, 0, Fault::Rule::kCopy, Fault::Scalars::kShape},
      // The scalar is 2.5.
      {"WrongScalar", FaultKind::kWrongValue, R"(
__kernel void f(__global const float* x, __global float* y, float factor) {
  const size_t i = get_global_id(0);
  y[i] = factor * x[i];
})",
       Each, 0, Fault::Rule::kDouble, Fault::Scalars::kFactor},
  };
  return faults;
}

class Op : public tim::vx::ops::CustomOpBase {
 public:
  Op(tim::vx::Graph* graph, const Fault* fault)
      : CustomOpBase(graph, 1, 1, -1, fault->name), fault_(fault) {
    kernel_resource_ = fault->source;
  }
  std::shared_ptr<tim::vx::Operation> Clone(
      std::shared_ptr<tim::vx::Graph>& graph) const override {
    return graph->CreateOperation<Op>(fault_);
  }

 protected:
  void SetupShapeInfor() override { outputs_size_[0] = inputs_size_[0]; }
  void SetupParams(std::vector<tim::vx::DataType>, std::string&) override {
    func_name_ = "f";
    const int count = static_cast<int>(InputSpec(0).GetElementNum());
    const int width = static_cast<int>(inputs_size_[0][0]);
    const bool swaps = std::string(fault_->name) == "SwappedAxis";
    if (fault_->scalars == Fault::Scalars::kFactor) {
      tim::vx::ops::param_transform(std::make_tuple(2.5f), param_list_);
    } else if (swaps) {
      tim::vx::ops::param_transform(std::make_tuple(count, width), param_list_);
    } else if (fault_->scalars == Fault::Scalars::kShape) {
      tim::vx::ops::param_transform(std::make_tuple(count), param_list_);
    }
  }
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& global,
                    std::vector<size_t>& local) override {
    dim = 1;
    global[0] =
        fault_->items(static_cast<size_t>(InputSpec(0).GetElementNum()));
    local[0] = fault_->local;
  }

 private:
  const Fault* fault_;
};

inline void Reference(Fault::Rule rule, const float* x, float* y,
                      std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float next = i + 1 < count ? x[i + 1] : 0;
    if (rule == Fault::Rule::kDouble) y[i] = 2 * x[i];
    if (rule == Fault::Rule::kDifference) y[i] = next - x[i];
    if (rule == Fault::Rule::kCopy) y[i] = x[i];
    if (rule == Fault::Rule::kPairs) y[i] = x[i] + next;
  }
}

/// Description of its check.
inline tim::vx::check::CheckedOperator Checked(const Fault& fault) {
  using namespace tim::vx;
  check::CheckedOperator checked;
  const Fault* const planted = &fault;
  checked.create = [planted](Graph* graph, const check::Operands&) {
    return graph->CreateOperation<Op>(planted);
  };
  checked.inputs.resize(1);
  checked.inputs[0].most_rank = 2;
  checked.inputs[0].least_value = 1;
  checked.outputs.resize(1);
  checked.reference = [planted](const std::vector<ops::HostInput>& inputs,
                                const std::vector<ops::HostOutput>& outputs) {
    Reference(planted->rule, inputs[0].Data<float>(), outputs[0].Data<float>(),
              static_cast<std::size_t>(outputs[0].spec.GetElementNum()));
  };
  return checked;
}

/// Options with which it is found.
inline tim::vx::check::CheckOptions Options() {
  tim::vx::check::CheckOptions options;
  options.local_sizes = tim::vx::check::LocalSizes::kAll;
  return options;
}

}  // namespace planted

#endif  // TIM_TESTS_SUPPORT_VX_PLANTED_OPS_H_
