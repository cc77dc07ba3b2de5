// Plan files whose tables are sound, and what they say is not.
#include <gtest/gtest.h>

#include "binary/encoding.h"
#include "binary/graph_file.h"
#include "binary/plan/plan_file.h"
#include "binary/plan_generated.h"
#include "tests/support/status_macros.h"

namespace tim::binary {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

using Bytes = std::vector<std::byte>;

// A file of a plan that `make` builds, with so many times `block` as blocks.
template <typename Make>
Status Read(Make make, int blocks = 0, const Bytes& block = Bytes(64)) {
  FlatBufferBuilder builder;
  const Offset<fbs::Plan> plan = make(builder);
  DataPieces data;
  std::vector<fbs::Extent> extents;
  for (int i = 0; i < blocks; ++i) {
    data.Add(block, nullptr);
    extents.emplace_back(static_cast<uint64_t>(data.pieces().back().offset),
                         block.size());
  }
  builder.Finish(fbs::CreatePlanFile(builder, plan, 0,
                                     builder.CreateVectorOfStructs(extents)));
  const Encoding encoding({builder.GetBufferPointer(), builder.GetSize()},
                          std::move(data));
  return ReadPlan(encoding.ToBytes(), ir::OpRegistry()).status();
}

template <typename Make>
Status ReadStep(Make make, int blocks = 0, const Bytes& block = Bytes(64)) {
  return Read(
      [&](FlatBufferBuilder& b) {
        const auto step = make(b);
        const auto steps = b.CreateVector(std::vector{step, step});
        return fbs::CreatePlan(b, 0, 0, 0, 0, 0, 0, 0, 0, 0, steps);
      },
      blocks, block);
}

TEST(HostilePlan, WithoutAPlan) {
  EXPECT_ERROR(Read([](FlatBufferBuilder&) { return Offset<fbs::Plan>(); }),
               "binary plan: it has no plan");
  EXPECT_ERROR(Read([](FlatBufferBuilder& b) { return fbs::CreatePlan(b); }),
               "binary plan: plan: it has no devices");
}

TEST(HostilePlan, StepsOfNoneOrSeveralActions) {
  EXPECT_ERROR(
      ReadStep([](FlatBufferBuilder& b) { return fbs::CreateStep(b); }),
      "step 0: it has 0 actions");
  EXPECT_ERROR(ReadStep([](FlatBufferBuilder& b) {
                 const fbs::Copy copy(4);
                 const auto gemm = fbs::CreateGemm(b);
                 return fbs::CreateStep(b, 0, 0, 0, 0, 0, 0, 0, &copy, gemm);
               }),
               "step 0: it has 2 actions");
}

// Of a launch with one argument.
Status ReadLaunchOf(fbs::ArgumentKind kind, bool user_kernel) {
  return ReadStep([&](FlatBufferBuilder& b) {
    const auto argument = fbs::CreateArgument(b, kind);
    const auto list = b.CreateVector(std::vector{argument});
    const auto launch =
        fbs::CreateKernelLaunch(b, 0, 0, 0, 0, 0, 0, 0, list, 0, 1, nullptr,
                                nullptr, false, user_kernel);
    return fbs::CreateStep(b, 0, 0, 0, 0, 0, launch);
  });
}

TEST(HostilePlan, ArgumentsOfNoKindOrWithoutValue) {
  for (const bool user : {false, true}) {
    EXPECT_ERROR(ReadLaunchOf(fbs::ArgumentKind(9), user),
                 "step 0: argument 0: unknown kind 9");
  }
  EXPECT_ERROR(ReadLaunchOf(fbs::ArgumentKind::UserTensor, true),
               "has no description");
  EXPECT_ERROR(ReadLaunchOf(fbs::ArgumentKind::UserScalar, true),
               "has no value");
}

TEST(HostilePlan, ArgumentsOfTheOtherSortOfLaunch) {
  using Kind = fbs::ArgumentKind;
  for (const Kind kind : {Kind::UserTensor, Kind::UserScalar}) {
    EXPECT_ERROR(ReadLaunchOf(kind, false),
                 "step 0: argument 0: it is none of a built-in kernel");
  }
  for (const Kind kind : {Kind::Tensor, Kind::Int, Kind::Uint, Kind::Long,
                          Kind::Float, Kind::Struct}) {
    EXPECT_ERROR(ReadLaunchOf(kind, true),
                 "step 0: argument 0: it is none of a user's kernel");
  }
  for (const bool user : {false, true}) {
    EXPECT_ERROR(ReadLaunchOf(Kind::Local, user), "it has no devices");
  }
}

TEST(HostilePlan, UsersLaunchesOfEmbeddedTexts) {
  const auto launch = [](bool source, bool headers) {
    return ReadStep([&](FlatBufferBuilder& b) {
      const auto text = b.CreateString("ops/gemm/gemm.cl");
      const auto function = b.CreateString("gemm");
      const auto header = b.CreateVector(std::vector{fbs::CreateText(b, text)});
      Offset<flatbuffers::String> no_text;
      decltype(header) no_header;
      const auto l = fbs::CreateKernelLaunch(
          b, source ? text : no_text, headers ? header : no_header, 0, 0,
          function, 0, 0, 0, 0, 1, nullptr, nullptr, false, true);
      return fbs::CreateStep(b, 0, 0, 0, 0, 0, l);
    });
  };
  EXPECT_ERROR(launch(true, false), "step 0: kernel 'gemm' is no user's");
  EXPECT_ERROR(launch(false, true), "step 0: kernel 'gemm' is no user's");
  EXPECT_ERROR(launch(false, false), "it has no devices");
}

TEST(HostilePlan, DataThatIsNotThere) {
  const auto block = [](int data, int blocks) {
    return Read(
        [&](FlatBufferBuilder& b) {
          const auto one = fbs::CreateConstantBlock(b, 0, data);
          const auto list = b.CreateVector(std::vector{one});
          return fbs::CreatePlan(b, 0, 0, 0, 0, 0, list);
        },
        blocks);
  };
  EXPECT_ERROR(block(-1, 1), "block 0: it is data -1 of 1");
  EXPECT_ERROR(block(2, 2), "block 0: it is data 2 of 2");
  EXPECT_ERROR(block(1, 2), "it has no devices");  // the block is read
}

TEST(HostilePlan, BodiesThatCallsShare) {
  const auto call = [](FlatBufferBuilder& b) {
    const auto one = fbs::CreateHostCall(b, 0, 0, 0, 0);
    return fbs::CreateStep(b, 0, 0, 0, 0, 0, 0, one);
  };
  const auto body = WriteGraph(ir::Graph("body"));
  ASSERT_OK(body);
  EXPECT_ERROR(ReadStep(call, 1, *body),
               "step 1: its body, data 0, is another call's");
  EXPECT_ERROR(ReadStep(call, 0), "step 0: it is data 0 of 0");
}

TEST(HostilePlan, BodiesThatAreNone) {
  const auto call = [](FlatBufferBuilder& b) {
    const auto one = fbs::CreateHostCall(b, 0, 0, 0, 0);
    return fbs::CreateStep(b, 0, 0, 0, 0, 0, 0, one);
  };
  for (const Bytes& body : {Bytes(), Bytes(100, std::byte{7}), Bytes(100)}) {
    const Status status = ReadStep(call, 1, body);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_ERROR(status, "step 0: binary graph: ");
  }
}

TEST(HostilePlan, TablesThatDescribeVeryMuch) {
  EXPECT_ERROR(Read([](FlatBufferBuilder& b) {
                 const auto text = b.CreateString(std::string(100'000, 'x'));
                 const auto tensor = fbs::CreatePlanTensor(b, text);
                 const auto list = b.CreateVector(
                     std::vector<Offset<fbs::PlanTensor>>(5'000, tensor));
                 return fbs::CreatePlan(b, 0, 0, 0, 0, 0, 0, list);
               }),
               "describe far more than a file of its size can hold");
}

}  // namespace
}  // namespace tim::binary
