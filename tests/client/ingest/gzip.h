// Packs text for tests.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_GZIP_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_GZIP_H_

#include <zlib.h>

#include <string>
#include <string_view>

namespace packtrain::testing {

// One gzip member.
inline std::string Gzip(std::string_view text) {
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_GZIP_H_
