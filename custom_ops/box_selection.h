// Non-maximum suppression, the part that detection operators share.
#ifndef TIM_CUSTOM_OPS_BOX_SELECTION_H_
#define TIM_CUSTOM_OPS_BOX_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tim {
namespace custom_ops {

/// OpenCL C for operators that select boxes; their own kernels stand behind it.
/// It has
///   uint score_key(float score)     0, no key, for NaN
///   bool is_selectable(float4 box)  no NaN, ymin <= ymax, xmin <= xmax
///   kernel select_boxes             greedy NMS of many lists at a time
///   take_first(...)                 the first of a list, without suppression
/// Boxes are float4 (ymin, xmin, ymax, xmax).  A list has a key per box, 0 for
/// those that do not compete; PaddedKeys() keys, the last ones 0.  It is gone
/// through by descending key, of equal ones by ascending index.
///
/// A work-group of kSelectionGroup items has a list.  It sorts the next
/// candidates in local memory, as many as may be needed, so that a list is
/// never sorted as a whole, and judges 64 of them at a time: each against those
/// kept before, then, by one bit per pair, against each other.
std::string BoxSelectionSource();

constexpr std::size_t kSelectionGroup = 64;

/// The keys of a list of `count` boxes: whole pieces of 16.
constexpr std::size_t PaddedKeys(std::size_t count) {
  return (count + 15) / 16 * 16;
}

/// Ascends with the score; 0 for NaN, -0 counts as 0.
uint32_t ScoreKey(float score);
/// The least key of scores >= `threshold`.
uint32_t LeastKeyFrom(float threshold);
/// The least key of scores > `threshold`; -infinity is below no score.
uint32_t LeastKeyAbove(float threshold);

/// x / y, rounded to float32, is > `threshold` where
///   fma(-threshold, y, x) > HalfStep(threshold) * y
/// for y > 0: kernels have no division that rounds like that.
float HalfStep(float threshold);

struct CornerBox {
  float ymin;
  float xmin;
  float ymax;
  float xmax;
};

/// The same on the host.
bool IsSelectable(const CornerBox& box);

/// By descending key, of equal ones by ascending index; the first `limit`.
std::vector<std::size_t> FirstByKey(const std::vector<uint32_t>& keys,
                                    std::size_t limit);

/// Greedy NMS of one list; `boxes` has as many elements as `keys`.
std::vector<std::size_t> SelectBoxes(const std::vector<uint32_t>& keys,
                                     const CornerBox* boxes, std::size_t limit,
                                     float iou_threshold);

/// The product of `factors`; throws std::invalid_argument, naming the operator
/// and the tensor, where it exceeds 2^31 - 1.
std::size_t CheckedProduct(const char* operator_name, const char* tensor,
                           const std::vector<std::size_t>& factors);

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_BOX_SELECTION_H_
