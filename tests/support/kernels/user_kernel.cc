#include "tests/support/kernels/user_kernel.h"

#include <algorithm>
#include <utility>

#include "tests/support/kernels/test_launcher.h"

namespace tim::testing {

UserKernel::UserKernel(const std::string& text, const std::string& function) {
  launch_.text = text;
  launch_.name = "user.Test#1";
  launch_.function = function;
}

UserKernel& UserKernel::Out(ir::DataType type, std::vector<int64_t> dims) {
  int64_t bits = ir::Info(type).bits;
  for (const int64_t dim : dims) bits *= dim;
  std::vector<std::byte> bytes(static_cast<size_t>((bits + 7) / 8),
                               std::byte{0xAA});
  return Add(type, std::move(dims), std::move(bytes), true);
}

UserKernel& UserKernel::Add(ir::DataType type, std::vector<int64_t> dims,
                            std::vector<std::byte> bytes, bool written) {
  const auto index = std::count(written_.begin(), written_.end(), written);
  launch_.arguments.emplace_back(
      ir::UserTensorArg{.operand = static_cast<int>(operands_.size()),
                        .type = type,
                        .dims = std::move(dims),
                        .written = written,
                        .name = StrCat(written ? "output " : "input ", index)});
  operands_.push_back(std::move(bytes));
  written_.push_back(written);
  return *this;
}

UserKernel& UserKernel::Scalar(std::variant<int64_t, uint64_t, double> value,
                               const std::string& type) {
  launch_.arguments.emplace_back(
      ir::UserScalarArg{value, type, StrCat("scalar ", scalars_++)});
  return *this;
}

UserKernel& UserKernel::Options(const std::string& options) {
  launch_.options = options;
  return *this;
}

UserKernel& UserKernel::Sizes(const std::vector<int64_t>& global,
                              const std::vector<int64_t>& local) {
  launch_.range.dimensions = static_cast<int>(global.size());
  std::copy(global.begin(), global.end(), launch_.range.global.begin());
  std::copy(local.begin(), local.end(), launch_.range.local.begin());
  return *this;
}

Status UserKernel::Run() {
  std::vector<LaunchOperand> operands;
  for (size_t i = 0; i < operands_.size(); ++i) {
    operands.push_back({&operands_[i], written_[i]});
  }
  return RunLaunch(launch_, operands);
}

bool HasTestDevice() { return TestDevice().kind == "opencl"; }

}  // namespace tim::testing
