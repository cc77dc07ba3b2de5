// Built programs as bytes.
#ifndef TIM_BINARY_PROGRAM_FILE_H_
#define TIM_BINARY_PROGRAM_FILE_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "base/status.h"
#include "binary/encoding.h"

namespace tim::binary {

/// By key, as device::BinaryStore has them.
using Programs = std::map<std::string, std::string>;

/// Refers to the bytes of `programs`, which must stay.
Encoding EncodePrograms(const Programs& programs);

/// Parts of `file`, which must stay; kInvalidArgument for what is no such file,
/// in linear time and memory.  What a program does is not seen: the driver is
/// asked whether it takes it.
Result<std::map<std::string, std::span<const std::byte>>> ReadPrograms(
    std::span<const std::byte> file);

}  // namespace tim::binary

#endif  // TIM_BINARY_PROGRAM_FILE_H_
