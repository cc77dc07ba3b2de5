#include "custom_ops/yolo_decode.h"

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

// One item = one box: an anchor of a cell, or a cell.
const char kSource[] = R"(
#pragma OPENCL FP_CONTRACT OFF

float sigmoid(float t) { return 1 / (1 + exp(-t)); }

void write_box(__global float4* boxes, float2 centre, float2 before,
               float2 behind) {
  *boxes = (float4)(centre - before, centre + behind).yxwz;
}

#define START                                                             \
  const int cell = get_global_id(0);                                      \
  const int anchor = get_global_id(1);                                    \
  const int image = get_global_id(2);                                     \
  const int cells = get_global_size(0);                                   \
  const int features = get_global_size(1) * per_anchor;                   \
  const float2 at = (float2)(cell % width, cell / width);                 \
  const int box = first + anchor * cells + cell;                          \
  __global const float* t = head + image * features * cells +             \
                            anchor * per_anchor * of_feature +            \
                            cell * of_cell;                               \
  __global float* score = scores + image * classes * count + box;         \
  boxes += image * count + box;

#ifdef HAS_ANCHORS
__kernel void decode_anchors(__global const float* head, __global float4* boxes,
                             __global float* scores,
                             __global const float* anchors, int classes,
                             int per_anchor, int count, int first_anchor,
                             int width, int first, int of_cell, int of_feature,
                             float stride, float scale_x_y) {
  START
  const float2 t_centre = (float2)(t[0], t[of_feature]);
  const float2 t_size = (float2)(t[2 * of_feature], t[3 * of_feature]);
  const float2 pixels = vload2(first_anchor + anchor, anchors);
  const float2 s = (float2)(sigmoid(t_centre.x), sigmoid(t_centre.y));
#ifdef EXPONENTIAL
  const float2 centre =
      (s * scale_x_y - (scale_x_y - 1) * 0.5f + at) * stride;
  const float2 size = exp(t_size) * pixels;
#else
  const float2 centre = (2 * s - 0.5f + at) * stride;
  const float2 twice =
      2 * (float2)(sigmoid(t_size.x), sigmoid(t_size.y));
  const float2 size = twice * twice * pixels;
#endif
  write_box(boxes, centre, size * 0.5f, size * 0.5f);
  const float objectness = sigmoid(t[4 * of_feature]);
  for (int c = 0; c < classes; ++c) {
    score[c * count] = objectness * sigmoid(t[(5 + c) * of_feature]);
  }
}
#else
float mean_bin(__global const float* t, int bins, int of_feature) {
  float largest = t[0];
  for (int i = 1; i < bins; ++i) largest = fmax(largest, t[i * of_feature]);
  float sum = 0;
  float weighted = 0;
  for (int i = 0; i < bins; ++i) {
    const float e = exp(t[i * of_feature] - largest);
    sum += e;
    weighted += e * i;
  }
  return weighted / sum;
}

__kernel void decode_distances(__global const float* head,
                               __global float4* boxes, __global float* scores,
                               int classes, int per_anchor, int count, int bins,
                               int width, int first, int of_cell,
                               int of_feature, float stride) {
  START
  float sides[4];
  for (int i = 0; i < 4; ++i) {
    sides[i] = mean_bin(t + i * bins * of_feature, bins, of_feature) * stride;
  }
  write_box(boxes, (at + 0.5f) * stride, (float2)(sides[0], sides[1]),
            (float2)(sides[2], sides[3]));
  for (int c = 0; c < classes; ++c) {
    score[c * count] = sigmoid(t[(4 * bins + c) * of_feature]);
  }
}
#endif
)";

// The first scalars of the kernels, by their places in param_list_; behind
// them stand those of each head.
enum Scalar : uint32_t { kClasses, kPerAnchor, kCount, kBins, kFirstOfHeads };
constexpr uint32_t kScalarsOfHead = 7;

