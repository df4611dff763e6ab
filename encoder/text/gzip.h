// gzip (RFC 1952): texts that are stored compressed. With zlib; a build without it says so where it
// meets one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/result.h"

namespace interlock {

// Whether the bytes begin as gzip's do, which no text does.
bool is_gzip(std::string_view bytes);

// Whether what is written under this name is to be compressed: it ends in ".gz".
bool is_gzip_name(std::string_view path);

// What the bytes were made of: one gzip member, or several in a row. Errors: they are cut off or
// damaged; the text has more bytes than `text_bytes_max`, which a few may claim; a stop (stop.h);
// no zlib. Cost: linear in the text, and memory for it.
Result<std::string> gunzip(std::string_view bytes, uint64_t text_bytes_max);

// The same bytes for the same text: without a name or a time. Errors: no zlib, or no memory.
Result<std::string> gzip(std::string_view text);

}  // namespace interlock
