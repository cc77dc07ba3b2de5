#ifndef TIM_TESTS_SDK_UNPACKED_SDK_H_
#define TIM_TESTS_SDK_UNPACKED_SDK_H_

#include <string>

namespace tim::structure {

/// The folder that holds include/ and lib/ of the tree which
/// `bazel build //:sdk` makes, unpacked once per process.
const std::string& UnpackedSdk();

}  // namespace tim::structure

#endif  // TIM_TESTS_SDK_UNPACKED_SDK_H_
