// Col2Im of ONNX: blocks added where they lie in the image.
#include <cstdint>
#include <limits>
#include <vector>

#include "models/onnx/ops/images/images.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/scatternd.h"

namespace tim::models::onnx::images {
namespace {

/// One axis of the image and of its blocks.
struct Axis {
  int64_t image = 1, block = 1, dilation = 1, stride = 1, pad = 0, blocks = 1;
};

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

Result<std::vector<int64_t>> Listed(const Node& node, const char* name,
                                    size_t count, int64_t otherwise) {
  TIM_ASSIGN_OR_RETURN(auto values,
                       node.Ints(name, std::vector<int64_t>(count, otherwise)));
  bool taken = values.size() == count;
  for (const int64_t value : values) {
    taken = taken && value >= otherwise && value <= kMost;
  }
  if (taken) return values;
  return InvalidArgument("attribute '", name, "' is ", DimsText(values),
                         ", expected ", count, " values of at least ",
                         otherwise);
}

Result<std::vector<Axis>> ReadAxes(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const auto image, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const auto block, node.ConstantInts(2));
  const size_t count = image.size();
  if (count == 0 || block.size() != count) {
    return InvalidArgument("operands 1 and 2 are ", DimsText(image), " and ",
                           DimsText(block));
  }
  TIM_ASSIGN_OR_RETURN(const auto dilations,
                       Listed(node, "dilations", count, 1));
  TIM_ASSIGN_OR_RETURN(const auto strides, Listed(node, "strides", count, 1));
  TIM_ASSIGN_OR_RETURN(const auto pads, Listed(node, "pads", 2 * count, 0));
  std::vector<Axis> axes;
  for (size_t i = 0; i < count; ++i) {
    if (image[i] < 1 || image[i] > kMost || block[i] < 1 || block[i] > kMost) {
      return InvalidArgument("operands 1 and 2 are ", DimsText(image), " and ",
                             DimsText(block));
    }
    const int64_t room = image[i] + pads[i] + pads[i + count] -
                         dilations[i] * (block[i] - 1) - 1;
    if (room < 0) {
      return InvalidArgument("a block does not fit the image along axis ", i);
    }
    axes.push_back({image[i], block[i], dilations[i], strides[i], pads[i],
                    room / strides[i] + 1});
  }
  return axes;
}

/// Element of the image for each element of each block, outside of it where it
/// lies in the padding: [block elements, blocks].
std::vector<int32_t> Targets(const std::vector<Axis>& axes, int64_t elements,
                             int64_t blocks) {
  std::vector<int32_t> targets;
  targets.reserve(static_cast<size_t>(elements * blocks));
  for (int64_t element = 0; element < elements; ++element) {
    for (int64_t block = 0; block < blocks; ++block) {
      int64_t target = 0, scale = 1, in_block = element, of_blocks = block;
      bool inside = true;
      for (size_t i = axes.size(); i-- > 0;) {
        const Axis& axis = axes[i];
        const int64_t place = of_blocks % axis.blocks * axis.stride - axis.pad +
                              in_block % axis.block * axis.dilation;
        inside = inside && place >= 0 && place < axis.image;
        if (inside) target += place * scale;
        scale *= axis.image;
        of_blocks /= axis.blocks;
        in_block /= axis.block;
      }
      targets.push_back(static_cast<int32_t>(
          inside ? target : std::numeric_limits<int32_t>::max()));
    }
  }
  return targets;
}

}  // namespace

Status Col2Im(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const auto axes, ReadAxes(node));
  Dims image, block, blocks;
  for (const Axis& axis : axes) {
    image.push_back(axis.image);
    block.push_back(axis.block);
    blocks.push_back(axis.blocks);
  }
  TIM_ASSIGN_OR_RETURN(const int64_t pixels, Extent(image, 0, image.size()));
  TIM_ASSIGN_OR_RETURN(const int64_t each, Extent(block, 0, block.size()));
  TIM_ASSIGN_OR_RETURN(const int64_t count, Extent(blocks, 0, blocks.size()));
  if (pixels > kMost - 1 || each > kMostMadeBytes / 4 / count) {
    return Unimplemented("an image of ", pixels, " elements of ", count,
                         " blocks of ", each, " elements");
  }
  if (value.rank() != 3 || value.dims[1] % each != 0 || value.dims[1] == 0 ||
      value.dims[2] != count) {
    return InvalidArgument("operand 0 is ", Describe(value),
                           ", expected [N, a multiple of ", each, ",", count,
                           "]");
  }
  GraphBuilder* const builder = node.builder;
  const int64_t batch = value.dims[0], channels = value.dims[1] / each;
  // Rows of all channels: a block's element goes to one pixel of each.
  TIM_ASSIGN_OR_RETURN(
      const Value split,
      builder->Reshape(value, {batch * channels, each * count}));
  TIM_ASSIGN_OR_RETURN(const Value rows, builder->Transpose(split, {1, 0}));
  const Value targets =
      builder->ConstantOf(Targets(axes, each, count), {each * count, 1});
  const Dims summed = {pixels, batch * channels};
  TIM_ASSIGN_OR_RETURN(
      const Value sums,
      builder->Add<vx::ops::ScatterND>(
          {targets, rows}, Wanted::Of(value.type, summed), GraphShape(summed)));
  TIM_ASSIGN_OR_RETURN(const Value planes, builder->Transpose(sums, {1, 0}));
  Dims dims = {batch, channels};
  dims.insert(dims.end(), image.begin(), image.end());
  return node.SetOutput(0, builder->Reshape(planes, dims));
}

}  // namespace tim::models::onnx::images
