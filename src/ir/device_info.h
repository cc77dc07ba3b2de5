// What a device is and can, and may: plain data, enough to choose kernels
// without it.
#ifndef TIM_IR_DEVICE_INFO_H_
#define TIM_IR_DEVICE_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tim::ir {

/// Whose kernels fit; TIMCL_KERNELS may say another than the device's own.
enum class DeviceClass : uint8_t { kCpu, kGpu, kAccelerator };
const char* ToString(DeviceClass device_class);  ///< "cpu", …

struct DeviceInfo {
  std::string kind = "host";  ///< "host", "opencl", …: which kernels fit.
  /// "opencl:1", the name of one of several devices of a graph; empty of the
  /// only one beside the host.  No plan stores it.
  std::string spec = {};
  std::string name;  ///< For people.
  std::string vendor;
  std::string driver;  ///< Driver version: part of every program cache key.
  DeviceClass device_class = DeviceClass::kCpu;
  /// It can run OpSchema::eval on its memory (host; the tests' fake device).
  bool runs_eval = false;

  int compute_units = 1;
  int address_bits = 64;
  int64_t max_work_group_size = 1;
  std::vector<int64_t> max_work_item_sizes = {1, 1, 1};
  int64_t local_memory_bytes = 0;
  int64_t global_memory_bytes = 0;
  int64_t max_allocation_bytes = 0;
  int64_t alignment = 64;       ///< Of arena offsets, in bytes.
  bool unified_memory = false;  ///< Host memory can be used without a copy.
  bool has_fp16 = false;
  bool has_fp64 = false;
  bool has_subgroups = false;
  bool has_integer_dot = false;
  bool has_images = false;
  /// Each of its processors sees the stores of another in the order in which
  /// they were made; x86-64's do, Arm's and those of GPUs need not.
  bool orders_stores = false;
  /// Kernels may have the instructions of AVX512-VNNI in assembler, for vectors
  /// of 16 floats' size.
  bool has_vnni = false;
  /// And those of AMX on bytes; the process has the permission of Linux.
  bool has_amx = false;
  int float_vector_width = 4;  ///< Lanes of the device's widest float vector.
  /// Steps that follow one another may be one launch (ir::Chain), and
  /// whether a run of a single step is faster so, too.
  bool chains = false;
  bool chains_singles = false;
  bool winograd = true;  ///< Kernels may use Winograd's sums.
  bool remote = false;   ///< Behind a network: each command costs a way there.
  /// Streams of one run that work side by side, at most.  No plan stores it.
  int max_streams = 8;

  // Rough figures for costs, in units of 1e9 per second and microseconds.
  double gflops = 1.0;
  double gbytes_per_second = 10.0;
  double launch_us = 5.0;
  /// From and to the host's memory; 0: not known.
  double link_gbytes_per_second = 0;
  double link_latency_us = 0;

  std::string ToString() const;
  /// The name of the device in messages: its spec, or its kind where it has
  /// none.
  const std::string& Label() const { return spec.empty() ? kind : spec; }
  bool operator==(const DeviceInfo&) const = default;
};

}  // namespace tim::ir

#endif  // TIM_IR_DEVICE_INFO_H_
