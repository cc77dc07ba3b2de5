// Runs a user's kernel without the facade: operands, scalars, one launch.
#ifndef TIM_TESTS_SUPPORT_KERNELS_USER_KERNEL_H_
#define TIM_TESTS_SUPPORT_KERNELS_USER_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "ir/step.h"

namespace tim::testing {

class UserKernel {
 public:
  explicit UserKernel(const std::string& text,
                      const std::string& function = "f");

  /// The next parameter.
  template <typename T>
  UserKernel& In(ir::DataType type, std::vector<int64_t> dims,
                 const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Add(type, std::move(dims), std::move(bytes), false);
  }
  UserKernel& Out(ir::DataType type, std::vector<int64_t> dims);
  UserKernel& Scalar(std::variant<int64_t, uint64_t, double> value,
                     const std::string& type);
  UserKernel& Options(const std::string& options);
  /// As many dimensions as `global` has.
  UserKernel& Sizes(const std::vector<int64_t>& global,
                    const std::vector<int64_t>& local = {});

  const ir::UserLaunch& launch() const { return launch_; }

  /// Prepares and launches it on the first OpenCL device; warnings of the
  /// compiler and accesses around the operands are errors.
  Status Run();

  /// Operand i after Run.
  template <typename T>
  std::vector<T> Operand(size_t i) const {
    std::vector<T> values(operands_[i].size() / sizeof(T));
    std::memcpy(values.data(), operands_[i].data(), operands_[i].size());
    return values;
  }

 private:
  UserKernel& Add(ir::DataType type, std::vector<int64_t> dims,
                  std::vector<std::byte> bytes, bool written);

  ir::UserLaunch launch_;
  std::vector<std::vector<std::byte>> operands_;
  std::vector<bool> written_;
  int scalars_ = 0;
};

/// Whether this machine has an OpenCL device.
bool HasTestDevice();

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_KERNELS_USER_KERNEL_H_
