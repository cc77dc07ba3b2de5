#include "ir/device_info.h"

#include "base/str_cat.h"

namespace tim::ir {

const char* ToString(DeviceClass device_class) {
  static constexpr const char* kClasses[] = {"cpu", "gpu", "accelerator"};
  return kClasses[static_cast<int>(device_class)];
}

std::string DeviceInfo::ToString() const {
  return StrCat(
      kind, " '", name, "' (", vendor, ", driver ", driver, ", ",
      ir::ToString(device_class), ", ", compute_units, " units, alignment ",
      alignment, runs_eval ? ", eval" : "", has_fp16 ? ", fp16" : "",
      has_fp64 ? ", fp64" : "", has_subgroups ? ", subgroups" : "",
      has_integer_dot ? ", integer dot" : "", has_images ? ", images" : "",
      orders_stores ? ", ordered stores" : "", has_vnni ? ", vnni" : "",
      has_amx ? ", amx" : "", chains ? ", chains" : "",
      chains_singles ? ", chains singles" : "", winograd ? "" : ", no winograd",
      remote ? ", remote" : "", ")");
}

}  // namespace tim::ir
