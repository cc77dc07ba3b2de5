#include "base/options.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tim {
namespace {

const char* Get(const char* name) {
  if (std::strcmp(name, "TIMCL_DEVICE") == 0) return "opencl:1";
  if (std::strcmp(name, "TIMCL_STRICT") == 0) return "yes";
  if (std::strcmp(name, "TIMCL_WINOGRAD") == 0) return "0";
  if (std::strcmp(name, "TIMCL_KERNELS") == 0) return "gpu";
  if (std::strcmp(name, "TIMCL_LOG") == 0) return "debug";
  if (std::strcmp(name, "VSI_NN_LOG_LEVEL") == 0) return "0";
  return nullptr;
}

TEST(Options, ValuesAndWarnings) {
  std::string warnings;
  const Options options = ParseOptions(Get, &warnings);
  EXPECT_EQ(options.device, "opencl:1");
  EXPECT_FALSE(options.strict);
  EXPECT_FALSE(options.winograd);
  EXPECT_EQ(options.kernels, KernelSet::kGpu);
  EXPECT_EQ(options.log_level, 4);  // TIMCL_LOG wins over its alias
  EXPECT_EQ(warnings, "TIMCL_STRICT='yes' is ignored: expected 0 or 1\n");
}

TEST(Options, AliasSetsTheLevel) {
  std::string warnings;
  const Options options = ParseOptions(
      [](const char* name) {
        return std::strcmp(name, "VSI_NN_LOG_LEVEL") == 0 ? "1" : nullptr;
      },
      &warnings);
  EXPECT_EQ(options.log_level, 1);
}

TEST(Options, KernelsOfNoOtherClass) {
  std::string warnings;
  const Options options = ParseOptions(
      [](const char* name) {
        return std::strcmp(name, "TIMCL_KERNELS") == 0 ? "dsp" : nullptr;
      },
      &warnings);
  EXPECT_EQ(options.kernels, KernelSet::kOfDevice);
  EXPECT_EQ(warnings, "TIMCL_KERNELS='dsp' is ignored: expected cpu or gpu\n");
}

}  // namespace
}  // namespace tim
