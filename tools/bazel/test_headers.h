// Headers that most tests include, compiled once for all of them.
#ifndef TOOLS_BAZEL_TEST_HEADERS_H_
#define TOOLS_BAZEL_TEST_HEADERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#endif  // TOOLS_BAZEL_TEST_HEADERS_H_
