// Matrix products of a plan by CLBlast, its errors, and its parameters in the
// store of programs.
#include <gtest/gtest.h>

#include <map>

#include "device/host/host_buffer.h"
#include "device/opencl/clblast/clblast_api.h"
#include "device/opencl/clblast/clblast_parameters.h"
#include "device/opencl/clblast/clblast_status.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using Floats = std::vector<float>;
using Parameters = std::unordered_map<std::string, size_t>;

class MapStore final : public BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view key) override {
    const auto found = entries.find(std::string(key));
    if (found == entries.end()) return std::nullopt;
    return found->second;
  }
  void Store(std::string_view key, std::string_view bytes) override {
    entries[std::string(key)] = bytes;
  }
  void CountBuild() override {}

  std::map<std::string, std::string> entries;
};

class Clblast : public testing::OpenClTest {
 protected:
  ClblastDevice Handles() const { return {context_, id_, "test"}; }

  Parameters Current(const char* kernel) const {
    Parameters found;
    EXPECT_EQ(clblast::RetrieveParameters(Handles().device(), kernel,
                                          clblast::Precision::kSingle, found),
              clblast::StatusCode::kSuccess);
    return found;
  }

  Result<std::unique_ptr<PreparedStep>> Prepare(const ir::Gemm& gemm) {
    const ir::Action action = gemm;
    const ir::Action* const actions[] = {&action};
    TIM_ASSIGN_OR_RETURN(auto steps,
                         device_->Prepare(actions, ir::OpRegistry(), store_));
    return std::move(steps[0]);
  }

  // A, B and C one after the other in one buffer.
  Result<Floats> Run(const ir::Gemm& gemm, const Floats& a, const Floats& b,
                     size_t c_floats) {
    TIM_ASSIGN_OR_RETURN(const auto step, Prepare(gemm));
    TIM_ASSIGN_OR_RETURN(const auto stream, device_->CreateStream());
    Floats all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.resize(all.size() + c_floats, -1.0f);
    const auto size = static_cast<int64_t>(all.size() * sizeof(float));
    TIM_ASSIGN_OR_RETURN(const auto buffer,
                         device_->Allocate(size, ir::MemoryKind::kDevice));
    ExternalBuffer host(all.data(), size);
    TIM_RETURN_IF_ERROR(
        stream->Copy({&host, 0, size}, {buffer.get(), 0, size}));
    const auto a_bytes = static_cast<int64_t>(a.size() * sizeof(float));
    const auto b_bytes = static_cast<int64_t>(b.size() * sizeof(float));
    const BufferRange operands[] = {
        {buffer.get(), 0, a_bytes},
        {buffer.get(), a_bytes, b_bytes},
        {buffer.get(), a_bytes + b_bytes, size - a_bytes - b_bytes}};
    TIM_RETURN_IF_ERROR(stream->Enqueue(*step, operands));
    TIM_RETURN_IF_ERROR(
        stream->Copy({buffer.get(), 0, size}, {&host, 0, size}));
    TIM_ASSIGN_OR_RETURN(const auto event, stream->Record());
    TIM_RETURN_IF_ERROR(event->Wait());
    return Floats(all.end() - static_cast<int64_t>(c_floats), all.end());
  }

  MapStore store_;
};

TEST_F(Clblast, MultipliesMatricesAtOffsets) {
  const auto c = Run({.m = 2, .n = 3, .k = 2, .lda = 2, .ldb = 3, .ldc = 3},
                     {1, 2, 3, 4}, {1, 0, 2, 0, 1, 3}, 6);
  ASSERT_OK(c);
  EXPECT_EQ(*c, (Floats{1, 2, 8, 3, 4, 18}));
}

TEST_F(Clblast, MultipliesTransposedMatricesInBatches) {
  // The second factor is shared.
  const auto c = Run({.transpose_a = true,
                      .transpose_b = true,
                      .m = 2,
                      .n = 1,
                      .k = 2,
                      .lda = 2,
                      .ldb = 2,
                      .ldc = 1,
                      .batches = 2,
                      .a_step = 4,
                      .b_step = 0,
                      .c_step = 2},
                     {1, 2, 3, 4, 5, 6, 7, 8}, {10, 1}, 4);
  ASSERT_OK(c);
  EXPECT_EQ(*c, (Floats{13, 24, 57, 68}));
}

