#include "base/options.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tim {
namespace {

const char* Get(const char* name) {
  if (std::strcmp(name, "TIMCL_DEVICE") == 0) return "opencl:1";
  if (std::strcmp(name, "TIMCL_STRICT") == 0) return "yes";
  if (std::strcmp(name, "TIMCL_WINOGRAD") == 0) return "0";
  if (std::strcmp(name, "TIMCL_GUARD") == 0) return "1";
  if (std::strcmp(name, "TIMCL_KERNELS") == 0) return "gpu";
  if (std::strcmp(name, "TIMCL_LOG") == 0) return "debug";
  if (std::strcmp(name, "TIMCL_TRACE") == 0) return "a trace.json";
  if (std::strcmp(name, "VSI_NN_LOG_LEVEL") == 0) return "0";
  return nullptr;
}

TEST(Options, ValuesAndWarnings) {
  std::string warnings;
  const Options options = ParseOptions(Get, &warnings);
  EXPECT_EQ(options.device, "opencl:1");
  EXPECT_FALSE(options.strict);
  EXPECT_FALSE(options.on_device.winograd);
  EXPECT_TRUE(options.on_device.guard);
  EXPECT_EQ(options.on_device.kernels, KernelSet::kGpu);
  EXPECT_EQ(options.trace, "a trace.json");
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

TEST(Options, Dumps) {
  std::string warnings;
  const Options options = ParseOptions(
      [](const char* name) {
        const std::string variable = name;
        return variable == "TIMCL_DUMP"          ? "a folder"
               : variable == "TIMCL_DUMP_FILTER" ? "x,y*"
               : variable == "TIMCL_DUMP_RUNS"   ? "-1"
                                                 : nullptr;
      },
      &warnings);
  EXPECT_EQ(options.dump.directory, "a folder");
  EXPECT_EQ(options.dump.filter, "x,y*");
  EXPECT_EQ(options.dump.runs, 1);
  EXPECT_EQ(warnings,
            "TIMCL_DUMP_RUNS='-1' is ignored: expected a whole number from 0 "
            "to 1000000\n");
}

TEST(Options, RecordsAndTheVariablesThatAreSet) {
  std::string warnings;
  const Options options = ParseOptions(
      [](const char* name) {
        const std::string variable = name;
        return variable == "TIMCL_RECORD"          ? "report.bin"
               : variable == "TIMCL_RECORD_INPUTS" ? "1"
               : variable == "TIMCL_STRICT"        ? "yes"
               : variable == "TIMCL_DUMP"          ? ""
                                                   : nullptr;
      },
      &warnings);
  EXPECT_EQ(options.record.file, "report.bin");
  EXPECT_TRUE(options.record.inputs);
  using Variable = std::pair<std::string, std::string>;
  EXPECT_EQ(options.variables,
            (std::vector<Variable>{{"TIMCL_STRICT", "yes"},
                                   {"TIMCL_RECORD", "report.bin"},
                                   {"TIMCL_RECORD_INPUTS", "1"}}));
}

const char* g_standby = nullptr;

Options WithStandby(const char* text, std::string* warnings) {
  g_standby = text;
  return ParseOptions(
      [](const char* name) {
        return std::strcmp(name, "TIMCL_STANDBY") == 0 ? g_standby : nullptr;
      },
      warnings);
}

TEST(Options, StandbyIsInMicroseconds) {
  std::string warnings;
  EXPECT_EQ(WithStandby(nullptr, &warnings).on_device.standby.count(), 200);
  EXPECT_EQ(WithStandby("0", &warnings).on_device.standby.count(), 0);
  EXPECT_EQ(WithStandby("1000000", &warnings).on_device.standby.count(),
            1000000);
  EXPECT_EQ(warnings, "");
  for (const char* text : {"-1", "1000001", "1.5", "5us", " 5", "many"}) {
    warnings.clear();
    EXPECT_EQ(WithStandby(text, &warnings).on_device.standby.count(), 200)
        << text;
    EXPECT_EQ(warnings, StrCat("TIMCL_STANDBY='", text,
                               "' is ignored: expected a whole number from 0 "
                               "to 1000000\n"));
  }
}

Options WithProfile(const char* text, std::string* warnings) {
  static const char* value = nullptr;
  value = text;
  return ParseOptions(
      [](const char* name) {
        return std::strcmp(name, "TIMCL_PROFILE") == 0 ? value : nullptr;
      },
      warnings);
}

TEST(Options, AProfileIsASwitch) {
  std::string warnings;
  EXPECT_FALSE(WithProfile(nullptr, &warnings).profile);
  EXPECT_FALSE(WithProfile("0", &warnings).profile);
  EXPECT_TRUE(WithProfile("1", &warnings).profile);
  EXPECT_EQ(warnings, "");
  EXPECT_FALSE(WithProfile("yes", &warnings).profile);
  EXPECT_EQ(warnings, "TIMCL_PROFILE='yes' is ignored: expected 0 or 1\n");
}

const char* g_pool = nullptr;

Options WithPool(const char* text, std::string* warnings) {
  g_pool = text;
  return ParseOptions(
      [](const char* name) {
        return std::strcmp(name, "TIMCL_POOL_MB") == 0 ? g_pool : nullptr;
      },
      warnings);
}

TEST(Options, APoolIsLimitedInMebibytes) {
  std::string warnings;
  EXPECT_EQ(WithPool(nullptr, &warnings).on_device.pool_bytes, 0);
  EXPECT_EQ(WithPool("1", &warnings).on_device.pool_bytes, 1 << 20);
  EXPECT_EQ(WithPool("1000000", &warnings).on_device.pool_bytes,
            int64_t{1000000} << 20);
  EXPECT_EQ(warnings, "");
  for (const char* text : {"0", "-1", "1000001", "1.5", "5MB", " 5", "all"}) {
    warnings.clear();
    EXPECT_EQ(WithPool(text, &warnings).on_device.pool_bytes, 0) << text;
    EXPECT_EQ(warnings, StrCat("TIMCL_POOL_MB='", text,
                               "' is ignored: expected a whole number from 1 "
                               "to 1000000\n"));
  }
}

TEST(Options, KernelsOfNoOtherClass) {
  std::string warnings;
  const Options options = ParseOptions(
      [](const char* name) {
        return std::strcmp(name, "TIMCL_KERNELS") == 0 ? "dsp" : nullptr;
      },
      &warnings);
  EXPECT_EQ(options.on_device.kernels, KernelSet::kOfDevice);
  EXPECT_EQ(warnings, "TIMCL_KERNELS='dsp' is ignored: expected cpu or gpu\n");
}

// As README.md and tim/vx/context.h tell.
TEST(Options, AreReadOnceInAProcess) {
  const std::string device = GetOptions().device;
  const char* const before = std::getenv("TIMCL_DEVICE");
  const std::string kept = before != nullptr ? before : "";
  setenv("TIMCL_DEVICE", "opencl:12345", 1);
  EXPECT_EQ(GetOptions().device, device);
  if (before != nullptr) {
    setenv("TIMCL_DEVICE", kept.c_str(), 1);
  } else {
    unsetenv("TIMCL_DEVICE");
  }
}

}  // namespace
}  // namespace tim
