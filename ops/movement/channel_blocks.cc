#include "ops/movement/channel_blocks.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "ir/element_map/compose.h"
#include "ops/elements/convert.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"

namespace tim::ops {
namespace {

constexpr int kChannelAxis = 2;
constexpr int kRank = 4;

// All loops but those of channels are alike in both tensors, and no bound looks
// at them.
bool KeepsPlacesAndImages(const ir::ElementMap& map, int64_t plane,
                          int64_t from_channels, int64_t to_channels) {
  int64_t place = 1;
  for (size_t k = 0; k < map.extents.size(); ++k) {
    const int64_t begin = std::exchange(place, place * map.extents[k]);
    if (begin >= plane && begin < plane * to_channels) continue;
    const int64_t expected =
        begin < plane ? begin : begin / to_channels * from_channels;
    const bool bounded =
        std::any_of(map.bounds.begin(), map.bounds.end(),
                    [&](const auto& bound) { return bound.strides[k] != 0; });
    if (map.extents[k] != 1 && (map.strides[k] != expected || bounded)) {
      return false;
    }
  }
  return true;
}

// What a kernel does with a block: mode and channel of a lane of kRow words.
constexpr size_t kRow = kChannelBlock + 2;
enum class Mode : int32_t {
  kShift,   ///< Channels one after the other, then zeros.
  kGather,  ///< Channels from anywhere, and zeros.
  kScatter  ///< Some lanes are left as they are.
};

using Lanes = std::vector<int64_t>;

// Lanes from the first on, as many as follow one another.
int64_t RunOf(const Lanes& lanes) {
  int64_t run = 0;
  while (run < kChannelBlock && lanes[run] >= 0 &&
         lanes[run] == lanes[0] + run) {
    ++run;
  }
  return run;
}

// The last position of a tensor is not read beyond.
Mode ModeOf(const Lanes& lanes) {
  if (std::count(lanes.begin(), lanes.end(), kOtherChannel) != 0) {
    return Mode::kScatter;
  }
  const int64_t run = RunOf(lanes);
  const bool zeros = std::all_of(lanes.begin() + run, lanes.end(),
                                 [](int64_t lane) { return lane < 0; });
  if (run == 0 || !zeros) return Mode::kGather;
  const int64_t shift = lanes[0] % kChannelBlock;
  return shift == 0 || shift + run > kChannelBlock ? Mode::kShift
                                                   : Mode::kGather;
}

// Rows {block of the output, mode, 16 lanes}.
std::vector<int32_t> TableOf(const ChannelSources& sources) {
  std::vector<int32_t> table;
  const auto channels = static_cast<int64_t>(sources.size());
  for (int64_t first = 0; first < channels; first += kChannelBlock) {
    Lanes lanes(kChannelBlock, kZeroChannel);
    const int64_t count = std::min(channels - first, kChannelBlock);
    std::copy_n(sources.begin() + first, count, lanes.begin());
    const auto is_other = [](int64_t lane) { return lane == kOtherChannel; };
    if (std::all_of(lanes.begin(), lanes.begin() + count, is_other)) continue;
    // Whoever makes the last channel makes the zeros behind it.
    if (is_other(lanes[count - 1])) {
      std::fill(lanes.begin() + count, lanes.end(), kOtherChannel);
    }
    table.push_back(static_cast<int32_t>(first / kChannelBlock));
    table.push_back(static_cast<int32_t>(ModeOf(lanes)));
    table.insert(table.end(), lanes.begin(), lanes.end());
  }
  return table;
}

}  // namespace

std::optional<ChannelSources> ChannelSourcesOf(const ir::ElementMap& map,
                                               const ir::Shape& from,
                                               const ir::Shape& to) {
  if (from.rank() != kRank || to.rank() != kRank || from[0] != to[0] ||
      from[1] != to[1] || from[3] != to[3]) {
    return std::nullopt;
  }
  const int64_t plane = to.Product(0, kChannelAxis);
  const int64_t channels = to[kChannelAxis];
  auto split = ir::SplitAt(map, plane);
  if (split) split = ir::SplitAt(*split, plane * channels);
  if (!split ||
      !KeepsPlacesAndImages(*split, plane, from[kChannelAxis], channels)) {
    return std::nullopt;
  }
  ChannelSources sources;
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t source = ir::SourceOf(*split, c * plane);
    if (source > 0 && source % plane != 0) return std::nullopt;
    sources.push_back(source < 0 ? kZeroChannel : source / plane);
  }
  const int64_t end = from[kChannelAxis];
  const bool inside = std::all_of(sources.begin(), sources.end(),
                                  [&](int64_t c) { return c < end; });
  return inside ? std::optional(std::move(sources)) : std::nullopt;
}

bool CanMoveChannels(const ir::TensorDesc& from, const ir::TensorDesc& to) {
  constexpr auto kCopy = kernels::ConvertRule::kBits;
  return FitsChannelBlocks(from) && FitsChannelBlocks(to) &&
         kernels::ConvertRuleOf(from, to) == kCopy &&
         ConversionKeepsZero(from, to, kCopy);
}

std::optional<int64_t> FirstOfWholeBlocks(const ChannelSources& sources,
                                          int64_t input_channels) {
  const auto count = static_cast<int64_t>(sources.size());
  for (int64_t c = 0; c < count; ++c) {
    if (sources[c] != sources[0] + c) return std::nullopt;
  }
  const bool tail_is_zero =
      count % kChannelBlock == 0 || sources[0] + count == input_channels;
  if (sources[0] % kChannelBlock != 0 || !tail_is_zero) return std::nullopt;
  return sources[0];
}

Status AppendChannelBlocks(const ir::KernelNode& node, int input, int output,
                           const ChannelSources& sources,
                           const ir::DeviceInfo& device,
                           ir::Lowering* lowering) {
  const ir::TensorDesc& from = node.inputs[input];
  const ir::TensorDesc& to = node.outputs[output];
  constexpr int64_t kPositions = 64;  // of one work-item
  std::vector<int32_t> table = TableOf(sources);
  const auto blocks = static_cast<int64_t>(table.size() / kRow);
  const int64_t inner = to.shape.Product(0, kChannelAxis);
  const int64_t outer = to.shape.Product(kChannelAxis + 1, kRank);
  Launch launch("ops/movement/channel_blocks.cl", "channel_blocks");
  launch.Option(StrCat("-DT=", BitsTypeName(to.type)))
      .Input("x", node, input)
      .Output("y", node, output)
      .Packed("table", PackedTable("channels", std::move(table)), 4);
  launch.Int("inner", inner)
      .Int("x_blocks", CeilDiv(from.shape[kChannelAxis], kChannelBlock))
      .Int("y_blocks", CeilDiv(to.shape[kChannelAxis], kChannelBlock))
      .Int("blocks", blocks)
      .Int("outer", outer)
      .Int("positions", kPositions)
      .Long("zero", RealBits(to, 0.0f));
  return launch.Tiles(device, CeilDiv(inner, kPositions) * blocks * outer)
      .AppendTo(lowering);
}

}  // namespace tim::ops
