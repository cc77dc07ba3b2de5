// One file of the program cache: magic, version, key, length, hash, payload.
#ifndef TIM_RUNTIME_CACHE_CACHE_ENTRY_H_
#define TIM_RUNTIME_CACHE_CACHE_ENTRY_H_

#include <optional>
#include <string>
#include <string_view>

namespace tim::runtime {

std::string EncodeEntry(std::string_view key, std::string_view payload);

/// The payload of a complete, undamaged entry of that key, else nothing.
std::optional<std::string> DecodeEntry(std::string_view key,
                                       std::string_view file);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CACHE_CACHE_ENTRY_H_
