// What processes that were forked off another must know.
#ifndef TIM_BASE_FORK_FORK_H_
#define TIM_BASE_FORK_FORK_H_

#include <cstdint>
#include <mutex>

namespace tim {

/// How many forks lie between this process and the one that loaded the library:
/// what was made at another number was made by an ancestor, whose other threads
/// this process does not have.  Any thread; costs a load.
uint32_t Forks();

/// No thread holds it while the process forks, so that the forked process finds
/// it free, and what it guards whole.  For sections that are short, call
/// nothing of others and do not take it again.
std::mutex& ForkMutex();

}  // namespace tim

#endif  // TIM_BASE_FORK_FORK_H_
