// The basic idea is that of a write-ahead log: records are only ever added, one write each, and a
// record that a killed process left in part is as if it had never been begun.
#include "fuzz/campaign/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/program/names.h"
#include "encoder/text/files.h"

namespace interlock {
namespace {

Error journal_error(std::string_view verb, const std::string& path, int code) {
  return error_of("cannot {} {}: {}.", verb, in_quotes(path),
                  std::generic_category().message(code));
}

// The build id among the notes of one segment; empty if there is none.
std::string build_id_in(const char* notes, size_t size) {
  const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  size_t at = 0;
  while (size - at >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof(note));
    const size_t name_at = at + sizeof(note);
    const size_t id_at = name_at + padded(note.n_namesz);
    const size_t next = id_at + padded(note.n_descsz);
    if (next > size) break;
    const std::string_view name(notes + name_at, note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
      std::string id;
      for (size_t i = id_at; i < id_at + note.n_descsz; ++i) {
        id += fmt::format("{:02x}", static_cast<unsigned char>(notes[i]));
      }
      return id;
    }
    at = next;
  }
  return "";
}

// Of the first object, which is the program.
int take_build_id(struct dl_phdr_info* object, size_t /*size*/, void* id) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const ElfW(Addr) address = object->dlpi_addr + segment.p_vaddr;
    const char* notes = nullptr;
    static_assert(sizeof(notes) == sizeof(address));
    std::memcpy(&notes, &address, sizeof(notes));
    std::string found = build_id_in(notes, segment.p_memsz);
    if (!found.empty()) *static_cast<std::string*>(id) = std::move(found);
  }
  return 1;
}

Error other_build_error(const std::string& path) {
  return error_of(
      "{} was written by another build of this program, which may judge otherwise. Give another "
      "folder, or remove the journal: then the campaign begins anew, and its files are replaced.",
      in_quotes(path));
}

}  // namespace

std::string journal_path(const std::string& folder) {
  return (std::filesystem::path(folder) / "campaign.journal").string();
}

std::string build_id() {
  std::string id;
  dl_iterate_phdr(take_build_id, &id);
  return id.empty() ? "unknown" : id;
}

Journal::Journal(std::string path, int file, std::string text, std::function<void()> on_write)
    : path_(std::move(path)),
      file_(file),
      text_(std::move(text)),
      on_write_(std::move(on_write)),
      reader_(text_, path_) {}

Journal::~Journal() { ::close(file_); }

Result<std::unique_ptr<Journal>> Journal::open(const std::string& folder,
                                               std::function<void()> on_write) {
  const std::string path = journal_path(folder);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return journal_error("open", path, errno);
  std::unique_ptr<Journal> journal(new Journal(path, file, "", std::move(on_write)));
  struct stat status = {};
  if (::fstat(file, &status) != 0) return journal_error("open", path, errno);
  if (!S_ISREG(status.st_mode)) return error_of("{} is no file.", in_quotes(path));
  // A file system without locks leaves this to its user.
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return error_of("another campaign runs in the folder {}. Wait for it, or give another folder.",
                    in_quotes(folder));
  }
  Limits limits;
  limits.input_bytes = kJournalBytesMax;
  auto text = read_file(path, limits);
  if (!text) return text.error();
  journal->text_ = std::move(*text);
  journal->reader_ = JournalReader(journal->text_, journal->path_);
  auto header = journal->next();
  if (!header) return header.error();
  if (!*header) return journal;
  if (std::get<JournalHeader>(**header).build != build_id()) return other_build_error(path);
  return journal;
}

Result<std::optional<JournalRecord>> Journal::next() {
  auto record = reader_.next();
  if (!record || !*record) return record;
  if (!std::holds_alternative<JournalProvisional>(**record)) {
    kept_bytes_ = reader_.read_bytes();
    kept_sum_ = reader_.context().sum;
  }
  return record;
}

Result<Success> Journal::begin_writing(bool drops_provisional) {
  context_ = reader_.context();
  file_bytes_ = reader_.read_bytes();
  if (drops_provisional) {
    file_bytes_ = kept_bytes_;
    context_.sum = kept_sum_;
  }
  if (file_bytes_ != text_.size() && ::ftruncate(file_, static_cast<off_t>(file_bytes_)) != 0) {
    return journal_error("write", path_, errno);
  }
  text_ = {};
  return file_bytes_ > 0 ? Result<Success>(Success{}) : append(JournalHeader{build_id()});
}

Result<Success> Journal::append(const JournalRecord& record) {
  return write(journal_line(record, context_));
}

Result<Success> Journal::write(std::string_view line) {
  file_bytes_ += line.size();
  if (file_bytes_ > kJournalBytesMax) {
    return error_of("{} would have more bytes than the limit of {}. Go on in another folder.",
                    in_quotes(path_), kJournalBytesMax);
  }
  while (!line.empty()) {
    const ssize_t count = ::write(file_, line.data(), line.size());
    if (count < 0 && errno != EINTR) return journal_error("write", path_, errno);
    if (count > 0) line.remove_prefix(static_cast<size_t>(count));
  }
  if (on_write_) on_write_();
  return Success{};
}

}  // namespace interlock
