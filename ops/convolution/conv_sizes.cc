// Lists the sizes of a convolution by their names.
#include "ops/convolution/conv_sizes.h"

#include "base/str_cat.h"

namespace tim::ops {

Launch::Fields ConvSizes(const ConvShape& shape) {
  const ConvAxis axes[] = {shape.w, shape.h, shape.d};
  Launch::Fields fields = {{"in_channels", shape.channels},
                           {"out_channels", shape.group.out_channels},
                           {"batch", shape.batch},
                           {"group_channels", shape.group.channels},
                           {"group_outputs", shape.group.outputs}};
  for (size_t i = 0; i < std::size(axes); ++i) {
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
