#include "custom_ops/non_max_suppression.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "custom_ops/box_selection.h"
#include "custom_ops/number_text.h"

namespace tim {
namespace custom_ops {
namespace {

using vx::ops::HostInput;
using vx::ops::HostOutput;
using vx::ops::KernelArg;

// Behind that of BoxSelectionSource().
const char kSource[] = R"(
// One item = one box of an image, or one key of those that fill a list up.
__kernel void prepare(__global const float* given, __global const float* scores,
                      __global float4* boxes, __global uint* keys, int count,
                      int classes, int padded, uint least_key) {
  const int n = get_global_id(0);
  const int image = get_global_id(1);
  bool competes = n < count;
  if (competes) {
    const int at = image * count + n;
    const float4 box = vload4(at, given);
#ifdef CENTRED
    const float2 half_size = box.wz * 0.5f;
    const float4 corners = (float4)(box.yx - half_size, box.yx + half_size);
#else
    const float4 corners =
        (float4)(fmin(box.xy, box.zw), fmax(box.xy, box.zw));
#endif
    boxes[at] = corners;
    competes = !any(isnan(box)) && is_selectable(corners);
  }
  for (int c = 0; c < classes; ++c) {
    const int list = image * classes + c;
    const uint key = competes ? score_key(scores[list * count + n]) : 0;
    keys[list * padded + n] = key >= least_key ? key : 0;
  }
}

// By one item: where the rows of each list start, and how many there are.
__kernel void place_lists(__global const int* numbers, __global int* starts,
                          __global int* total, int lists) {
  int sum = 0;
  for (int list = 0; list < lists; ++list) {
    starts[list] = sum;
    sum += numbers[list];
  }
  total[0] = sum;
}

// One item = one box that may have been kept of a list.
__kernel void write_rows(__global const int* kept, __global const int* numbers,
                         __global const int* starts, __global int* rows,
                         int classes, int limit) {
  const int rank = get_global_id(0);
  const int list = get_global_id(1);
  if (rank >= numbers[list]) return;
  __global int* row = rows + (starts[list] + rank) * 3;
  row[0] = list / classes;
  row[1] = list % classes;
  row[2] = kept[list * limit + rank];
}
)";

// The scalars of the kernels, by their places in param_list_.
enum Scalar : uint32_t {
  kCount,
  kClasses,
  kPadded,
  kLeastKey,
  kLimit,
  kThreshold,
  kHalfStep,
  kLists
};

// The scratch tensors, in the order of AddScratch().
enum Scratch : uint32_t { kBoxes, kKeys, kKept, kNumbers, kStarts };

KernelArg Of(Scalar scalar) { return KernelArg::Scalar(scalar); }
KernelArg Of(Scratch scratch) { return KernelArg::Scratch(scratch); }

int Int(std::size_t value) { return static_cast<int>(value); }
uint32_t Extent(std::size_t value) { return static_cast<uint32_t>(value); }

[[noreturn]] void Refuse(const std::string& what) {
  throw std::invalid_argument("NonMaxSuppression: " + what);
}

// NaN corners stay, so that the box is none.
CornerBox Corners(const float* given, bool is_centred) {
  if (std::any_of(given, given + 4, [](float x) { return std::isnan(x); })) {
    return {NAN, NAN, NAN, NAN};
  }
  if (is_centred) {
    const float half_width = given[2] * 0.5f;
    const float half_height = given[3] * 0.5f;
    return {given[1] - half_height, given[0] - half_width,
            given[1] + half_height, given[0] + half_width};
  }
  return {std::min(given[0], given[2]), std::min(given[1], given[3]),
          std::max(given[0], given[2]), std::max(given[1], given[3])};
}

}  // namespace

NonMaxSuppression::NonMaxSuppression(vx::Graph* graph,
                                     const Parameters& parameters)
    : CustomOpBase(graph, 2, 2, -1, "NonMaxSuppression",
                   {{"max_output_boxes_per_class",
                     parameters.max_output_boxes_per_class},
                    {"iou_threshold", parameters.iou_threshold},
                    {"score_threshold", parameters.score_threshold},
                    {"center_point_box", parameters.center_point_box}}),
      parameters_(parameters),
      source_(BoxSelectionSource() + kSource) {
  kernel_resource_ = source_.c_str();
}

std::shared_ptr<vx::Operation> NonMaxSuppression::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<NonMaxSuppression>(parameters_);
}

void NonMaxSuppression::SetupTypes() {
  SetOutputType(0, vx::DataType::INT32);
  SetOutputType(1, vx::DataType::INT32);
}

void NonMaxSuppression::CheckParameters() const {
  const Parameters& p = parameters_;
  if (p.max_output_boxes_per_class < 0) {
    Refuse("max_output_boxes_per_class is " +
           std::to_string(p.max_output_boxes_per_class) +
           ", expected 0 or more");
  }
  if (!(p.iou_threshold >= 0 && p.iou_threshold <= 1)) {
    Refuse("iou_threshold is " + NumberText(p.iou_threshold) +
           ", expected 0 to 1");
  }
  if (std::isnan(p.score_threshold)) Refuse("score_threshold is NaN");
}

