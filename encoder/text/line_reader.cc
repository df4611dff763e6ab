#include "encoder/text/line_reader.h"

#include "encoder/program/element_text.h"
#include "encoder/program/limits.h"
#include "encoder/program/names.h"
#include "encoder/program/release.h"
#include "encoder/program/word_places.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

constexpr std::string_view kUnlabelled[] = {"memory",  "tensor", "output", "witness", "expect",
                                            "capture", "end",    "replay", "backward"};

constexpr uint32_t kAtomBytesUsual = 256;  // Where a memory says no more than `noncoherent`.

}  // namespace

bool LineReader::fail_expecting(const Token& token, std::string_view expected) {
  return fail(token, "found {}; expected {}.{}", description_of(token), expected,
              place_of_word(token.text));
}

void LineReader::mark(ItemPart part, const Token& token) {
  columns_[static_cast<size_t>(part)] = token.column;
}

uint32_t LineReader::column_of(ItemPlace place) const {
  const uint32_t start = columns_[static_cast<size_t>(ItemPart::kItem)];
  if (place.part == ItemPart::kOperand) {
    return place.index < operand_columns_.size() ? operand_columns_[place.index] : start;
  }
  if (place.part == ItemPart::kAttribute) {
    return place.index < attribute_columns_.size() ? attribute_columns_[place.index] : start;
  }
  if (place.part == ItemPart::kAfter) {
    return place.index < after_columns_.size() ? after_columns_[place.index] : start;
  }
  const uint32_t column = columns_[static_cast<size_t>(place.part)];
  return column != 0 ? column : start;
}

bool LineReader::read_header(std::string_view line) {
  lexer_ = Lexer(line);
  const Token word = lexer_.next();
  if (!word.is("interlock")) return fail_expecting(word, "the header line 'interlock 1'");
  const Token version = lexer_.next();
  if (version.text != "1") {
    return version.kind == TokenKind::kNumber
               ? fail(version, "the file has format version {}; this release reads version 1.",
                      version.text.substr(0, 20))
               : fail_expecting(version, "the format version '1'");
  }
  return (!lexer_.peek().is("needs") || read_needs()) && take_end();
}

// What newer statements need says so: then nothing of them is read as something else.
bool LineReader::read_needs() {
  lexer_.next();
  const Token release = lexer_.next();
  const std::optional<bool> is_this_one = is_at_least(release_text(), release.text);
  if (!is_this_one) return fail_expecting(release, "the release that reads the file, as in '0.3'");
  return *is_this_one ||
         fail(release, "the file needs release {} of Interlock, or a later one; this is {}.",
              release.text.substr(0, 20), release_text());
}

bool LineReader::read(std::string_view line) {
  lexer_ = Lexer(line);
  item_.reset();
  columns_.fill(0);
  operand_columns_.clear();
  attribute_columns_.clear();
  after_columns_.clear();
  label_.clear();
  Token token = lexer_.next();
  if (token.kind == TokenKind::kEnd) return true;
  mark(ItemPart::kItem, token);
  if (token.kind == TokenKind::kName && lexer_.peek().is(':')) {
    mark(ItemPart::kLabel, token);
    label_ = token.text;
    lexer_.next();
    token = lexer_.next();
    if (token.is("queue")) return read_as<QueueDraft>();
    if (token.is("semaphore")) return read_as<SemaphoreDraft>();
    mark(ItemPart::kItem, token);
    if (token.kind != TokenKind::kName) {
      return fail_expecting(token, "a statement after the label");
    }
    if (is_one_of(kUnlabelled, token.text)) {
      return fail(
          token,
          "label {} stands before {}; only dispatches, barriers, sync statements and those of lifetimes and the host have labels.",
          in_quotes(label_), in_quotes(token.text));
    }
  }
  return read_statement(token);
}

