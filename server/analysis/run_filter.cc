#include "server/analysis/run_filter.h"

#include <re2/re2.h>

#include <compare>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/analysis/run_settings.h"
#include "server/analysis/setting_value.h"

namespace packtrain::analysis {
namespace {

using Node = RunFilter::Node;
using NodePtr = std::unique_ptr<const Node>;

constexpr std::int64_t kMaxRegexBytes = 1 << 20;

enum class TokenKind { kEnd, kOpen, kClose, kOperator, kWord, kQuoted };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  std::size_t position = 0;  // from 0
};

absl::Status ErrorAt(std::size_t position, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("column ", position + 1, ": ", std::string(message)));
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsOperatorChar(char c) { return std::string_view("=!<>~").find(c) != std::string_view::npos; }
bool IsWordChar(char c) {
  return !IsSpace(c) && !IsOperatorChar(c) && std::string_view("()'\"").find(c) == std::string_view::npos;
}

// Cuts a filter into tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    do {
      ABSL_ASSIGN_OR_RETURN(Token token, Next());
      tokens.push_back(std::move(token));
    } while (tokens.back().kind != TokenKind::kEnd);
    return tokens;
  }

 private:
  absl::StatusOr<Token> Next() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
    const std::size_t start = at_;
    if (at_ == text_.size()) return Token{TokenKind::kEnd, "", start};
    const char c = text_[at_];
    if (c == '(' || c == ')') {
      ++at_;
      return Token{c == '(' ? TokenKind::kOpen : TokenKind::kClose, std::string(1, c), start};
    }
    if (c == '\'' || c == '"') return Quoted();
    if (IsOperatorChar(c)) return Operator();
    while (at_ < text_.size() && IsWordChar(text_[at_])) ++at_;
    return Token{TokenKind::kWord, std::string(text_.substr(start, at_ - start)), start};
  }

  absl::StatusOr<Token> Operator() {
    const std::size_t start = at_++;
    if (at_ < text_.size() && text_[at_] == '=' &&
        std::string_view("!<>").find(text_[start]) != std::string_view::npos) {
      ++at_;
    }
    std::string op(text_.substr(start, at_ - start));
    if (op == "!") return ErrorAt(start, "unknown operator !, did you mean !=");
    return Token{TokenKind::kOperator, std::move(op), start};
  }

  absl::StatusOr<Token> Quoted() {
    const std::size_t start = at_++;
    std::string value;
    for (; at_ < text_.size() && text_[at_] != text_[start]; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value.push_back(text_[at_]);
    }
    if (at_ == text_.size()) return ErrorAt(start, "the quote is not closed");
    ++at_;
    return Token{TokenKind::kQuoted, std::move(value), start};
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

class NotNode final : public Node {
 public:
  explicit NotNode(NodePtr child) : child_(std::move(child)) {}
  bool Matches(const v1::Run& run) const override { return !child_->Matches(run); }

 private:
  const NodePtr child_;
};

// True for "or", false for "and", as soon as one child says so.
class ListNode final : public Node {
 public:
  ListNode(bool decides, std::vector<NodePtr> children) : decides_(decides), children_(std::move(children)) {}

  bool Matches(const v1::Run& run) const override {
    for (const NodePtr& child : children_) {
      if (child->Matches(run) == decides_) return decides_;
    }
    return !decides_;
  }

 private:
  const bool decides_;
  const std::vector<NodePtr> children_;
};

template <typename Order>
bool Holds(const std::string& op, Order order) {
  if (op == "=") return order == 0;
  if (op == "!=") return order != 0;
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  return order >= 0;
}

class TextNode final : public Node {
 public:
  TextNode(RunSetting::Reader read, std::string op, std::string value)
      : read_(std::move(read)), op_(std::move(op)), value_(std::move(value)) {}

  bool Matches(const v1::Run& run) const override {
    const std::optional<std::string> found = read_(run);
    return found.has_value() ? Holds(op_, *found <=> value_) : op_ == "!=";
  }

 private:
  const RunSetting::Reader read_;
  const std::string op_;
  const std::string value_;
};

// A run whose value is no number is as one without the value.
class NumberNode final : public Node {
 public:
  NumberNode(RunSetting::Reader read, std::string op, const SettingNumber& value)
      : read_(std::move(read)), op_(std::move(op)), value_(value) {}

  bool Matches(const v1::Run& run) const override {
    const std::optional<std::string> found = read_(run);
    const std::optional<SettingNumber> number = found.has_value() ? ParseNumber(*found) : std::nullopt;
    return number.has_value() ? Holds(op_, CompareNumbers(*number, value_)) : op_ == "!=";
  }

 private:
  const RunSetting::Reader read_;
  const std::string op_;
  const SettingNumber value_;
};

bool ComparesNumbers(ValueType type, const std::string& op) {
  return type == ValueType::kNumber || (type == ValueType::kAny && op != "=" && op != "!=");
}

absl::StatusOr<NodePtr> MakeCompareNode(const RunSetting& setting, const std::string& op, const Token& value) {
  if (!ComparesNumbers(setting.type, op)) {
    return NodePtr(std::make_unique<TextNode>(setting.read, op, value.text));
  }
  const std::optional<SettingNumber> number = ParseNumber(value.text);
  if (number.has_value()) return NodePtr(std::make_unique<NumberNode>(setting.read, op, *number));
  return ErrorAt(value.position,
                 absl::StrCat(setting.key, " ", op, " takes a finite number, and ", value.text, " is none"));
}

class RegexNode final : public Node {
 public:
  RegexNode(RunSetting::Reader read, std::unique_ptr<const re2::RE2> regex)
      : read_(std::move(read)), regex_(std::move(regex)) {}

  bool Matches(const v1::Run& run) const override {
    const std::optional<std::string> found = read_(run);
    return found.has_value() && re2::RE2::PartialMatch(*found, *regex_);
  }

 private:
  const RunSetting::Reader read_;
  const std::unique_ptr<const re2::RE2> regex_;
};

absl::StatusOr<NodePtr> MakeRegexNode(const RunSetting& setting, const Token& value) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxRegexBytes);
  auto regex = std::make_unique<const re2::RE2>(value.text, options);
  if (!regex->ok()) return ErrorAt(value.position, absl::StrCat("bad regular expression: ", regex->error()));
  return NodePtr(std::make_unique<RegexNode>(setting.read, std::move(regex)));
}

