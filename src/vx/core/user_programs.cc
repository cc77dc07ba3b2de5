// Reads the environment for the cache of programs.
#include "vx/core/user_programs.h"

#include <cstdlib>

#include "base/options.h"

namespace tim::vx {

std::shared_ptr<runtime::ProgramCache> UserPrograms() {
  return runtime::ProgramCache::Create(runtime::UserCacheOptions(
      GetOptions().cache_dir, std::getenv("XDG_CACHE_HOME"),
      std::getenv("HOME")));
}

}  // namespace tim::vx
