// The networks that are measured, by name.
#ifndef TIM_BENCH_MODELS_CATALOG_H_
#define TIM_BENCH_MODELS_CATALOG_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "bench/networks/codes.h"
#include "bench/networks/network.h"

namespace tim::bench {

/// Convolutional networks take one image of `size` x `size` pixels, a multiple
/// of 32.  There is no dropout.
///
/// Classifiers give 1000 logits; their batch normalisations are folded but for
/// those of DenseNet and Inception-v2.
Network Resnet50(uint32_t size);     ///< v1.5: the 3x3 has the stride.
Network MobilenetV2(uint32_t size);  ///< Width 1.0.
Network MobilenetV3Small(uint32_t size);
Network Squeezenet11(uint32_t size);
Network Vgg16(uint32_t size);
Network Densenet121(uint32_t size);
Network InceptionV1(uint32_t size);   ///< Without the auxiliary classifiers.
Network InceptionV2(uint32_t size);   ///< Likewise.
Network ShufflenetV2(uint32_t size);  ///< Width 1.0.
/// A small detector: 85 numbers for each box.
Network YoloHead(uint32_t size);
/// Segmentation: 54 logits for each pixel.
Network FeaturePyramid(uint32_t size);
/// Segmentation, 16 channels at first: 2 logits for each pixel.
Network Unet(uint32_t size);

/// 4 layers of width 256 with 4 heads; the input is a sequence of 128 numbers
/// in [-1, 1], each of which is scaled to one of 8193 tokens.
Network TransformerEncoder();
/// One layer of 256 units, 50 steps of 256 numbers, batch 8; all its states.
Network Lstm();
Network Gru();
/// Two fully connected layers of 1024 units, batch 8.
Network Perceptron();
/// One Relu on 16 numbers: what a process costs without a network.
Network OneRelu();

/// 1x1 convolutions of 16 channels with a Relu or a residual sum: at least
/// `nodes` operations, for the time and memory that Compile takes for each.
Network Residuals(int nodes);

struct CatalogEntry {
  const char* name;
  Network (*make)(uint32_t size);
  /// Of the results of its layers, for networks that are measured in 8 bits.
  std::span<const Range> (*ranges)() = nullptr;
};
std::span<const CatalogEntry> Catalog();

constexpr uint32_t kImageSize = 224;

/// One of the catalog, or Residuals(n) as "residuals_n", in float32, or in
/// kInt8 or kUint8 as Quantize() makes it; kNotFound with the names there are.
Result<Network> MakeNetwork(std::string_view name, uint32_t size,
                            ElementType type = ElementType::kFloat32);

}  // namespace tim::bench

#endif  // TIM_BENCH_MODELS_CATALOG_H_
