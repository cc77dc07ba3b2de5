#include "device/opencl/program/build_log.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tim::device {
namespace {

struct Word {
  std::string_view lowered;
  std::string_view written;
};
// A name stands before those that it begins with.
constexpr Word kWords[] = {
    {"__global tim_image2d_array *__private", "image2d_array_t"},
    {"__global tim_image2d_array *", "image2d_array_t"},
    {"__global tim_image2d *__private", "image2d_t"},
    {"__global tim_image2d *", "image2d_t"},
    {"tim_read_image", "read_image"},
    {"tim_write_image", "write_image"},
    {"tim_get_image", "get_image"},
};

// Clang's note on where a macro's words stand.
constexpr std::string_view kSpelling = " <Spelling=kernels/custom_images.cl:";

constexpr std::string_view kHint =
    "\nread_imagef, -i and -ui take an image2d_t or image2d_array_t and int2 "
    "or int4 coordinates, after a sampler also float2 or float4; "
    "write_imagef, -i and -ui take such an image, int2 or int4 and a float4, "
    "int4 or uint4";

// What notes on the functions and macros behind an image begin with.
constexpr std::array<std::string_view, 2> kOurs = {"kernels/custom_images.cl:",
                                                   "<scratch space>:"};

// Without notes on our text, each with the indented lines that follow it.
std::string WithoutOurNotes(std::string_view log) {
  std::string kept;
  bool ours = false;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size() - 1) + 1;
    const std::string_view line = log.substr(0, end);
    if (!ours || line[0] != ' ') {
      ours = std::any_of(kOurs.begin(), kOurs.end(), [&](auto begin) {
        return line.substr(0, begin.size()) == begin;
      });
    }
    if (!ours) kept += line;
    log.remove_prefix(end);
  }
  return kept;
}

}  // namespace

std::string InUsersWords(std::string log) {
  log = WithoutOurNotes(log);
  for (size_t at; (at = log.find(kSpelling)) != std::string::npos;) {
    const size_t end = log.find('>', at);
    log.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
  for (const Word& word : kWords) {
    for (size_t at; (at = log.find(word.lowered)) != std::string::npos;) {
      log.replace(at, word.lowered.size(), word.written);
    }
  }
  if (log.find("call to 'read_image") != std::string::npos ||
      log.find("call to 'write_image") != std::string::npos) {
    log += kHint;
  }
  return log;
}

}  // namespace tim::device
