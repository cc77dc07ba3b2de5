// bench/selection.py: which networks, in which types, are measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;

// The pairs that `arguments` of a command select, or what it prints instead.
CommandResult Selected(const std::string& arguments) {
  return RunCommand(
      "cd bench && python3 -B -c 'import argparse; from selection import *; "
      "p = argparse.ArgumentParser(); add_options(p); "
      "print(*[\":\".join(pair) for pair in selected(p, p.parse_args())])' " +
      arguments);
}

TEST(BenchSelection, NetworksInFloat32AreFirst) {
  EXPECT_EQ(Selected("--networks mobilenet_v2,vgg16,resnet50").output,
            "mobilenet_v2:float32 vgg16:float32 resnet50:float32 "
            "mobilenet_v2:int8 mobilenet_v2:uint8 resnet50:int8 "
            "resnet50:uint8\n");
}

TEST(BenchSelection, TypesAreThoseAskedFor) {
  EXPECT_EQ(Selected("--types uint8").output,
            "resnet50:uint8 mobilenet_v2:uint8 mobilenet_v3_small:uint8\n");
  EXPECT_EQ(Selected("--types float32 --networks lstm").output,
            "lstm:float32\n");
}

TEST(BenchSelection, WhatIsNotThereIsAMistake) {
  const CommandResult type = Selected("--types int4");
  EXPECT_EQ(type.exit_status, 2);
  EXPECT_THAT(type.output, HasSubstr("no type int4; there are"));
  const CommandResult network = Selected("--types int8 --networks vgg16");
  EXPECT_EQ(network.exit_status, 2);
  EXPECT_THAT(network.output, HasSubstr("no vgg16 in 8 bits; there are"));
}

}  // namespace
}  // namespace tim::structure
