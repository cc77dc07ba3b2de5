// How the kernels of UnidirectionalSequenceLstm take weights and parameters: as
// real values, in vectors of units.
#ifndef TIM_OPS_LSTM_LSTM_BLOCKS_H_
#define TIM_OPS_LSTM_LSTM_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ops/launch/launch.h"
#include "ops/lstm/lstm_node.h"

namespace tim::ops {

/// How lstm.cl counts.
struct LstmPlan {
  LstmNode node;
  bool simt = false;
  int64_t lanes = 16;
  int64_t vectors = 0;         ///< Of units.
  int64_t output_vectors = 0;  ///< Of outputs.
  int64_t first_gate = 0;      ///< kForgetGate without input gate.

  int64_t gates() const { return kLstmGates - first_gate; }
  int64_t parameters() const { return 2 * gates() + 3; }
};
LstmPlan LstmPlanOf(const ir::KernelNode& node, bool simt);

/// An operand [depth, count] among others: element (k, u) is beside those of
/// `gates` gates.
struct LstmPart {
  int input = 0;
  int64_t begin = 0;
  int64_t depth = 1;
  int64_t gate = 0;
  int64_t gates = 1;
  int64_t count = 0;    ///< Of u.
  int64_t vectors = 0;  ///< Of u.
  bool add = false;     ///< To what is there.
};

/// Operands in one piece of memory; what they leave out is 0.
struct LstmBlock {
  std::string name;  ///< Of the kernel's parameter.
  int64_t floats = 0;
  std::vector<LstmPart> parts;
  /// Added to `units` floats from `begin` on, in the end.
  float number = 0;
  int64_t begin = 0;
  int64_t units = 0;
};

struct LstmBlocks {
  LstmBlock weights;
  std::optional<LstmBlock> aux;
  LstmBlock recurrent;
  LstmBlock parameters;
  std::optional<LstmBlock> projection;
};
LstmBlocks LstmBlocksOf(const LstmPlan& plan, const ir::KernelNode& node);

/// Ok, or the reason where an operand's quantization has no kernel.
Status CheckBlockQuantization(const LstmBlocks& blocks,
                              const ir::KernelNode& node);

/// Where a block is when a kernel reads it.
class PlacedBlock {
 public:
  /// Packed where all of it is constant, else arranged by launches that are
  /// added to `lowering`.
  static Result<PlacedBlock> Create(const LstmPlan& plan,
                                    const LstmBlock& block,
                                    const ir::KernelNode& node,
                                    ir::Lowering* lowering);
  void AddTo(Launch* launch) const;

 private:
  std::string name_;
  std::optional<ir::PackedConstant> packed_;
  int scratch_ = -1;
};

/// A kernel of `source` with the options that all of them have.
Launch LstmLaunch(const LstmPlan& plan, const char* source,
                  const char* function);

}  // namespace tim::ops

#endif  // TIM_OPS_LSTM_LSTM_BLOCKS_H_
