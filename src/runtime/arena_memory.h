// Where the arenas of a context lie.
#ifndef TIM_RUNTIME_ARENA_MEMORY_H_
#define TIM_RUNTIME_ARENA_MEMORY_H_

#include <cstdint>

namespace tim::runtime {

enum class ArenaMemory : uint8_t {
  kOwn,     ///< Of contexts that stay as long as their executable.
  kPooled,  ///< Of contexts that come and go: in the pools of the devices.
  kGiven,   ///< Of each run: see GivenArenas.
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_ARENA_MEMORY_H_
