// Values that are made once and asked for again.
#ifndef TIM_KERNELS_KNOWN_VALUES_H_
#define TIM_KERNELS_KNOWN_VALUES_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/fork/per_process.h"

namespace tim::kernels {

/// Values by keys, one kind of them in a process: constinit.  Any thread.
template <typename T>
class KnownValues {
 public:
  /// `most`: when so many are known, all are forgotten.
  explicit constexpr KnownValues(size_t most) : most_(most) {}

  /// The value of the key, which is make() when it is not known.
  template <typename Make>
  std::shared_ptr<const T> Get(const std::string& key, const Make& make) {
    Known& known = known_.Get();
    {
      const std::lock_guard<std::mutex> lock(known.mutex);
      const auto found = known.values.find(key);
      if (found != known.values.end()) return found->second;
    }
    auto value = std::make_shared<const T>(make());
    const std::lock_guard<std::mutex> lock(known.mutex);
    if (known.values.size() >= most_) known.values.clear();
    return known.values.emplace(key, std::move(value)).first->second;
  }

 private:
  struct Known {
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<const T>> values;
  };

  const size_t most_;
  GlobalPerProcess<Known> known_;
};

}  // namespace tim::kernels

#endif  // TIM_KERNELS_KNOWN_VALUES_H_
