// Programs in the form of TIM-VX's clients, as their builds find it: compiled
// by CMake against the tree that `bazel build //:sdk` makes, and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/sdk/unpacked_sdk.h"
#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;
using testing::Not;

// How a client's build is told where TIM-VX is; $sdk is the tree.
struct Client {
  const char* name;
  const char* environment = "";
  const char* options = "";
};

CommandResult Configure(const Client& client, const std::string& build) {
  return RunCommand("sdk='" + UnpackedSdk() + "' && " + client.environment +
                    " cmake -S tests/sdk/clients/" + client.name + " -B '" +
                    build + "' -G Ninja -DCMAKE_CXX_FLAGS=-Werror " +
                    client.options);
}

void BuildAndRun(const Client& client, const std::string& arguments = "") {
  const std::string build = FreshFolder(client.name);
  const CommandResult configured = Configure(client, build);
  ASSERT_EQ(configured.exit_status, 0) << configured.output;
  const CommandResult built = RunCommand("cmake --build '" + build + "'");
  ASSERT_EQ(built.exit_status, 0) << built.output;
  const CommandResult run =
      RunCommand("LD_LIBRARY_PATH=\"" + UnpackedSdk() +
                 "/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\" '" + build + "/" +
                 client.name + "' " + arguments);
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr(": ok"));
  EXPECT_THAT(run.output, Not(HasSubstr("FAILED")));
}

TEST(Clients, Delegate) {
  const std::string binary = FreshFolder("binary") + "/model.nbg";
  BuildAndRun({.name = "delegate", .options = "-DTIM_VX_INSTALL=\"$sdk\""},
              "'" + binary + "'");
  EXPECT_GT(std::filesystem::file_size(binary), 100u);
}

// The driver's libraries: none, or OpenCL's in the place of the NPU's.
TEST(Clients, OpenCvWithoutLibrariesOfADriver) {
  BuildAndRun({.name = "opencv",
               .options = "-DTIMVX_INSTALL_DIR=\"$sdk\" "
                          "-DVIVANTE_SDK_LIB_CANDIDATES="});
}

TEST(Clients, OpenCvWithOpenClAsTheDriver) {
  const std::string driver = FreshFolder("driver");
  const CommandResult linked = RunCommand("mkdir '" + driver +
                                          "/lib' && ln -s \"$(g++ "
                                          "-print-file-name=libOpenCL.so)\" '" +
                                          driver + "/lib/libOpenCL.so'");
  ASSERT_EQ(linked.exit_status, 0) << linked.output;
  const std::string options =
      "-DTIMVX_INSTALL_DIR=\"$sdk\" "
      "-DVIVANTE_SDK_LIB_CANDIDATES=OpenCL "
      "-DVIVANTE_SDK_DIR='" +
      driver + "'";
  BuildAndRun({.name = "opencv", .options = options.c_str()});
}

TEST(Clients, OpenCvRefusesATreeWithoutItsDriver) {
  const CommandResult configured =
      Configure({.name = "opencv", .options = "-DTIMVX_INSTALL_DIR=\"$sdk\""},
                FreshFolder("refused"));
  EXPECT_NE(configured.exit_status, 0);
  EXPECT_THAT(configured.output, HasSubstr("no library OpenVX of the driver"));
}

TEST(Clients, OnnxRuntime) {
  BuildAndRun(
      {.name = "onnx_runtime", .environment = "TIM_VX_INSTALL=\"$sdk\""});
}

TEST(Clients, PaddleLite) {
  BuildAndRun({.name = "paddle_lite", .options = "-DTIM_VX_INSTALL=\"$sdk\""});
}

TEST(Clients, Tvm) {
  BuildAndRun({.name = "tvm", .options = "-DTIM_VX_INSTALL_DIR=\"$sdk\""});
}

TEST(Clients, NnapiSupportLibrary) {
  BuildAndRun({.name = "nnapi", .options = "-DEXTERNAL_PREFIX=\"$sdk\""});
}

TEST(Clients, Tengine) {
  const std::string parties = FreshFolder("3rdparty");
  const CommandResult copied = RunCommand(
      "mkdir -p '" + parties + "/tim-vx/lib' && cp -r '" + UnpackedSdk() +
      "/include' '" + parties + "/tim-vx' && cp -a '" + UnpackedSdk() +
      "/lib' '" + parties + "/tim-vx/lib/x86_64'");
  ASSERT_EQ(copied.exit_status, 0) << copied.output;
  const std::string options =
      "-DTENGINE_ENABLE_TIM_VX_INTEGRATION=OFF "
      "-DTENGINE_3RDPARTY='" +
      parties + "'";
  BuildAndRun({.name = "tengine", .options = options.c_str()});
}

// The sources in the place of the installed tree, with whatever their own build
// was told.
TEST(Clients, DelegateTakesTheSources) {
  const std::string build = FreshFolder("sources");
  const std::string options =
      "-DFETCHCONTENT_SOURCE_DIR_TIM-VX=\"$PWD\" "
      "-DTIM_VX_ENABLE_TEST=OFF -DTIM_VX_BUILD_EXAMPLES=OFF "
      "-DTIM_VX_ENABLE_LAYOUT_INFER=ON -DTIM_VX_ENABLE_CUSTOM_OP=ON "
      "-DTIM_VX_ENABLE_PLATFORM=ON -DTIM_VX_ENABLE_PLATFORM_LITE=ON "
      "-DTIM_VX_ENABLE_VIPLITE=ON -DTIM_VX_ENABLE_GRPC=OFF "
      "-DTIM_VX_ENABLE_NBG_PARSER=ON -DTIM_VX_ENABLE_TENSOR_CACHE=ON "
      "-DTIM_VX_ENABLE_NODE_TRACE=ON -DTIM_VX_ENABLE_API_TRACE=ON "
      "-DTIM_VX_ENABLE_40BIT=ON -DTIM_VX_USE_EXTERNAL_OVXLIB=OFF "
      "-DTIM_VX_DBG_ENABLE_TENSOR_HNDL=ON -DTIM_VX_CODE_COVERAGE=OFF "
      "-DUSE_VXC_BINARY=OFF -DVIP_LITE_SDK=/nowhere -DOVXLIB_LIB=/nowhere "
      "-DOVXLIB_INC=/nowhere -DEXTERNAL_VIV_SDK=/nowhere -DCONFIG=A311D";
  const CommandResult configured =
      Configure({.name = "delegate", .options = options.c_str()}, build);
  ASSERT_EQ(configured.exit_status, 0) << configured.output;
  EXPECT_THAT(configured.output, Not(HasSubstr("Warning")));
  const CommandResult targets =
      RunCommand("cmake --build '" + build + "' --target help");
  EXPECT_THAT(targets.output, HasSubstr("\ntim-vx: phony"));
}

TEST(Clients, GrpcIsAWarning) {
  const CommandResult configured =
      Configure({.name = "delegate",
                 .options = "-DFETCHCONTENT_SOURCE_DIR_TIM-VX=\"$PWD\" "
                            "-DTIM_VX_ENABLE_GRPC=ON"},
                FreshFolder("grpc"));
  EXPECT_EQ(configured.exit_status, 0) << configured.output;
  EXPECT_THAT(configured.output, HasSubstr("has no gRPC platform"));
}

}  // namespace
}  // namespace tim::structure
