// Makes the tables of a document anew: document_results DOCUMENT RESULTS MACHINE, where RESULTS is
// a folder of JSON files and MACHINE says where and under what load they were measured.
#include <cstdio>
#include <string>

#include "encoder/text/files.h"
#include "tests/bench/result_files.h"
#include "tests/bench/result_tables.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "Usage: %s DOCUMENT RESULTS MACHINE\n", argv[0]);
    return 2;
  }
  const auto document = interlock::read_file(argv[1]);
  if (!document.has_value()) {
    std::fprintf(stderr, "%s\n", document.error().message.c_str());
    return 2;
  }
  const auto text = interlock::with_tables(*document, interlock::read_results(argv[2]), argv[3]);
  const auto written = interlock::write_file(argv[1], text);
  if (written.has_value()) return 0;
  std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return 1;
}
