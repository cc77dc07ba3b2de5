// Pools, and images of another size.
#include "models/tflite/node.h"
#include "models/tflite/ops/images.h"
#include "tim/vx/ops/batch2space.h"
#include "tim/vx/ops/depth2space.h"
#include "tim/vx/ops/pool2d.h"
#include "tim/vx/ops/resize.h"
#include "tim/vx/ops/space2batch.h"
#include "tim/vx/ops/space2depth.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

template <vx::PoolType type>
Status Pool(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 4));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Pool2d>());
  TIM_ASSIGN_OR_RETURN(const auto padding, PaddingOf(node, options->padding()));
  TIM_ASSIGN_OR_RETURN(
      const auto stride,
      Cells(node, "stride", options->stride_w(), options->stride_h()));
  TIM_ASSIGN_OR_RETURN(
      const auto window,
      Cells(node, "window", options->window_w(), options->window_h()));
  TIM_ASSIGN_OR_RETURN(const Value image, ChannelsFirst(node, node.inputs[0]));
  return SetImage(node,
                  node.builder().Add<ops::Pool2d>(
                      {image}, node.WantedOf(0), type, padding, window, stride),
                  options->activation());
}

Status Resize(Node& node, vx::ResizeType type, bool align_corners,
              bool half_pixel_centers) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 4));
  TIM_ASSIGN_OR_RETURN(const auto size, node.ConstantInts(1));
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || size[0] > INT32_MAX ||
      size[1] > INT32_MAX) {
    return node.Refuse("input 1", "the size is [", StrJoin(size, ","), "]");
  }
  TIM_ASSIGN_OR_RETURN(const Value image, ChannelsFirst(node, node.inputs[0]));
  return SetImage(node,
                  node.builder().Add<ops::Resize>(
                      {image}, node.WantedOf(0), type, 0.0f, align_corners,
                      half_pixel_centers, static_cast<int>(size[0]),
                      static_cast<int>(size[1])),
                  fbs::Activation::NONE);
}

Status ResizeBilinear(Node& node) {
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::ResizeBilinear>());
  return Resize(node, vx::ResizeType::BILINEAR, options->align_corners(),
                options->half_pixel_centers());
}

Status ResizeNearest(Node& node) {
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::ResizeNearest>());
  return Resize(node, vx::ResizeType::NEAREST_NEIGHBOR,
                options->align_corners(), options->half_pixel_centers());
}

Status SpaceToDepth(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 4));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::SpaceToDepth>());
  if (options->block() < 1) {
    return node.Refuse("block_size", "it is ", options->block());
  }
  TIM_ASSIGN_OR_RETURN(const Value image, ChannelsFirst(node, node.inputs[0]));
  const std::vector<int> block = {options->block(), options->block()};
  return SetImage(
      node,
      node.builder().Add<ops::SpaceToDepth>({image}, node.WantedOf(0), block),
      fbs::Activation::NONE);
}

Status DepthToSpace(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 4));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::DepthToSpace>());
  if (options->block() < 1) {
    return node.Refuse("block_size", "it is ", options->block());
  }
  TIM_ASSIGN_OR_RETURN(const Value image, ChannelsFirst(node, node.inputs[0]));
  return SetImage(node,
                  node.builder().Add<ops::DepthToSpace>(
                      {image}, node.WantedOf(0), options->block()),
                  fbs::Activation::NONE);
}

struct Blocks {
  std::vector<int> extents;  ///< Width first.
  std::vector<int> edges;    ///< Cells of width, then height, before and after.
};

// Inputs 1 and 2: blocks, and padding or crops, of height first.
Result<Blocks> BlocksOf(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  const int rank = node.inputs[0].rank();
  if (rank != 3 && rank != 4) {
    return node.Refuse("input 0", "its rank is ", rank, ", not 3 or 4");
  }
  const size_t axes = static_cast<size_t>(rank) - 2;
  TIM_ASSIGN_OR_RETURN(const auto extents, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const auto edges, node.ConstantInts(2));
  if (extents.size() != axes || edges.size() != 2 * axes) {
    return node.Refuse("input 1", extents.size(), " blocks and ", edges.size(),
                       " edges of ", axes, " axes");
  }
  Blocks blocks;
  for (size_t i = axes; i-- > 0;) {
    for (const int64_t number : {extents[i], edges[2 * i], edges[2 * i + 1]}) {
      if (number < 0 || number > INT32_MAX || extents[i] == 0) {
        return node.Refuse("input 1", "blocks [", StrJoin(extents, ","),
                           "], edges [", StrJoin(edges, ","), "]");
      }
    }
    blocks.extents.push_back(static_cast<int>(extents[i]));
    blocks.edges.push_back(static_cast<int>(edges[2 * i]));
    blocks.edges.push_back(static_cast<int>(edges[2 * i + 1]));
  }
  return blocks;
}

template <typename Op>
Status Batches(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(node));
  TIM_ASSIGN_OR_RETURN(const Value image, ChannelsFirst(node, node.inputs[0]));
  return SetImage(node,
                  node.builder().Add<Op>({image}, node.WantedOf(0),
                                         blocks.extents, blocks.edges),
                  fbs::Activation::NONE);
}

}  // namespace

void AddPools(OperatorTable* table) {
  OperatorTable& to = *table;
  to["AVERAGE_POOL_2D"] = Pool<vx::PoolType::AVG_ANDROID>;
  to["MAX_POOL_2D"] = Pool<vx::PoolType::MAX>;
  to["L2_POOL_2D"] = Pool<vx::PoolType::L2>;
  to["RESIZE_BILINEAR"] = ResizeBilinear;
  to["RESIZE_NEAREST_NEIGHBOR"] = ResizeNearest;
  to["SPACE_TO_DEPTH"] = SpaceToDepth;
  to["DEPTH_TO_SPACE"] = DepthToSpace;
  to["SPACE_TO_BATCH_ND"] = Batches<ops::Space2Batch>;
  to["BATCH_TO_SPACE_ND"] = Batches<ops::Batch2Space>;
}

}  // namespace tim::models::tflite
