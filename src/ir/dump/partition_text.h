// A division of a graph as JSON and as a picture for Graphviz.
#ifndef TIM_IR_DUMP_PARTITION_TEXT_H_
#define TIM_IR_DUMP_PARTITION_TEXT_H_

#include <map>
#include <string>

#include "ir/plan.h"

namespace tim::ir {

/// plan.notes.partition by docs/partition.schema.json, in one line.
/// \param measured_us of one run, by PartitionNode::name; empty: not measured.
std::string PartitionJson(
    const Plan& plan, const std::map<std::string, double>& measured_us = {});

/// The same in the DOT language: a cluster per part, an edge per value that
/// goes from one to another, with its bytes.
std::string PartitionDot(const Plan& plan);

}  // namespace tim::ir

#endif  // TIM_IR_DUMP_PARTITION_TEXT_H_
