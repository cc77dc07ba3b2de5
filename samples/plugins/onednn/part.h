// A part of a graph as oneDNN runs it: primitives one behind the other, and
// the memory that they read and write.
#ifndef TIM_SAMPLES_PLUGINS_ONEDNN_PART_H_
#define TIM_SAMPLES_PLUGINS_ONEDNN_PART_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dnnl.hpp"
#include "tim/plugin/plugin.h"

namespace tim {
namespace onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

/// Bytes between the beginnings of what lies in one piece of memory.
constexpr std::size_t kAlignment = 64;

/// Memory of so many bytes, aligned to kAlignment.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::size_t count);
  void* data() const { return data_; }

 private:
  std::unique_ptr<char[]> memory_;
  void* data_ = nullptr;
};

/// A piece of memory that steps read or write.
struct Slot {
  enum class Place { kInput, kOutput, kConstant, kWorkspace };

  Place place = Place::kWorkspace;
  std::size_t index = 0;  ///< Of the input, output or constant.
  std::size_t bytes = 0;
  /// More than one value lies here, or somebody else's: nothing overwrites it.
  bool shared = false;
  /// The steps between which a workspace holds something; first < 0: it is
  /// never used.
  int first = -1;
  int last = -1;
  std::size_t offset = 0;  ///< In the workspace.
};

/// An argument of a primitive: `argument` is DNNL_ARG_...
struct Operand {
  int argument;
  int slot;
  Desc desc;
};

struct Step {
  dnnl::primitive primitive;
  std::vector<Operand> operands;
};

class Part final : public tim::plug::Program {
 public:
  Part(const dnnl::engine& engine, std::vector<Slot> slots,
       std::vector<Step> steps, std::vector<Bytes> constants);

  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Runs it once; the pointers are those of all inputs and outputs.
  void Run(dnnl::stream& stream, const std::vector<void*>& inputs,
           const std::vector<void*>& outputs, void* workspace);

 private:
  struct Launch {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  // A memory that follows its slot.
  struct Bound {
    int slot;
    dnnl::memory memory;
  };

  void* AddressOf(const Slot& slot, const std::vector<void*>& inputs,
                  const std::vector<void*>& outputs, void* workspace) const;

  std::vector<Slot> slots_;
  std::vector<Bytes> constants_;
  std::vector<Launch> launches_;
  std::vector<Bound> bound_;
  std::vector<void*> addresses_;  // of slots, in the run before
  std::size_t workspace_bytes_ = 0;
};

}  // namespace onednn
}  // namespace tim

#endif  // TIM_SAMPLES_PLUGINS_ONEDNN_PART_H_
