// What the kernels of one operator have written of the tensors they share.
#ifndef TIM_DEVICE_OPENCL_GUARD_GUARDED_CONTENTS_H_
#define TIM_DEVICE_OPENCL_GUARD_GUARDED_CONTENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/step.h"

namespace tim::device {

/// Per byte of a tensor's content: 1 where it is defined, by its writer or from
/// before the run.
using DefinedBytes = std::vector<uint8_t>;

/// A tensor of an operator, to one of its kernels.
struct GuardedContent {
  std::shared_ptr<DefinedBytes> defined;
  bool first = true;  ///< No kernel before this one has had it.
};

/// Of steps that are prepared together, in the order in which they run.
class GuardedContents {
 public:
  /// Before Find() for the tensors of `launch`.
  void Begin(const ir::UserLaunch& launch) {
    if (launch.part > 0) return;
    std::erase_if(contents_, [&](const auto& entry) {
      return entry.first.first == launch.name;
    });
  }
  GuardedContent Find(const ir::UserLaunch& launch,
                      const ir::UserTensorArg& tensor) {
    std::shared_ptr<DefinedBytes>& defined =
        contents_[{launch.name, tensor.name}];
    const bool first = defined == nullptr;
    if (first) defined = std::make_shared<DefinedBytes>();
    return {defined, first};
  }

 private:
  std::map<std::pair<std::string, std::string>, std::shared_ptr<DefinedBytes>>
      contents_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_GUARD_GUARDED_CONTENTS_H_
