#include "ops/deconvolution/deconv_phases.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/checked_math.h"
#include "ops/elements/product_sum.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

// Which tap of its own a phase has at each tap of the convolution.
struct PhaseTaps {
  const ConvAxis& deconv;
  const ConvAxis& convolution;

  // -1: none.  Output position phase + x * stride has tap k of input position
  // (phase + pad - k) / stride + x.
  int64_t Of(int64_t phase, int64_t tap) const {
    const int64_t k =
        phase + deconv.pad - (tap - convolution.pad) * deconv.stride;
    return k >= 0 && k < deconv.kernel ? k : -1;
  }
};

ConvAxis PhasesOf(const ConvAxis& deconv) {
  // Where the taps of all phases read, from the pixel's own position on.
  const int64_t last = FloorDiv(deconv.stride - 1 + deconv.pad, deconv.stride);
  const int64_t before =
      std::max<int64_t>(0, (deconv.kernel - 1 - deconv.pad) / deconv.stride);
  return {.input = deconv.input,
          .kernel = before + last + 1,
          .output = CeilDiv(deconv.output, deconv.stride),
          .pad = before};
}

int64_t ChannelsOfPhase(const Conv2dShape& deconv) {
  return AlignUp(deconv.group.out_channels, kChannelBlock);
}

// For each channel of the phases that of the deconvolution; -1: none.
std::vector<int64_t> ChannelsOf(const Conv2dShape& deconv, int64_t count) {
  std::vector<int64_t> out(count);
  for (int64_t c = 0; c < count; ++c) {
    const int64_t own = c % ChannelsOfPhase(deconv);
    out[c] = own < deconv.group.out_channels ? own : -1;
  }
  return out;
}

// Channels that do not exist have the quantization of channel 0.
ir::Quantization PhasesOf(ir::Quantization quantization,
                          const std::vector<int64_t>& channels) {
  if (!quantization.per_channel()) return quantization;
  const ir::Quantization own = quantization;
  quantization.scales.clear();
  quantization.zero_points.clear();
  for (const int64_t channel : channels) {
    const int64_t c = std::max<int64_t>(channel, 0);
    quantization.scales.push_back(own.Scale(c));
    quantization.zero_points.push_back(own.ZeroPoint(c));
  }
  return quantization;
}

int64_t BytesOf(const ir::TensorDesc& desc) {
  return ir::Info(desc.type).bits / 8;
}

std::shared_ptr<const ir::ConstantData> PhaseBias(
    const ir::ConstantData& bias, int64_t bytes,
    const std::vector<int64_t>& channels) {
  std::vector<std::byte> out(channels.size() * bytes);
  for (size_t c = 0; c < channels.size(); ++c) {
    if (channels[c] < 0) continue;
    std::memcpy(&out[c * bytes], bias.bytes.data() + channels[c] * bytes,
                bytes);
  }
  return ir::MakeConstant(out);
}

// Of one byte each.
std::shared_ptr<const ir::ConstantData> PhaseWeights(
    const ir::ConstantData& weights, const ir::TensorDesc& desc,
    const Conv2dShape& deconv, const Conv2dShape& phases,
    const std::vector<int64_t>& channels) {
  const PhaseTaps taps_w = {deconv.w, phases.w};
  const PhaseTaps taps_h = {deconv.h, phases.h};
  std::vector<std::byte> out(phases.terms() * channels.size());
  std::byte* to = out.data();
  for (size_t c = 0; c < channels.size(); ++c) {
    const int64_t phase = static_cast<int64_t>(c) / ChannelsOfPhase(deconv);
    const int64_t phase_w = phase % deconv.w.stride;
    const int64_t phase_h = phase / deconv.w.stride;
    const auto zero = static_cast<std::byte>(
        desc.quantized()
            ? desc.quantization.ZeroPoint(std::max<int64_t>(channels[c], 0))
            : 0);
    const std::byte* own = weights.bytes.data() +
                           std::max<int64_t>(channels[c], 0) * deconv.terms();
    for (int64_t ic = 0; ic < deconv.group.channels; ++ic) {
      for (int64_t h = 0; h < phases.h.kernel; ++h) {
        const int64_t kh = taps_h.Of(phase_h, h);
        for (int64_t w = 0; w < phases.w.kernel; ++w) {
          const int64_t kw = taps_w.Of(phase_w, w);
          const bool exists = channels[c] >= 0 && kh >= 0 && kw >= 0;
          *to++ = exists
                      ? own[(ic * deconv.h.kernel + kh) * deconv.w.kernel + kw]
                      : zero;
        }
      }
    }
  }
  return ir::MakeConstant(out);
}

}  // namespace