std::string KnownKeys() {
  return KnownSettings({SettingKind::kFactor, SettingKind::kCondition, SettingKind::kNote, SettingKind::kRepeat,
                        SettingKind::kRecord});
}

// Recursive descent over the grammar of run_filter.h.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  absl::StatusOr<NodePtr> Run() {
    absl::StatusOr<NodePtr> root = Or(0);
    if (root.ok() && Peek().kind != TokenKind::kEnd) {
      return ErrorAt(Peek().position,
                     absl::StrCat("expected and, or, or the end, found ", Peek().text, HintAtQuotes()));
    }
    return root;
  }

 private:
  const Token& Peek() const { return tokens_[at_]; }
  const Token& Take() { return tokens_[Peek().kind == TokenKind::kEnd ? at_ : at_++]; }
  bool TakeWord(std::string_view word) {
    const bool found = Peek().kind == TokenKind::kWord && Peek().text == word;
    if (found) Take();
    return found;
  }

  // The hint to quote a value, where the text behind it may belong to it.
  std::string HintAtQuotes() const {
    if (at_ == 0 || tokens_[at_ - 1].kind != TokenKind::kWord) return "";
    return absl::StrCat("; a value that has spaces or brackets needs quotes, as in '", tokens_[at_ - 1].text,
                        " ...'");
  }

  absl::StatusOr<NodePtr> Or(int depth) {
    return List("or", true, [this, depth] { return And(depth); });
  }
  absl::StatusOr<NodePtr> And(int depth) {
    return List("and", false, [this, depth] { return Not(depth); });
  }

  template <typename ParseChild>
  absl::StatusOr<NodePtr> List(std::string_view word, bool decides, ParseChild parse_child) {
    std::vector<NodePtr> children;
    do {
      ABSL_ASSIGN_OR_RETURN(NodePtr child, parse_child());
      children.push_back(std::move(child));
    } while (TakeWord(word));
    return NodePtr(std::make_unique<ListNode>(decides, std::move(children)));
  }

  absl::StatusOr<NodePtr> Not(int depth) {
    if (depth >= kMaxFilterDepth) {
      return ErrorAt(Peek().position, absl::StrCat("nested deeper than ", kMaxFilterDepth));
    }
    if (TakeWord("not")) {
      ABSL_ASSIGN_OR_RETURN(NodePtr child, Not(depth + 1));
      return NodePtr(std::make_unique<NotNode>(std::move(child)));
    }
    return Peek().kind == TokenKind::kOpen ? Brackets(depth) : Compare();
  }

  absl::StatusOr<NodePtr> Brackets(int depth) {
    const std::size_t opened = Take().position;
    ABSL_ASSIGN_OR_RETURN(NodePtr inner, Or(depth + 1));
    if (Take().kind != TokenKind::kClose) return ErrorAt(opened, "the bracket is not closed");
    return inner;
  }

  absl::StatusOr<NodePtr> Compare() {
    const Token key = Take();
    if (key.kind != TokenKind::kWord) return ErrorAt(key.position, "expected a key");
    const std::optional<RunSetting> setting = FindSetting(key.text);
    if (!setting.has_value()) {
      return ErrorAt(key.position, absl::StrCat("unknown key ", key.text, "; known are ", KnownKeys()));
    }
    const Token op = Take();
    if (op.kind != TokenKind::kOperator) {
      return ErrorAt(op.position, absl::StrCat("expected one of = != < <= > >= ~ after ", key.text));
    }
    const Token value = Take();
    if (value.kind != TokenKind::kWord && value.kind != TokenKind::kQuoted) {
      return ErrorAt(value.position, absl::StrCat("expected a value after ", op.text));
    }
    return op.text == "~" ? MakeRegexNode(*setting, value) : MakeCompareNode(*setting, op.text, value);
  }

  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

RunFilter::RunFilter(std::shared_ptr<const Node> root) : root_(std::move(root)) {}

absl::StatusOr<RunFilter> RunFilter::Parse(std::string_view text) {
  if (text.size() > kMaxFilterBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the filter has ", text.size(), " bytes, at most ", kMaxFilterBytes, " are taken"));
  }
  ABSL_ASSIGN_OR_RETURN(std::vector<Token> tokens, Lexer(text).Run());
  if (tokens.size() == 1) return RunFilter(nullptr);
  ABSL_ASSIGN_OR_RETURN(NodePtr root, Parser(std::move(tokens)).Run());
  return RunFilter(std::move(root));
}

bool RunFilter::Matches(const v1::Run& run) const { return root_ == nullptr || root_->Matches(run); }

}  // namespace packtrain::analysis
