// The grammar of statements that stand for others: captures, replays and backward passes.
#include "encoder/program/names.h"
#include "encoder/text/line_reader.h"

namespace interlock {

bool LineReader::read_rest(CaptureDraft& capture) {
  return take_name("the name of the capture", ItemPart::kName, capture.name) && take_end();
}

bool LineReader::read_rest(EndDraft& /*end*/) { return take_end(); }

bool LineReader::read_rest(ReplayDraft& replay) {
  if (!take_name("the name of a capture", ItemPart::kName, replay.capture)) return false;
  return lexer_.peek().is("on") ? fail_later(lexer_.next()) : take_end();
}

// Reads "LOSS wrt TENSOR… [mode=NAME]".
bool LineReader::read_rest(BackwardDraft& backward) {
  if (!take_name("the tensor whose gradients are wanted", ItemPart::kName, backward.loss)) {
    return false;
  }
  const Token wrt = lexer_.next();
  if (!wrt.is("wrt")) {
    return fail_expecting(wrt, "'wrt' and the tensors that the gradients are taken for");
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

}  // namespace interlock