int Int(std::size_t value) { return static_cast<int>(value); }
uint32_t Extent(std::size_t value) { return static_cast<uint32_t>(value); }

[[noreturn]] void Refuse(const std::string& what) {
  throw std::invalid_argument("YoloDecode: " + what);
}

double Sigmoid(double t) { return 1 / (1 + std::exp(-t)); }

// The elements of a cell's anchor.
struct Values {
  const float* first;
  std::size_t step;
  float operator[](std::size_t i) const { return first[i * step]; }
};

double MeanBin(const Values& t, std::size_t first, std::size_t bins) {
  double largest = t[first];
  for (std::size_t i = 1; i < bins; ++i) {
    largest = std::fmax(largest, t[first + i]);
  }
  double sum = 0;
  double weighted = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    const double e = std::exp(t[first + i] - largest);
    sum += e;
    weighted += e * static_cast<double>(i);
  }
  return weighted / sum;
}

struct Side {
  double low;
  double high;
};

// Of axis 0, x, or 1, y; `anchor` is its size there.
Side AnchoredSide(YoloDecode::Version version, const Values& t,
                  std::size_t axis, double cell, double anchor, double stride,
                  double scale_x_y) {
  const double s = Sigmoid(t[axis]);
  double centre = (2 * s - 0.5 + cell) * stride;
  double size = std::pow(2 * Sigmoid(t[axis + 2]), 2) * anchor;
  if (version == YoloDecode::Version::kV3) {
    centre = (s * scale_x_y - (scale_x_y - 1) / 2 + cell) * stride;
    size = std::exp(double{t[axis + 2]}) * anchor;
  }
  return {centre - size / 2, centre + size / 2};
}

Side DistantSide(const Values& t, std::size_t axis, double cell,
                 std::size_t bins, double stride) {
  const double centre = (cell + 0.5) * stride;
  return {centre - MeanBin(t, axis * bins, bins) * stride,
          centre + MeanBin(t, (axis + 2) * bins, bins) * stride};
}

}  // namespace

YoloDecode::YoloDecode(vx::Graph* graph, const Parameters& parameters)
    : CustomOpBase(graph,
                   std::max(Extent(parameters.strides.size()), uint32_t{1}), 2,
                   -1, "YoloDecode",
                   {{"version", parameters.version},
                    {"layout", parameters.layout},
                    {"num_classes", parameters.num_classes},
                    {"strides", parameters.strides},
                    {"anchors", parameters.anchors},
                    {"scale_x_y", parameters.scale_x_y},
                    {"bins", parameters.bins}}),
      parameters_(parameters) {
  kernel_resource_ = kSource;
}

std::shared_ptr<vx::Operation> YoloDecode::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<YoloDecode>(parameters_);
}

void YoloDecode::SetupTypes() {
  SetOutputType(0, vx::DataType::FLOAT32);
  SetOutputType(1, vx::DataType::FLOAT32);
}

std::size_t YoloDecode::Anchors() const {
  return HasAnchors()
             ? parameters_.anchors.size() / 2 / parameters_.strides.size()
             : 1;
}

std::size_t YoloDecode::Features() const {
  const auto classes = static_cast<std::size_t>(parameters_.num_classes);
  if (HasAnchors()) return Anchors() * (5 + classes);
  return 4 * static_cast<std::size_t>(parameters_.bins) + classes;
}

