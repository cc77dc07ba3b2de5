// Asks the system and the library what they are.
#include "vx/core/environment.h"

#include <sys/utsname.h>

#include <string>

#include "base/processors.h"
#include "runtime/stored_plan.h"

namespace tim::vx {
namespace {

std::string SystemText() {
  utsname names = {};
  if (uname(&names) != 0) return "unknown";
  return StrCat(names.sysname, " ", names.release, " ", names.machine);
}

}  // namespace

std::vector<binary::Fact> EnvironmentOf(const device::Devices& devices,
                                        bool strict, bool lenient) {
  std::vector<binary::Fact> facts = {
      {"library", TIM_CL_VERSION},
      {"kernels", runtime::KernelsIdentity()},
      {"system", SystemText()},
      {"processors", StrCat(UsableProcessors())}};
  for (size_t i = 0; i < devices.size(); ++i) {
    facts.push_back({StrCat("device ", i), devices[i]->info().ToString()});
  }
  facts.push_back({"strict", strict ? "1" : "0"});
  facts.push_back({"lenient", lenient ? "1" : "0"});
  for (const auto& [name, text] : GetOptions().variables) {
    if (name.starts_with("TIMCL_RECORD")) continue;
    facts.push_back({name, text});
  }
  return facts;
}

}  // namespace tim::vx
