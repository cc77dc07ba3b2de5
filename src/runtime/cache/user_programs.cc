#include "runtime/cache/user_programs.h"

#include <cstdlib>

#include "base/options.h"

namespace tim::runtime {

std::shared_ptr<ProgramCache> UserPrograms() {
  return ProgramCache::Create(UserCacheOptions(GetOptions().cache_dir,
                                               std::getenv("XDG_CACHE_HOME"),
                                               std::getenv("HOME")));
}

}  // namespace tim::runtime