TEST_F(Clblast, RefusesSizesThatAreNoMatrix) {
  EXPECT_ERROR(Prepare({.m = 0, .n = 3, .k = 2}), "sizes must be positive");
  EXPECT_ERROR(Prepare({.m = 2, .n = 3, .k = 2, .lda = 1, .ldb = 3, .ldc = 3}),
               "rows of matrix A are 1 elements apart, but have 2");
  EXPECT_ERROR(Prepare({.transpose_b = true,
                        .m = 2,
                        .n = 3,
                        .k = 4,
                        .lda = 4,
                        .ldb = 3,
                        .ldc = 3}),
               "rows of matrix B are 3 elements apart, but have 4");
}

TEST_F(Clblast, ABufferThatIsTooSmallIsAnErrorWithItsName) {
  // C has room for one row of two.
  EXPECT_ERROR(Run({.m = 2, .n = 3, .k = 2, .lda = 2, .ldb = 3, .ldc = 3},
                   {1, 2, 3, 4}, {1, 0, 2, 0, 1, 3}, 3),
               "CLBlast's kInsufficientMemoryC (-1009)");
}

TEST(ClblastStatus, NamesCodes) {
  EXPECT_OK(ClblastStatus(0, "x"));
  EXPECT_ERROR(ClblastStatus(-5, "x"), "x: CL_OUT_OF_RESOURCES (-5)");
  EXPECT_ERROR(ClblastStatus(-2046, "x"),
               "x: CLBlast's kInvalidLocalMemUsage (-2046)");
  EXPECT_EQ(ClblastStatus(-2046, "x").code(), StatusCode::kUnimplemented);
  EXPECT_ERROR(ClblastStatus(-3000, "x"), "CLBlast's code -3000");
}

TEST_F(Clblast, TakesParametersFromTheStore) {
  const ClblastDevice handles = Handles();
  EXPECT_FALSE(LoadClblastParameters(handles, store_));
  for (const char* kernel : {"Xgemm", "XgemmDirect"}) {
    std::string text;
    for (const auto& [name, value] : Current(kernel)) {
      text += StrCat(name, "=", value, "\n");
    }
    store_.Store(ClblastParametersKey(handles, kernel), text);
  }
  const std::string key = ClblastParametersKey(handles, "XgemmDirect");
  const Parameters before = Current("XgemmDirect");
  ASSERT_EQ(before.count("KWID"), 1u);
  std::string changed = store_.entries[key];
  const std::string kwid = StrCat("KWID=", before.at("KWID"), "\n");
  const size_t other = before.at("KWID") == 2 ? 4 : 2;
  changed.replace(changed.find(kwid), kwid.size(),
                  StrCat("KWID=", other, "\n"));
  store_.entries[key] = changed;

  EXPECT_TRUE(LoadClblastParameters(handles, store_));
  EXPECT_EQ(Current("XgemmDirect").at("KWID"), other);

  for (const std::string& damaged :
       {std::string("KWID"), std::string("KWID=two\n"), std::string("=\n"),
        std::string("KWID=2\n")}) {
    store_.entries[key] = damaged;
    EXPECT_FALSE(LoadClblastParameters(handles, store_)) << damaged;
    EXPECT_EQ(Current("XgemmDirect").at("KWID"), other) << damaged;
  }
}

TEST_F(Clblast, TuningThatFailsIsAnError) {
  // No multiple of its tiles.
  EXPECT_ERROR(TuneClblast(Handles(), {.size = 65}, store_),
               "tuning CLBlast's Xgemm: ");
  EXPECT_TRUE(store_.entries.empty());
}

TEST_F(Clblast, TuningKeepsParametersThatWork) {
  const ClblastDevice handles = Handles();
  ASSERT_OK(TuneClblast(handles,
                        {.size = 128,
                         .fraction = testing::RunsLongTests() ? 0.0002 : 0.0001,
                         .direct_size = 32,
                         .direct_fraction = 0.0002},
                        store_));
  EXPECT_EQ(store_.entries.size(), 2u);
  EXPECT_TRUE(LoadClblastParameters(handles, store_));
  const auto c = Run({.m = 2, .n = 3, .k = 2, .lda = 2, .ldb = 3, .ldc = 3},
                     {1, 2, 3, 4}, {1, 0, 2, 0, 1, 3}, 6);
  ASSERT_OK(c);
  EXPECT_EQ(*c, (Floats{1, 2, 8, 3, 4, 18}));
}

}  // namespace
}  // namespace tim::device
