// Where the process keeps built programs.
#ifndef TIM_VX_CORE_USER_PROGRAMS_H_
#define TIM_VX_CORE_USER_PROGRAMS_H_

#include <memory>

#include "runtime/cache/program_cache.h"

namespace tim::vx {

/// A cache in the folder that the environment names: TIMCL_CACHE_DIR, else
/// $XDG_CACHE_HOME/tim-cl or $HOME/.cache/tim-cl; it keeps nothing where
/// TIMCL_CACHE_DIR is "off".
std::shared_ptr<runtime::ProgramCache> UserPrograms();

}  // namespace tim::vx

#endif  // TIM_VX_CORE_USER_PROGRAMS_H_
