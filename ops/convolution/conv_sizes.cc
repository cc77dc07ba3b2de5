// Lists the sizes of a convolution by their names.
#include "ops/convolution/conv_sizes.h"

#include "base/str_cat.h"

namespace tim::ops {

Launch::Fields ConvSizes(const std::array<ConvAxis, 3>& axes,
                         const ConvGroups& group, int64_t channels,
                         int64_t batch) {
  Launch::Fields fields = {{"in_channels", channels},
                           {"out_channels", group.out_channels},
                           {"batch", batch},
                           {"group_channels", group.channels},
                           {"group_outputs", group.outputs}};
  for (size_t i = 0; i < axes.size(); ++i) {
    const char axis = "whd"[i];
    const auto add = [&](const char* name, int64_t value) {
      fields.emplace_back(StrCat(name, "_", axis), value);
    };
    add("in", axes[i].input);
    add("out", axes[i].output);
    add("kernel", axes[i].kernel);
    add("stride", axes[i].stride);
    add("dilation", axes[i].dilation);
    add("pad", axes[i].pad);
  }
  return fields;
}

}  // namespace tim::ops
