// Files that a fuzzer changes.
#ifndef TIM_TESTS_FUZZ_CORPUS_H_
#define TIM_TESTS_FUZZ_CORPUS_H_

#include <cstddef>
#include <vector>

namespace tim::testing {

/// Sound ones, of the format that the fuzzer is for; each fuzzer's program has
/// its own.
std::vector<std::vector<std::byte>> Corpus();

}  // namespace tim::testing

#endif  // TIM_TESTS_FUZZ_CORPUS_H_