bool LineReader::read_statement(Token first) {
  const std::string_view word = first.text;
  if (word == "dispatch") return read_as<DispatchDraft>();
  if (word == "barrier") return read_as<BarrierDraft>();
  if (word == "memory") return read_as<MemoryDraft>();
  if (word == "tensor") return read_as<TensorDraft>();
  if (word == "output") return read_as<OutputDraft>();
  if (word == "witness") return read_as<WitnessDraft>();
  if (word == "expect") return read_as<ExpectDraft>();
  if (const auto kind = position_in<LifetimeKind>(kLifetimeWords, word)) {
    return read_as<LifetimeDraft>(*kind);
  }
  if (word == "capture") return read_as<CaptureDraft>();
  if (word == "end") return read_as<EndDraft>();
  if (word == "replay") return read_as<ReplayDraft>();
  if (word == "backward") return read_as<BackwardDraft>();
  if (word == "host") return read_host();
  if (const auto kind = position_in<SyncKind>(kSyncWords, word)) return read_as<SyncDraft>(*kind);
  if (word == "queue" || word == "semaphore") {
    return fail(first, "{} stands without a name; expected one and a colon before it.",
                in_quotes(word));
  }
  if (word == "interlock") {
    return fail(first, "found a second header line; only the first statement is one.");
  }
  NearestName nearest(word);
  for (const std::string_view statement : kUnlabelled) nearest.offer(statement);
  for (const std::string_view statement :
       {"dispatch", "barrier", "signal", "wait", "set", "await", "split", "submit", "host"}) {
    nearest.offer(statement);
  }
  for (const std::string_view statement : kLifetimeWords) nearest.offer(statement);
  const std::string advice = nearest.advice();
  return fail(
      first,
      "found {}; expected a statement: memory, tensor, output, dispatch, barrier, signal, wait, set, await, split, submit, host, free, destroy, pin, unpin, reset, adopt, capture, end, replay, backward, witness or expect.{}",
      description_of(first), advice.empty() ? place_of_word(word) : advice);
}

bool LineReader::read_rest(MemoryDraft& memory) {
  if (!take_name("the name of the memory", ItemPart::kName, memory.name)) return false;
  mark(ItemPart::kSize, lexer_.peek());
  if (!take_number("the size of the memory in bytes", memory.size_bytes)) return false;
  memory.is_scratch = lexer_.peek().is("scratch");
  if (memory.is_scratch) lexer_.next();
  if (lexer_.peek().is("unified")) {
    lexer_.next();
    memory.is_unified = true;
  } else if (lexer_.peek().is("noncoherent")) {
    lexer_.next();
    memory.atom_bytes = kAtomBytesUsual;
    if (lexer_.peek().is('=')) {
      lexer_.next();
      const Token number = lexer_.peek();
      mark(ItemPart::kSize, number);
      uint64_t atom_bytes = 0;
      if (!take_number("the bytes of an atom", atom_bytes)) return false;
      if (atom_bytes == 0 || atom_bytes > UINT32_MAX) {
        return fail(number,
                    "memory {} has atoms of {} bytes; expected a power of two of at most {}.",
                    in_quotes(memory.name), atom_bytes, Limits{}.atom_bytes);
      }
      memory.atom_bytes = static_cast<uint32_t>(atom_bytes);
    }
  } else if (lexer_.peek().kind != TokenKind::kEnd) {
    return fail_expecting(lexer_.next(),
                          memory.is_scratch
                              ? "'unified', 'noncoherent' or the end of the line"
                              : "'scratch', 'unified', 'noncoherent' or the end of the line");
  }
  return take_end();
}

bool LineReader::read_rest(TensorDraft& tensor) {
  if (!take_name("the name of the tensor", ItemPart::kName, tensor.name) || !read_shape(tensor) ||
      !read_placement(tensor)) {
    return false;
  }
  if (lexer_.peek().is('=')) {
    lexer_.next();
    if (!read_initial_value(tensor.dtype, tensor.initial)) return false;
  }
  return take_end();
}

