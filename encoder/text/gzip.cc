#include "encoder/text/gzip.h"

#include <algorithm>
#include <array>
#include <limits>

#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"

#ifdef INTERLOCK_HAS_ZLIB
#include <zlib.h>
#endif

namespace interlock {

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

bool is_gzip_name(std::string_view path) { return path.ends_with(".gz"); }

#ifdef INTERLOCK_HAS_ZLIB
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // The largest window; in gzip's format, not zlib's.
constexpr int kGzipMemoryLevel = 8;       // As zlib has it by default.
constexpr size_t kGzipPieceBytes = 1u << 16;

// zlib counts input in 32 bits. It changes none of it.
void feed(z_stream& stream, std::string_view& bytes) {
  const size_t count = std::min<size_t>(bytes.size(), kGzipPieceBytes);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(count);
  bytes.remove_prefix(count);
}

// Owns what zlib allocates.
template <int (*kEnd)(z_streamp)>
struct Zlib {
  z_stream stream = {};
  Zlib() = default;
  Zlib(const Zlib&) = delete;
  Zlib& operator=(const Zlib&) = delete;
  ~Zlib() { kEnd(&stream); }
};

}  // namespace

Result<std::string> gunzip(std::string_view bytes, uint64_t text_bytes_max) {
  const Error damaged{"it is no gzip file, or one that is damaged or cut off"};
  Zlib<inflateEnd> zlib;
  z_stream& stream = zlib.stream;
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) return Error{"zlib has no memory"};
  std::string text;
  std::array<char, kGzipPieceBytes> piece;
  bool is_at_end = false;  // Of a member.
  while (!is_at_end || stream.avail_in > 0 || !bytes.empty()) {
    if (is_stopped()) return Error{"it was interrupted"};
    if (is_at_end && inflateReset(&stream) != Z_OK) return damaged;
    if (stream.avail_in == 0) feed(stream, bytes);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    // Without room or input it cannot go on: the input has ended.
    if (status != Z_OK && status != Z_STREAM_END) return damaged;
    text.append(piece.data(), piece.size() - stream.avail_out);
    if (text.size() > text_bytes_max) {
      return error_of("its text has more bytes than the limit of {}", text_bytes_max);
    }
    is_at_end = status == Z_STREAM_END;
  }
  return text;
}

Result<std::string> gzip(std::string_view text) {
  Zlib<deflateEnd> zlib;
  z_stream& stream = zlib.stream;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kGzipMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{"zlib has no memory"};
  }
  std::string bytes;
  std::array<char, kGzipPieceBytes> piece;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) feed(stream, text);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      return Error{"zlib cannot compress it"};
    }
    bytes.append(piece.data(), piece.size() - stream.avail_out);
  }
  return bytes;
}

#else

Result<std::string> gunzip(std::string_view /*bytes*/, uint64_t /*text_bytes_max*/) {
  return Error{"it is a gzip file, and this program was built without zlib"};
}

Result<std::string> gzip(std::string_view /*text*/) {
  return Error{"its name asks for gzip, and this program was built without zlib"};
}

#endif

}  // namespace interlock