Conv2dShape PhasesOf(const Conv2dShape& deconv) {
  Conv2dShape out = deconv;
  out.w = PhasesOf(deconv.w);
  out.h = PhasesOf(deconv.h);
  out.group.out_channels = out.group.outputs =
      ChannelsOfPhase(deconv) * deconv.w.stride * deconv.h.stride;
  return out;
}

double CountPhaseWeights(const Conv2dShape& deconv) {
  const auto taps = [](const ConvAxis& axis) {
    return static_cast<double>(PhasesOf(axis).kernel) *
           static_cast<double>(axis.stride);
  };
  return taps(deconv.w) * taps(deconv.h) *
         static_cast<double>(AlignUp(deconv.channels, kChannelBlock)) *
         static_cast<double>(ChannelsOfPhase(deconv));
}

ir::KernelNode PhaseNodeOf(const ir::KernelNode& node,
                           const Conv2dShape& deconv) {
  const Conv2dShape phases = PhasesOf(deconv);
  const std::vector<int64_t> channels =
      ChannelsOf(deconv, phases.group.out_channels);
  ir::KernelNode out = node;
  ir::TensorDesc& weights = out.inputs[1];
  if (node.constants[1] != nullptr) {
    out.constants[1] =
        PhaseWeights(*node.constants[1], weights, deconv, phases, channels);
  }
  weights.shape = {phases.w.kernel, phases.h.kernel, phases.group.channels,
                   phases.group.out_channels};
  weights.quantization = PhasesOf(weights.quantization, channels);
  if (const int bias = BiasOf(node); bias >= 0) {
    ir::TensorDesc& desc = out.inputs[bias];
    if (node.constants[bias] != nullptr) {
      out.constants[bias] =
          PhaseBias(*node.constants[bias], BytesOf(desc), channels);
    }
    desc.shape = {phases.group.out_channels};
    desc.quantization = PhasesOf(desc.quantization, channels);
  }
  return out;
}

Result<int> PackPhases(const ir::KernelNode& phase_node,
                       const Conv2dShape& deconv, ir::Lowering* lowering) {
  const Conv2dShape phases = PhasesOf(deconv);
  const int64_t count = phases.group.out_channels;
  Launch launch("ops/deconvolution/phase_weights.cl", "phase_weights");
  launch.Input("weights", phase_node, 1)
      .Packed("rules", ChannelTable(DescsOf(phase_node), count),
              sizeof(int32_t))
      .Scratch("phased", phases.terms() * count, 1)
      .Int("in_channels", deconv.channels)
      .Int("out_channels", deconv.group.out_channels)
      .Int("kernel_w", deconv.w.kernel)
      .Int("kernel_h", deconv.h.kernel)
      .Int("phase_channels", ChannelsOfPhase(deconv))
      .Int("phases_w", deconv.w.stride)
      .Int("phases_h", deconv.h.stride)
      .Int("first_w", deconv.w.pad + phases.w.pad * deconv.w.stride)
      .Int("first_h", deconv.h.pad + phases.h.pad * deconv.h.stride)
      .Int("w_taps", phases.w.kernel)
      .Int("h_taps", phases.h.kernel)
      .Global(AlignUp(deconv.channels, kChannelBlock), count)
      .Local(kChannelBlock);
  TIM_RETURN_IF_ERROR(launch.AppendTo(lowering));
  return static_cast<int>(lowering->scratch.size()) - 1;
}

}  // namespace tim::ops
