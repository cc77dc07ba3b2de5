// What kernels on kernels/bytes/word_dot.clh share beside byte_sum.h: their
// items multiply four bytes of a word at a time, in tiles of
// ops/launch/simt_tile.clh.
#ifndef TIM_OPS_ELEMENTS_BYTE_WORDS_H_
#define TIM_OPS_ELEMENTS_BYTE_WORDS_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ops/elements/byte_sum.h"
#include "ops/launch/launch.h"
#include "ops/launch/simt_tile.h"

namespace tim::ops {

inline constexpr int64_t kWordBytes = 4;

/// How words of weights are packed: [outputs of a group, words, groups].  A
/// word has four terms of a sum, each `taps` behind the other; words are in the
/// order of their first terms.  Bytes without a term are 0.
struct ByteWords {
  int64_t taps = 1;
  int64_t outputs = 1;
};

/// Constant input 1 of the node in this form.
ir::PackedConstant PackedWords(const ir::KernelNode& node,
                               const ByteWeights& weights,
                               const ByteWords& words,
                               const ByteShifts& shifts);

/// AddByteOptions with a form of word_dot.clh.
void AddWordOptions(const ir::KernelNode& node, bool centered,
                    const ir::DeviceInfo& device, Launch* launch);

/// SimtProduct::work of a word.
double WordWork(const ir::DeviceInfo& device);

/// Estimated microseconds of a product of words whose sums have `terms` terms:
/// less than those of the reference kernels.
double WordCost(const ir::KernelNode& node, const SimtProduct& product,
                int64_t terms, const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_BYTE_WORDS_H_
