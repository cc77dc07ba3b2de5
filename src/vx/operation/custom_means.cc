#include "vx/operation/custom_means.h"

#include <algorithm>
#include <cstring>

namespace tim::vx {
namespace {

bool Same(const ops::Param& a, const ops::Param& b) {
  return std::memcmp(&a.data, &b.data, sizeof(a.data)) == 0 &&
         a.type == b.type && a.wide == b.wide && a.lanes == b.lanes;
}

}  // namespace

CustomMeans::CustomMeans(const CustomMeans& original)
    : optional(original.optional),
      tables(original.tables.begin(),
             original.tables.begin() +
                 static_cast<std::ptrdiff_t>(original.own_tables)),
      own_tables(original.own_tables) {}

void CustomMeans::Begin(std::vector<ops::Param>* param_list) {
  if (begun && std::equal(param_list->begin(), param_list->end(), left_.begin(),
                          left_.end(), Same)) {
    *param_list = given_;
  }
  given_ = *param_list;
  begun = true;
  tables.resize(own_tables);
  scratch.clear();
  locals.clear();
  zeroed.clear();
  kernels.clear();
  first_args.reset();
}

void CustomMeans::End(const std::vector<ops::Param>& param_list) {
  left_ = param_list;
}

}  // namespace tim::vx
