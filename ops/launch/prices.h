// How much of a device's peaks kernels reach: the table that their estimates
// are made from.
//
// A row is what `bench/run.sh prices` measures on large operands, median over
// the cases of a kernel, on devices whose peaks are known or calibrated
// (DeviceInfo::gflops, gbytes_per_second).  Columns of device classes that have
// no machine in the table hold what their kernels were written for.  Plans
// follow from it: a test pins it, and whoever changes a row shows what becomes
// of the networks (`bench/run.sh compare --base`).
#ifndef TIM_OPS_LAUNCH_PRICES_H_
#define TIM_OPS_LAUNCH_PRICES_H_

#include "ir/kernel_def.h"

namespace tim::ops {

/// Shares of arithmetic peak and of memory bandwidth, in (0, 1] and beyond
/// where caches or lower precision exceed what the device calls its peak.
struct Share {
  double compute = 0;
  double memory = 0.5;
};

/// One row.  A kernel for one class of devices has the other's share unset.
struct Price {
  Share cpu;
  Share gpu = {};

  const Share& On(const ir::DeviceInfo& device) const {
    return device.device_class == ir::DeviceClass::kCpu ? cpu : gpu;
  }
};

/// Microseconds of work by a kernel with this price, a launch included.
double EstimateMicroseconds(const ir::ComputeEstimate& estimate,
                            const ir::DeviceInfo& device, const Price& price);

/// Rows by kernel, then by what the kernel does differently in it.
namespace prices {

inline constexpr Price kArg = {{0.03}, {0.03}};
inline constexpr Price kAttention = {{0.5}};
inline constexpr Price kAttentionSimt = {.cpu = {}, .gpu = {0.15}};
inline constexpr Price kBatchNorm = {{0.1}, {0.1}};
inline constexpr Price kBinary = {{0.1}, {0.1}};
// More than the reference kernels, of which an item makes a single result:
// their estimates do not tell that few results keep few units busy.
inline constexpr Price kByteWords = {.cpu = {}, .gpu = {0.03}};
inline constexpr Price kConcat = {{0.1}, {0.1}};
inline constexpr Price kConv2d = {{0.012}, {0.012}};
inline constexpr Price kConv2d1x1DepthwiseNchw16c = {{0.6}};
inline constexpr Price kConv2dDepthwiseNchw16c = {{0.3}};
inline constexpr Price kConv2dDepthwiseNchw16cI8 = {{0.2}};
inline constexpr Price kConv2dDepthwiseNchw16cI8Vnni = {{0.4}};
inline constexpr Price kConv2dDepthwiseSimt = {.cpu = {}, .gpu = {0.2}};
inline constexpr Price kConv2dDepthwiseSimtI8 = {.cpu = {}, .gpu = {0.2}};
inline constexpr Price kConv2dNchw16c = {{0.6}};
inline constexpr Price kConv2dNchw16cDense = {{0.4}};
inline constexpr Price kConv2dNchw16cI8 = {{0.6}};
inline constexpr Price kConv2dNchw16cI8Amx = {{8.0}};
inline constexpr Price kConv2dNchw16cI8Dense = {{0.5}};
inline constexpr Price kConv2dNchw16cI8DenseVnni = {{2.0}};
inline constexpr Price kConv2dNchw16cI8Vnni = {{2.4}};
inline constexpr Price kConv2dWinogradNchw16c = {{0.57, 0.6}};
inline constexpr Price kConv3d = {{0.012}, {0.012}};
inline constexpr Price kConv3dTile = {{0.3}};
inline constexpr Price kConvert = {{0.1}, {0.1}};
inline constexpr Price kCumSum = {{0.01, 0.3}, {0.01, 0.3}};
inline constexpr Price kDataConvertBlocks = {{0.2}};
inline constexpr Price kDeconv = {{0.012}, {0.012}};
inline constexpr Price kDeconvNchw16c = {{0.5}};
inline constexpr Price kElementMapTranspose = {{0.2}, {0.2}};
inline constexpr Price kFullyConnected = {{0.02}, {0.02}};
inline constexpr Price kFullyConnectedDotSimtFourRows = {.cpu = {},
                                                         .gpu = {0.2, 0.8}};
inline constexpr Price kFullyConnectedDotSimtOneRow = {.cpu = {},
                                                       .gpu = {0.05, 0.8}};
inline constexpr Price kFullyConnectedDotSimtTwoRows = {.cpu = {},
                                                        .gpu = {0.1, 0.8}};
inline constexpr Price kFullyConnectedF32FourRows = {{0.32, 0.8}};
inline constexpr Price kFullyConnectedF32OneRow = {{0.08, 0.95}};
inline constexpr Price kFullyConnectedF32TwoRows = {{0.16, 0.8}};
inline constexpr Price kGather = {{0.1}, {0.1}};
inline constexpr Price kGatherElements = {{0.05}, {0.05}};
inline constexpr Price kGemm = {{0.8, 0.9}};
inline constexpr Price kGemmClblast = {.cpu = {}, .gpu = {0.7}};
inline constexpr Price kGemmEpilogue = {.cpu = {}, .gpu = {1.0}};
inline constexpr Price kGemmI8 = {{0.6, 0.9}};
inline constexpr Price kGemmI8Amx = {{8.0, 0.9}};
inline constexpr Price kGemmI8Vnni = {{2.4, 0.9}};
inline constexpr Price kHashtableLookup = {{0.1}, {0.1}};
inline constexpr Price kIndexMap = {{0.1}, {0.1}};
inline constexpr Price kLocalResponseNormalization = {{0.2}, {0.2}};
inline constexpr Price kLstm = {{0.3}};
inline constexpr Price kLstmSimt = {.cpu = {}, .gpu = {0.3}};
inline constexpr Price kMatmul = {{0.02}, {0.02}};
inline constexpr Price kMaxPool = {{0.008}, {0.008}};
inline constexpr Price kMaxUnpool2d = {{0.008}, {0.008}};
inline constexpr Price kMaxpoolGrad = {{0.008}, {0.008}};
inline constexpr Price kMoments = {{0.05, 0.25}, {0.05, 0.25}};
inline constexpr Price kOneHot = {{0.1}, {0.1}};
inline constexpr Price kPacking = {{1.0}, {1.0}};
inline constexpr Price kPad = {{0.1}, {0.1}};
// A window of 2 x 2 takes one core of a CPU 20 ns.
inline constexpr Price kPool2d = {{0.0017, 0.2}, {0.008, 0.2}};
inline constexpr Price kPool2dNchw16c = {{0.05}};
inline constexpr Price kPool2dNchw16cCodes = {{0.2}};
inline constexpr Price kPool2dRows = {{0.05}};
inline constexpr Price kPool2dRowsCodes = {{0.1}};
inline constexpr Price kReduce = {{0.05}, {0.05}};
inline constexpr Price kReorder = {{1.0, 0.1}, {1.0, 0.1}};
inline constexpr Price kReorderTiles = {{1.0, 0.6}, {1.0, 0.6}};
inline constexpr Price kResize = {{0.005, 0.2}, {0.008, 0.2}};
inline constexpr Price kResizeVectors = {{0.05, 0.2}, {0.05, 0.2}};
// Alone no faster than kRowNormRms.
inline constexpr Price kRmsNormalizationF32 = {{0.36}};
inline constexpr Price kRoiAlign = {{0.008}, {0.008}};
inline constexpr Price kRoiPool = {{0.008}, {0.008}};
inline constexpr Price kRowNorm = {{0.2}, {0.2}};
// RMS reads a row twice, and its sum takes one operation: it reaches twice the
// bandwidth of the others.
inline constexpr Price kRowNormRms = {{0.4}, {0.4}};
inline constexpr Price kRowNormSimt = {.cpu = {}, .gpu = {0.3}};
inline constexpr Price kRowNormSimtRms = {.cpu = {}, .gpu = {0.6}};
inline constexpr Price kScatter = {{0.05}, {0.05}};
inline constexpr Price kSelect = {{0.1}, {0.1}};
inline constexpr Price kSequenceLoop = {{0.3}};
inline constexpr Price kSequenceLoopSimt = {{0.02}, {0.02}};
inline constexpr Price kSimtTile = {.cpu = {}, .gpu = {0.6}};
inline constexpr Price kSoftmax = {{0.2}, {0.2}};
// From a table of powers, or by estimates in 16 bits (softmax_estimate.clh).
inline constexpr Price kSoftmaxBytes = {{0.7}};
inline constexpr Price kSoftmaxBytesAvx512 = {{2.5}};
inline constexpr Price kSoftmaxSimt = {.cpu = {}, .gpu = {0.3}};
inline constexpr Price kSpatialTransformer = {{0.008}, {0.008}};
inline constexpr Price kSvdf = {{0.05}, {0.05}};
inline constexpr Price kTinyYolov4Postprocess = {{0.008}, {0.008}};
inline constexpr Price kTopk = {{0.01}, {0.01}};
inline constexpr Price kTranspose = {{0.02}, {0.02}};
inline constexpr Price kUnary = {{0.1}, {0.1}};
inline constexpr Price kUnaryTable = {{0.01}, {0.01}};

}  // namespace prices
}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_PRICES_H_
