// How much memory an import may take for constants that it makes.
#ifndef TIM_MODELS_BUILD_CONSTANT_BUDGET_H_
#define TIM_MODELS_BUILD_CONSTANT_BUDGET_H_

#include <algorithm>
#include <cstdint>

#include "base/status.h"

namespace tim::models {

/// Bytes of constants that nodes make of a file's when it is loaded: so many
/// times the file's bytes, and as many bytes more.  A small file that was made
/// to do harm cannot fill the machine's memory.
class ConstantBudget {
 public:
  static constexpr int64_t kMostGrowth = 16;
  static constexpr int64_t kMostBytesMore = int64_t{1} << 28;

  explicit ConstantBudget(int64_t file_bytes)
      : most_(kMostBytesMore + kMostGrowth * file_bytes) {}

  /// A further file belongs to the model.
  void AddFile(int64_t bytes) { most_ += kMostGrowth * bytes; }
  /// Takes account of a constant, best before it is made; fails from the first
  /// one on that goes beyond.
  Status Spend(int64_t bytes) {
    spent_ += std::max<int64_t>(bytes, 0);
    if (spent_ <= most_) return OkStatus();
    return Unimplemented("constants that nodes make when the model is loaded ",
                         "take more than ", most_, " bytes: ", kMostGrowth,
                         " times the file's, and ", kMostBytesMore, " more");
  }

 private:
  int64_t most_;
  int64_t spent_ = 0;
};

}  // namespace tim::models

#endif  // TIM_MODELS_BUILD_CONSTANT_BUDGET_H_
