// Descriptions of tensors, attributes and devices on both sides of the border.
#ifndef TIM_PLUGIN_DESCS_H_
#define TIM_PLUGIN_DESCS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/device_info.h"
#include "ir/tensor_desc.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// A description as plug-ins see it, with the arrays that it points to.
class DescView {
 public:
  explicit DescView(ir::TensorDesc desc, bool is_scalar = false);
  DescView(const DescView&) = delete;
  DescView& operator=(const DescView&) = delete;

  const TimTensorDesc* get() const { return &view_; }

 private:
  const ir::TensorDesc desc_;
  std::vector<int64_t> bounds_;
  TimTensorDesc view_{};
};

/// The tensor that a plug-in describes.  Values that do not exist, ranks out of
/// range and arrays that are missing are kInvalidArgument.
Result<ir::TensorDesc> DescOf(const TimTensorDesc& given);
/// The layout alone.
Result<ir::Layout> LayoutOf(const TimTensorDesc& given);

/// An attribute as plug-ins see it; it points into `value` and itself.
class AttributeView {
 public:
  /// \param graph of an attribute that is one, as plug-ins see it.
  AttributeView(const ir::Attribute& value, const TimGraph* graph);
  AttributeView(const AttributeView&) = delete;
  AttributeView& operator=(const AttributeView&) = delete;

  const TimAttribute& get() const { return view_; }

 private:
  std::vector<const char*> strings_;
  TimAttribute view_{};
};

/// The value of an attribute that a plug-in gives, graphs excepted.
Result<ir::Attribute> AttributeOf(const TimAttribute& given);

/// A description of device `number` of a plug-in of this kind, checked:
/// kInvalidArgument says which member is out of range.
Status CheckProps(const TimDeviceProps& props);
ir::DeviceInfo InfoOf(const TimDeviceProps& props, const std::string& kind,
                      bool imports);
/// Properties that kernels for OpenCL devices are told of one.
TimDeviceProps PropsOf(const ir::DeviceInfo& info);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_DESCS_H_
