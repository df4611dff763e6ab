// The basic idea: one image is enough for ordinary bytes, because running in program order leaves
// in them what program order means. Scratch bytes need the outputs of particular dispatches: each
// read of scratch is given its writers beforehand, by walking issue order, and each writer's
// scratch output is kept until its last reader has run.
#include "backends/reference.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "backends/cpu/execute.h"

namespace interlock {
namespace {

// The bytes that one dispatch left in one range of a scratch memory.
using Version = std::map<std::pair<uint32_t, uint64_t>, std::vector<uint8_t>>;

// `range` of `memory` was last written by `writer`; none: never.
struct Source {
  MemoryId memory;
  ByteRange range;
  DispatchId writer;
};

// The sources of every scratch read in issue order, and of the end of the program.
class ScratchSources {
 public:
  explicit ScratchSources(const Program& program) : program_(program) {
    by_reader_.resize(program.dispatches.size() + 1);
    read_count_.resize(program.dispatches.size());
    writers_.resize(program.memories.size());
    for (size_t m = 0; m < program.memories.size(); ++m) {
      if (program.memories[m].is_scratch) {
        writers_[m].resize(program.memories[m].size_bytes);
      }
    }
    for (size_t d = 0; d < program.dispatches.size(); ++d) {
      note_reads(d);
      note_writes(DispatchId{d});
    }
    for (size_t m = 0; m < program.memories.size(); ++m) {
      if (program.memories[m].is_scratch) {
        append_sources(program.dispatches.size(), MemoryId{m}, {0, program.memories[m].size_bytes});
      }
    }
  }

  const std::vector<Source>& of(DispatchId reader) const { return by_reader_[reader.index]; }
  const std::vector<Source>& of_the_end() const { return by_reader_.back(); }

  // How many sources name `writer`.
  uint64_t read_count(DispatchId writer) const { return read_count_[writer.index]; }

 private:
  bool is_scratch(MemoryId memory) const { return program_.memory(memory).is_scratch; }

  void note_reads(size_t reader) {
    const Dispatch& dispatch = program_.dispatches[reader];
    for (const Access& access : program_.accesses_of(dispatch)) {
      const bool sees_old = access.mode != AccessMode::kWrite || dispatch.is_partial;
      if (sees_old && is_scratch(access.memory)) {
        append_sources(reader, access.memory, access.range);
      }
    }
  }

  void note_writes(DispatchId writer) {
    for (const Access& access : program_.accesses_of(writer)) {
      if (access.mode != AccessMode::kRead && is_scratch(access.memory)) {
        std::vector<DispatchId>& writers = writers_[access.memory.index];
        std::fill(writers.begin() + static_cast<ptrdiff_t>(access.range.begin),
                  writers.begin() + static_cast<ptrdiff_t>(access.range.end), writer);
      }
    }
  }

  void append_sources(size_t reader, MemoryId memory, ByteRange range) {
    const std::vector<DispatchId>& writers = writers_[memory.index];
    for (uint64_t begin = range.begin; begin < range.end;) {
      uint64_t end = begin + 1;
      while (end < range.end && writers[end] == writers[begin]) {
        ++end;
      }
      by_reader_[reader].push_back({memory, {begin, end}, writers[begin]});
      if (writers[begin].is_some()) {
        ++read_count_[writers[begin].index];
      }
      begin = end;
    }
  }

  const Program& program_;
  std::vector<std::vector<DispatchId>> writers_;  // By memory and byte; empty for ordinary ones.
  std::vector<std::vector<Source>> by_reader_;    // By dispatch; the last one is the end.
  std::vector<uint64_t> read_count_;
};

// Runs dispatches one by one and keeps the scratch output of each.
class ProgramOrderRun {
 public:
  ProgramOrderRun(const Program& program, MemoryImage initial)
      : program_(program),
        sources_(program),
        initial_(initial),
        image_(std::move(initial)),
        versions_(program.dispatches.size()) {}

  void run(DispatchId id) {
    restore(sources_.of(id));
    execute_dispatch(program_, id, image_);
    if (sources_.read_count(id) == 0) {
      return;
    }
    for (const Access& access : program_.accesses_of(id)) {
      if (access.mode != AccessMode::kRead && program_.memory(access.memory).is_scratch) {
        const auto at = image_.memories[access.memory.index].begin();
        versions_[id.index][{access.memory.index, access.range.begin}].assign(
            at + static_cast<ptrdiff_t>(access.range.begin),
            at + static_cast<ptrdiff_t>(access.range.end));
      }
    }
  }

  MemoryImage finish() {
    restore(sources_.of_the_end());
    return std::move(image_);
  }

 private:
  // A writer that has not run yet is later in program order: the initial bytes stand in.
  void restore(const std::vector<Source>& sources) {
    for (const Source& source : sources) {
      copy_bytes(initial_.memories[source.memory.index], source.range.begin, source.memory,
                 source.range);
      if (!source.writer.is_some()) {
        continue;
      }
      for (const auto& [place, bytes] : versions_[source.writer.index]) {
        const ByteRange written{place.second, place.second + bytes.size()};
        const ByteRange shared = intersection(written, source.range);
        if (place.first == source.memory.index && !shared.is_empty()) {
          copy_bytes(bytes, shared.begin - written.begin, source.memory, shared);
        }
      }
    }
  }

  void copy_bytes(const std::vector<uint8_t>& from, uint64_t offset, MemoryId memory,
                  ByteRange range) {
    std::memcpy(image_.memories[memory.index].data() + range.begin, from.data() + offset,
                range.size_bytes());
  }

  const Program& program_;
  ScratchSources sources_;
  MemoryImage initial_;
  MemoryImage image_;
  std::vector<Version> versions_;
};

std::vector<DispatchId> program_order(const Program& program) {
  std::vector<DispatchId> ids;
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    ids.emplace_back(d);
  }
  std::sort(ids.begin(), ids.end(), [&](DispatchId a, DispatchId b) {
    return program.dispatch(a).order < program.dispatch(b).order;
  });
  return ids;
}

}  // namespace

Result<MemoryImage> reference_image(const Program& program, Backend& backend) {
  if (!program.has_program_order) {
    return backend.run(program, issue_order_schedule(program), ExecutionMode::kWitness);
  }
  Result<MemoryImage> initial = initial_image(program, kExecutionLimitBytes);
  if (!initial) {
    return initial;
  }
  ProgramOrderRun run(program, std::move(initial).value());
  for (const DispatchId id : program_order(program)) {
    run.run(id);
  }
  return run.finish();
}

}  // namespace interlock