void NonMaxSuppression::CheckShapes() const {
  const vx::ShapeType& boxes = inputs_size_[0];
  const vx::ShapeType& scores = inputs_size_[1];
  if (boxes.size() != 3 || boxes[0] != 4) {
    Refuse("boxes (input 0) have another shape than {4, N, B}");
  }
  if (boxes[1] > kMaxBoxes) {
    Refuse(std::to_string(boxes[1]) + " boxes, expected up to " +
           std::to_string(uint32_t{kMaxBoxes}));
  }
  if (scores.size() != 3 || scores[0] != boxes[1] || scores[2] != boxes[2]) {
    Refuse("scores (input 1) have another shape than {N, C, B}, where boxes " +
           ("have N = " + std::to_string(boxes[1])) +
           " and B = " + std::to_string(boxes[2]));
  }
}

void NonMaxSuppression::SetupShapeInfor() {
  CheckParameters();
  CheckShapes();
  const auto check = [](const char* tensor,
                        const std::vector<std::size_t>& factors) {
    return CheckedProduct("NonMaxSuppression", tensor, factors);
  };
  boxes_ = inputs_size_[0][1];
  lists_ = check("lists of boxes", {inputs_size_[1][1], inputs_size_[1][2]});
  limit_ = std::min(
      boxes_, static_cast<std::size_t>(parameters_.max_output_boxes_per_class));
  check("boxes", {boxes_, inputs_size_[0][2], 4});
  check("scores", {lists_, PaddedKeys(boxes_)});
  const std::size_t elements = check("rows", {lists_, limit_, 3});
  outputs_size_[0] = {3, std::max(Extent(elements) / 3, 1u)};
  outputs_size_[1] = {1};
}

void NonMaxSuppression::SetupParams(std::vector<vx::DataType> input_types,
                                    std::string& build_option) {
  if (input_types[0] != vx::DataType::FLOAT32 ||
      input_types[1] != vx::DataType::FLOAT32) {
    Refuse(
        "inputs of another type than FLOAT32; put a DataConvert before them");
  }
  if (parameters_.center_point_box) build_option = "-DCENTRED";
  const std::size_t padded = PaddedKeys(boxes_);
  // In the order of Scalar.
  vx::ops::param_transform(
      std::make_tuple(Int(boxes_), Int(inputs_size_[1][1]), Int(padded),
                      LeastKeyAbove(parameters_.score_threshold), Int(limit_),
                      parameters_.iou_threshold,
                      HalfStep(parameters_.iou_threshold), Int(lists_)),
      param_list_);
  // In the order of Scratch.
  const uint32_t lists = Extent(lists_);
  AddScratch(vx::DataType::FLOAT32, {4, Extent(boxes_), inputs_size_[0][2]});
  AddScratch(vx::DataType::UINT32, {Extent(padded), lists});
  AddScratch(vx::DataType::INT32, {std::max(Extent(limit_), 1u), lists});
  AddScratch(vx::DataType::INT32, {lists});
  AddScratch(vx::DataType::INT32, {lists});
  FillWithZeros(0);
  func_name_ = "prepare";
}

void NonMaxSuppression::SetupEnqueue(uint32_t& dim,
                                     std::vector<size_t>& gobal_size,
                                     std::vector<size_t>&) {
  dim = 2;
  gobal_size[0] = PaddedKeys(boxes_);
  gobal_size[1] = inputs_size_[0][2];
  SetKernelArgs({KernelArg::Input(0), KernelArg::Input(1), Of(kBoxes),
                 Of(kKeys), Of(kCount), Of(kClasses), Of(kPadded),
                 Of(kLeastKey)});
  AddKernel(
      "select_boxes", {lists_ * kSelectionGroup}, {kSelectionGroup},
      {Of(kKeys), Of(kBoxes), Of(kKept), Of(kNumbers), Of(kPadded), Of(kCount),
       Of(kClasses), Of(kLimit), Of(kThreshold), Of(kHalfStep)});
  AddKernel("place_lists", {1}, {},
            {Of(kNumbers), Of(kStarts), KernelArg::Output(1), Of(kLists)});
  AddKernel("write_rows", {std::max<std::size_t>(limit_, 1), lists_}, {},
            {Of(kKept), Of(kNumbers), Of(kStarts), KernelArg::Output(0),
             Of(kClasses), Of(kLimit)});
}

void NonMaxSuppression::HostEval(const std::vector<HostInput>& inputs,
                                 const std::vector<HostOutput>& outputs) {
  const std::size_t classes = inputs_size_[1][1];
  const uint32_t least_key = LeastKeyAbove(parameters_.score_threshold);
  int32_t* const first = outputs[0].Data<int32_t>();
  int32_t* row = first;
  for (std::size_t list = 0; list < lists_; ++list) {
    const std::size_t image = list / classes;
    const float* given = inputs[0].Data<float>() + image * boxes_ * 4;
    const float* scores = inputs[1].Data<float>() + list * boxes_;
    std::vector<CornerBox> boxes(boxes_);
    std::vector<uint32_t> keys(boxes_);
    for (std::size_t n = 0; n < boxes_; ++n) {
      boxes[n] = Corners(given + n * 4, parameters_.center_point_box);
      const uint32_t key = IsSelectable(boxes[n]) ? ScoreKey(scores[n]) : 0;
      keys[n] = key >= least_key ? key : 0;
    }
    for (const std::size_t n :
         SelectBoxes(keys, boxes.data(), limit_, parameters_.iou_threshold)) {
      *row++ = static_cast<int32_t>(image);
      *row++ = static_cast<int32_t>(list % classes);
      *row++ = static_cast<int32_t>(n);
    }
  }
  outputs[1].Data<int32_t>()[0] = static_cast<int32_t>((row - first) / 3);
}

}  // namespace custom_ops
}  // namespace tim