bool LineReader::read_shape(TensorDraft& tensor) {
  const Token dtype = lexer_.next();
  mark(ItemPart::kSize, dtype);
  const auto found = position_in<DType>(kDTypeWords, dtype.text);
  if (!found) return fail_expecting(dtype, "an element type: f32, i32 or u8");
  tensor.dtype = *found;
  if (!take('[', "before the extents")) return false;
  for (;;) {
    if (!take_number("an extent", tensor.shape.emplace_back())) return false;
    if (!lexer_.peek().is(',')) return take(']', "or ',' after an extent");
    lexer_.next();
  }
}

bool LineReader::read_placement(TensorDraft& tensor) {
  if (lexer_.peek().is('=') || lexer_.peek().kind == TokenKind::kEnd) {
    tensor.placement = Placement::kUnplaced;
    return true;
  }
  const Token word = lexer_.next();
  const auto placement = position_in<Placement>(kPlacementWords, word.text);
  if (!placement) {
    return fail_expecting(
        word,
        "a place ('at MEMORY+OFFSET', 'view TENSOR+OFFSET' or 'donates TENSOR'), '=' or the end of the line");
  }
  tensor.placement = *placement;
  const bool is_placed = tensor.placement == Placement::kPlaced;
  if (!take_name(is_placed ? "the name of a memory" : "the name of a tensor", ItemPart::kBase,
                 tensor.base)) {
    return false;
  }
  if (tensor.placement == Placement::kDonation) return true;
  if (!take('+', "and an offset in bytes")) return false;
  mark(ItemPart::kOffset, lexer_.peek());
  return take_number("an offset in bytes", tensor.offset_bytes);
}

bool LineReader::read_initial_value(DType dtype, InitialValue& initial) {
  const Token word = lexer_.next();
  mark(ItemPart::kInitial, word);
  const auto kind = position_in<InitialKind>(kInitialWords, word.text);
  if (!kind || word.text.empty()) {
    return fail_expecting(word, "an initial value: random(N), zeros, ones, iota or values(V,…)");
  }
  initial.kind = *kind;
  if (initial.kind == InitialKind::kRandom) {
    return take('(', "after 'random'") && take_number("a seed", initial.seed) &&
           take(')', "after the seed");
  }
  return initial.kind != InitialKind::kValues || read_initial_values(dtype, initial.values);
}

// Reads "(1.5,-2)".
bool LineReader::read_initial_values(DType dtype, std::vector<double>& values) {
  if (!take('(', "after 'values'")) return false;
  for (;;) {
    const Token token = lexer_.next_word();
    const auto value = element_of(dtype, token.text);
    if (token.kind != TokenKind::kNumber || !value) {
      return fail_expecting(
          token, fmt::format("a number that an element of type {} can hold", word_of(dtype)));
    }
    values.push_back(*value);
    if (!lexer_.peek().is(',')) return take(')', "or ',' after a value");
    lexer_.next();
  }
}

bool LineReader::read_rest(OutputDraft& output) {
  for (;;) {
    const Token name = lexer_.next();
    if (name.kind == TokenKind::kEnd && !output.tensors.empty()) return true;
    if (name.kind != TokenKind::kName || !name.is_spaced) {
      return fail_expecting(name, "the name of a tensor");
    }
    operand_columns_.push_back(name.column);
    output.tensors.emplace_back(name.text);
  }
}

bool LineReader::read_rest(CaptureDraft& capture) {
  return take_name("the name of the capture", ItemPart::kName, capture.name) && take_end();
}

bool LineReader::read_rest(EndDraft& /*end*/) { return take_end(); }

bool LineReader::read_rest(ReplayDraft& replay) {
  return take_name("the name of a capture", ItemPart::kName, replay.capture) &&
         read_queue_and_end(replay.queue);
}

