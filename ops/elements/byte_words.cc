#include "ops/elements/byte_words.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/checked_math.h"
#include "base/str_cat.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

int64_t WordsOfSum(const ByteWeights& weights, const ByteWords& words) {
  return words.taps * CeilDiv(weights.terms / words.taps, kWordBytes);
}

}  // namespace

ir::PackedConstant PackedWords(const ir::KernelNode& node,
                               const ByteWeights& weights,
                               const ByteWords& words,
                               const ByteShifts& shifts) {
  const bool is_signed = node.inputs[1].type == ir::DataType::kInt8;
  const int64_t count = WordsOfSum(weights, words);
  return {
      .id = StrCat("byte words of ", weights.channels, " step ",
                   weights.channel_step, " terms ", weights.terms, " step ",
                   weights.term_step, " taps ", words.taps, " outputs ",
                   words.outputs, is_signed ? " signed " : " unsigned ",
                   shifts.ToString()),
      .sources = {1},
      .bytes = weights.channels * count * kWordBytes,
      .pack = [=, constant = node.constants[1]](std::span<std::byte> out) {
        for (int64_t c = 0; c < weights.channels; ++c) {
          std::byte* to =
              out.data() +
              (c / words.outputs * count * words.outputs + c % words.outputs) *
                  kWordBytes;
          for (int64_t k = 0; k < weights.terms; ++k) {
            const int64_t row = k / words.taps;
            const int64_t word = row / kWordBytes * words.taps + k % words.taps;
            const int32_t weight =
                ByteWeight(*constant, is_signed,
                           c * weights.channel_step + k * weights.term_step);
            to[word * words.outputs * kWordBytes + row % kWordBytes] =
                static_cast<std::byte>(weight - shifts.shifts[c]);
          }
        }
        return OkStatus();
      }};
}

void AddWordOptions(const ir::KernelNode& node, bool centered,
                    const ir::DeviceInfo& device, Launch* launch) {
  AddByteTypes(node, centered, launch);
  if (device.has_integer_dot) {
    // Compilers have its functions in no earlier version.
    launch->Option("-cl-std=CL3.0").Option("-DDOT=EXTENSION");
  } else {
    launch->Option("-DDOT=PLAIN");
  }
}

double WordWork(const ir::DeviceInfo& device) {
  return device.has_integer_dot ? 1.0 : double{kWordBytes};
}

double WordCost(const ir::KernelNode& node, const SimtProduct& product,
                int64_t terms, const ir::DeviceInfo& device) {
  const ir::ComputeEstimate estimate =
      SumEstimate(AnchorView(node).view(), static_cast<double>(terms));
  return std::min(
      SimtCost(product, estimate.bytes_read + estimate.bytes_written, device),
      EstimateMicroseconds(estimate, device, prices::kByteWords));
}

}  // namespace tim::ops
