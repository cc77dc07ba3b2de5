// Headers that most sources of the library include, compiled once for all.
#ifndef TOOLS_BAZEL_LIBRARY_HEADERS_H_
#define TOOLS_BAZEL_LIBRARY_HEADERS_H_

#include <algorithm>
#include <array>
#include <atomic>
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
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#endif  // TOOLS_BAZEL_LIBRARY_HEADERS_H_