// Reads "LOSS wrt TENSOR… [mode=NAME]".
bool LineReader::read_rest(BackwardDraft& backward) {
  if (!take_name("the tensor whose gradients are wanted", ItemPart::kName, backward.loss) ||
      !take_word("wrt", "'wrt' and the tensors that the gradients are taken for")) {
    return false;
  }
  for (;;) {
    const Token name = lexer_.next();
    const bool is_key = name.kind == TokenKind::kName && lexer_.peek().is('=');
    const bool has_tensors = !backward.wrt.empty();
    if (name.kind == TokenKind::kEnd && has_tensors) return true;
    if (has_tensors && is_key && name.is("mode")) {
      lexer_.next();
      const Token mode = lexer_.next_word();
      if (mode.kind != TokenKind::kName) return fail_expecting(mode, "the name of a backward pass");
      mark(ItemPart::kMode, mode);
      backward.mode = mode.text;
      return take_end();
    }
    if (name.kind != TokenKind::kName || !name.is_spaced || is_key) {
      return fail_expecting(name, has_tensors
                                      ? "the name of a tensor, mode=NAME or the end of the line"
                                      : "the name of a tensor");
    }
    operand_columns_.push_back(name.column);
    backward.wrt.emplace_back(name.text);
  }
}

bool LineReader::take(char punctuation, std::string_view where) {
  const Token token = lexer_.next();
  return token.is(punctuation) || fail_expecting(token, fmt::format("'{}' {}", punctuation, where));
}

bool LineReader::take_word(std::string_view word, std::string_view what) {
  const Token token = lexer_.next();
  return token.is(word) || fail_expecting(token, what);
}

bool LineReader::take_name(std::string_view what, ItemPart part, std::string& name) {
  const Token token = lexer_.next();
  if (token.kind != TokenKind::kName) return fail_expecting(token, what);
  mark(part, token);
  name = token.text;
  return true;
}

bool LineReader::take_number(std::string_view what, uint64_t& number) {
  const Token token = lexer_.next();
  if (token.kind != TokenKind::kNumber) return fail_expecting(token, what);
  const auto value = decimal_of(token.text);
  if (!value) {
    return fail(token, "{} is not a decimal number of at most 64 bits; expected {}.",
                in_quotes(token.text), what);
  }
  number = *value;
  return true;
}

// Reads "[a:b]".
bool LineReader::take_range(uint64_t& begin, uint64_t& end) {
  if (!take('[', "before a range") || !take_number("the start of a range", begin) ||
      !take(':', "between the start and the end of the range") ||
      !take_number("the end of a range", end)) {
    return false;
  }
  return take(']', "after the range");
}

// Reads "[a:b]" or "[a:b rows R pitch P width W]".
bool LineReader::read_slice(OperandDraft& operand) {
  ByteRange& slice = operand.slice.emplace();
  if (!take('[', "before a range") || !take_number("the start of a range", slice.begin) ||
      !take(':', "between the start and the end of the range") ||
      !take_number("the end of a range", slice.end)) {
    return false;
  }
  if (!lexer_.peek().is("rows")) return take(']', "after the range");
  lexer_.next();
  StrideDraft& stride = operand.stride.emplace();
  return take_number("the number of rows", stride.row_count) &&
         take_word("pitch", "'pitch' and the bytes from row to row") &&
         take_number("the bytes from row to row", stride.pitch_bytes) &&
         take_word("width", "'width' and the bytes of a row") &&
         take_number("the bytes of a row", stride.width_bytes) && take(']', "after the rows");
}

// Reads a label or a dispatch index.
bool LineReader::take_reference(ItemPart part, std::string& reference) {
  const Token token = lexer_.next();
  if (token.text == "@") return take_statement_number(part, token, reference);
  if (token.kind != TokenKind::kName && token.kind != TokenKind::kNumber) {
    return fail_expecting(token, "a dispatch, by label or index");
  }
  mark(part, token);
  reference = token.text;
  return true;
}

// `@3`, `@3@2`: by the number of the statement, after the `@`.
bool LineReader::take_statement_number(ItemPart part, const Token& at, std::string& reference) {
  const Token number = lexer_.next();
  if (number.kind != TokenKind::kNumber || number.is_spaced) {
    return fail_expecting(number, "the number of a statement");
  }
  mark(part, at);
  reference = "@" + std::string(number.text);
  return true;
}

bool LineReader::take_end() {
  const Token token = lexer_.next();
  return token.kind == TokenKind::kEnd || fail_expecting(token, "the end of the line");
}

}  // namespace interlock
