// Which operations are parts of which composed ones.
#ifndef TIM_VX_LOWERING_COMPOSITION_TREE_H_
#define TIM_VX_LOWERING_COMPOSITION_TREE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/operation.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {

/// What the operation reads and writes, operand by operand: the tensors that
/// are bound, and behind them an NBG's states.
std::vector<std::shared_ptr<Tensor>> InputsOf(const OpImpl& operation);
std::vector<std::shared_ptr<Tensor>> OutputsOf(const OpImpl& operation);

/// Of an operand of those; else it is absent.
inline bool IsBound(const std::shared_ptr<Tensor>& tensor) {
  return tensor != nullptr && !tensor->IsPlaceHolder();
}

/// The tensors that connect a composed operation with what is outside of it.
struct Boundary {
  /// Its own inputs, placeholders too, then what parts read besides: states,
  /// those that custom parts write too, and what operations outside make, but
  /// no constants.
  std::vector<std::shared_ptr<Tensor>> inputs;
  /// Its own outputs, then what parts write and others read.
  std::vector<std::shared_ptr<Tensor>> outputs;
};

/// Made from a list of operations that must stay as it is.
class CompositionTree {
 public:
  explicit CompositionTree(
      const std::vector<std::shared_ptr<Operation>>& operations);

  /// Parts of the operation `owner`, 0: what is no part, in order.
  const std::vector<Operation*>& Parts(uint32_t owner) const;
  /// Device that must run the operation: its own affinity, or that of the
  /// nearest composed one which has it as a part; else empty.
  const std::string& AffinityOf(const OpImpl& operation) const;
  Boundary BoundaryOf(const OpImpl& composed) const;

 private:
  struct Traffic {
    std::vector<std::shared_ptr<Tensor>> read;
    std::vector<std::shared_ptr<Tensor>> written;
  };

  uint32_t OwnerOf(const OpImpl& operation) const;
  bool IsInside(const OpImpl& operation, uint32_t owner) const;
  void Collect(uint32_t owner, Traffic* traffic) const;
  bool IsWanted(Tensor& tensor, const OpImpl& composed) const;

  std::map<uint32_t, const OpImpl*> composed_;
  std::map<uint32_t, std::vector<Operation*>> parts_;
  const std::vector<Operation*> no_parts_;
  std::map<const Tensor*, std::vector<const OpImpl*>> readers_;
};

}  // namespace tim::vx

#endif  // TIM_VX_LOWERING_COMPOSITION_TREE_H_