void YoloDecode::CheckParameters() const {
  const Parameters& p = parameters_;
  const std::size_t heads = p.strides.size();
  const std::string of_heads = " of " + std::to_string(heads) + " heads";
  if (heads == 0) Refuse("strides is empty, expected one per head");
  for (const float stride : p.strides) {
    if (stride > 0 && std::isfinite(stride)) continue;
    Refuse("a stride is " + NumberText(stride) + ", expected above 0");
  }
  if (p.num_classes < 1) {
    Refuse("num_classes is " + std::to_string(p.num_classes) +
           ", expected 1 or more");
  }
  const std::string numbers = std::to_string(p.anchors.size()) + " numbers";
  if (HasAnchors() &&
      (p.anchors.empty() || p.anchors.size() % (2 * heads) != 0)) {
    Refuse("anchors has " + numbers +
           ", expected as many pairs (width, height) for each" + of_heads);
  }
  if (!HasAnchors() && !p.anchors.empty()) {
    Refuse("anchors has " + numbers + ", kV8 has none");
  }
  if (!HasAnchors() && p.bins < 1) {
    Refuse("bins is " + std::to_string(p.bins) + ", expected 1 or more");
  }
  if (!p.scale_x_y.empty() && p.scale_x_y.size() != heads) {
    Refuse("scale_x_y has " + std::to_string(p.scale_x_y.size()) +
           " numbers, expected none or one for each" + of_heads);
  }
}

// Returns the number of its boxes.
std::size_t YoloDecode::AddHead(std::size_t i, std::size_t first) {
  const vx::ShapeType& shape = inputs_size_[i];
  const std::string name = "head " + std::to_string(i);
  const bool is_planar = parameters_.layout == Layout::kPlanar;
  const std::size_t features = Features();
  if (shape.size() != 4 || shape[is_planar ? 2 : 0] != features ||
      shape[3] != batch_) {
    Refuse(name + " has another shape than " +
           (is_planar ? "{W, H, F, B}" : "{F, W, H, B}") +
           ", where F = " + std::to_string(features) + " = " +
           (HasAnchors() ? "anchors per head * (5 + num_classes)"
                         : "4 * bins + num_classes") +
           " and B = " + std::to_string(batch_) + " of head 0");
  }
  Head head;
  head.width = shape[is_planar ? 0 : 1];
  head.cells = head.width * shape[is_planar ? 1 : 2];
  head.first = first;
  head.of_cell = is_planar ? 1 : features;
  head.of_feature = is_planar ? head.cells : 1;
  head.scale_x_y =
      parameters_.scale_x_y.empty() ? 1.0f : parameters_.scale_x_y[i];
  CheckedProduct("YoloDecode", name.c_str(), {head.cells, features, batch_});
  heads_.push_back(head);
  return head.cells * Anchors();
}

void YoloDecode::SetupShapeInfor() {
  CheckParameters();
  CheckedProduct(
      "YoloDecode", "a cell",
      {4 + static_cast<std::size_t>(parameters_.bins),
       5 + static_cast<std::size_t>(parameters_.num_classes), Anchors()});
  heads_.clear();
  batch_ = inputs_size_[0].empty() ? 0 : inputs_size_[0].back();
  boxes_ = 0;
  for (std::size_t i = 0; i < inputs_size_.size(); ++i) {
    boxes_ += AddHead(i, boxes_);
  }
  const auto classes = static_cast<std::size_t>(parameters_.num_classes);
  CheckedProduct("YoloDecode", "boxes", {4, boxes_, batch_});
  CheckedProduct("YoloDecode", "scores", {boxes_, classes, batch_});
  outputs_size_[0] = {4, Extent(boxes_), Extent(batch_)};
  outputs_size_[1] = {Extent(boxes_), Extent(classes), Extent(batch_)};
}

void YoloDecode::SetupParams(std::vector<vx::DataType> input_types,
                             std::string& build_option) {
  for (const vx::DataType type : input_types) {
    if (type == vx::DataType::FLOAT32) continue;
    Refuse("a head of another type than FLOAT32; put a DataConvert before it");
  }
  if (HasAnchors()) build_option = "-DHAS_ANCHORS";
  if (parameters_.version == Version::kV3) build_option += " -DEXPONENTIAL";
  func_name_ = HasAnchors() ? "decode_anchors" : "decode_distances";
  if (HasAnchors()) AddTable(parameters_.anchors);
  // In the order of Scalar.
  vx::ops::param_transform(
      std::make_tuple(parameters_.num_classes, Int(Features() / Anchors()),
                      Int(boxes_), parameters_.bins),
      param_list_);
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const Head& head = heads_[i];
    vx::ops::param_transform(
        std::make_tuple(Int(i * Anchors()), Int(head.width), Int(head.first),
                        Int(head.of_cell), Int(head.of_feature),
                        parameters_.strides[i], head.scale_x_y),
        param_list_);
  }
}

