// Costs of moving bytes from one device to another.
#ifndef TIM_COMPILER_LINKS_H_
#define TIM_COMPILER_LINKS_H_

#include <cstddef>
#include <vector>

namespace tim::compiler {

/// A copy of `bytes` bytes takes latency_us + bytes / (gbytes_per_second * 1e3)
/// microseconds.
struct Link {
  double latency_us = 10;
  double gbytes_per_second = 5;
  /// The devices copy to each other and wait for each other's events; else
  /// bytes go through memory of the host, which is a copy from the one and a
  /// copy to the other.
  bool direct = false;

  double Microseconds(double bytes) const {
    return latency_us + bytes / (gbytes_per_second * 1e3);
  }
  bool operator==(const Link&) const = default;
};

/// A link per ordered pair of devices, by their indices in CompileOptions.
class LinkTable {
 public:
  LinkTable() = default;
  explicit LinkTable(size_t devices)
      : devices_(devices), links_(devices * devices) {}

  /// A link with assumed figures where the table has none.
  Link Between(int from, int to) const {
    const size_t first = static_cast<size_t>(from);
    const size_t second = static_cast<size_t>(to);
    if (first >= devices_ || second >= devices_) return {};
    return links_[first * devices_ + second];
  }
  void Set(int from, int to, const Link& link) {
    links_[static_cast<size_t>(from) * devices_ + static_cast<size_t>(to)] =
        link;
  }
  /// Devices that it was made for; 0: it has assumed figures only.
  size_t devices() const { return devices_; }
  bool operator==(const LinkTable&) const = default;

 private:
  size_t devices_ = 0;
  std::vector<Link> links_;
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_LINKS_H_
