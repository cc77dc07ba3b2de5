// The kernels of DetectionPostProcess.
#ifndef TIM_CUSTOM_OPS_DETECTION_KERNELS_H_
#define TIM_CUSTOM_OPS_DETECTION_KERNELS_H_

#include <string>

namespace tim {
namespace custom_ops {

/// OpenCL C, with that of BoxSelectionSource().  Options that it needs:
///   LABEL               the type of classes and numbers: float or int
///   ENCODINGS, SCORES   the operands that they are: INPUT0 and INPUT1
///   QUANTIZED           for UINT8 inputs
///   DECODE_IN_FLOAT     optional: no double where the device has it
std::string DetectionSource();

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_DETECTION_KERNELS_H_