void YoloDecode::SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                              std::vector<size_t>&) {
  for (uint32_t i = 0; i < Extent(heads_.size()); ++i) {
    std::vector<KernelArg> args = {KernelArg::Input(i), KernelArg::Output(0),
                                   KernelArg::Output(1)};
    if (HasAnchors()) args.push_back(KernelArg::Table(0));
    for (const Scalar scalar : {kClasses, kPerAnchor, kCount}) {
      args.push_back(KernelArg::Scalar(scalar));
    }
    // Its first anchor or the bins; no scale_x_y where there are no anchors.
    const uint32_t first = kFirstOfHeads + i * kScalarsOfHead;
    args.push_back(KernelArg::Scalar(HasAnchors() ? first : uint32_t{kBins}));
    const uint32_t count = HasAnchors() ? kScalarsOfHead : kScalarsOfHead - 1;
    for (uint32_t k = 1; k < count; ++k) {
      args.push_back(KernelArg::Scalar(first + k));
    }
    const std::vector<std::size_t> global = {heads_[i].cells, Anchors(),
                                             batch_};
    if (i > 0) {
      AddKernel(func_name_, global, {}, args);
      continue;
    }
    dim = 3;
    gobal_size = global;
    SetKernelArgs(args);
  }
}

void YoloDecode::HostEval(const std::vector<HostInput>& inputs,
                          const std::vector<HostOutput>& outputs) {
  const auto classes = static_cast<std::size_t>(parameters_.num_classes);
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const std::size_t items = batch_ * Anchors() * heads_[i].cells;
    for (std::size_t item = 0; item < items; ++item) {
      DecodeOnHost(i, item, inputs[i].Data<float>(), outputs[0].Data<float>(),
                   outputs[1].Data<float>(), classes);
    }
  }
}

// `item` counts cells, then anchors, then images.
void YoloDecode::DecodeOnHost(std::size_t i, std::size_t item,
                              const float* elements, float* boxes,
                              float* scores, std::size_t classes) const {
  const Head& head = heads_[i];
  const std::size_t cell = item % head.cells;
  const std::size_t anchor = item / head.cells % Anchors();
  const std::size_t image = item / head.cells / Anchors();
  const std::size_t per_anchor = Features() / Anchors();
  const Values t = {elements + image * Features() * head.cells +
                        anchor * per_anchor * head.of_feature +
                        cell * head.of_cell,
                    head.of_feature};
  const std::size_t n = head.first + anchor * head.cells + cell;
  const double at[] = {static_cast<double>(cell % head.width),
                       static_cast<double>(cell / head.width)};
  const double stride = parameters_.strides[i];
  const auto bins = static_cast<std::size_t>(parameters_.bins);
  float* const box = boxes + (image * boxes_ + n) * 4;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const Side side =
        HasAnchors()
            ? AnchoredSide(
                  parameters_.version, t, axis, at[axis],
                  parameters_.anchors[(i * Anchors() + anchor) * 2 + axis],
                  stride, head.scale_x_y)
            : DistantSide(t, axis, at[axis], bins, stride);
    box[1 - axis] = static_cast<float>(side.low);
    box[3 - axis] = static_cast<float>(side.high);
  }
  const double objectness = HasAnchors() ? Sigmoid(t[4]) : 1;
  const std::size_t first = HasAnchors() ? 5 : 4 * bins;
  for (std::size_t c = 0; c < classes; ++c) {
    scores[(image * classes + c) * boxes_ + n] =
        static_cast<float>(objectness * Sigmoid(t[first + c]));
  }
}

}  // namespace custom_ops
}  // namespace tim
