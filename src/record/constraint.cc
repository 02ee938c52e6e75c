// SPDX-License-Identifier: Apache-2.0
#include "record/constraint.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <expected>
#include <string_view>
#include <vector>

namespace whet {
namespace {

constexpr int kMaxDepth = 60;

struct Token {
  enum class Kind { number, name, sign, end };
  Kind kind = Kind::end;
  std::string text;
};

// A Python number: an exact integer, or a double after `/`, a decimal point or a negative power.
struct Value {
  bool exact = true;
  int64_t i = 0;
  double d = 0;
  const char* lost =
      nullptr;  // why there is no value; travels upward like a NaN, so that `n == 0 or m % n == 0` holds for n = 0
  double real() const { return exact ? static_cast<double>(i) : d; }
  bool truth() const { return exact ? i != 0 : d != 0; }
};
Value whole(int64_t i) { return {true, i, 0, nullptr}; }
Value real(double d) { return {false, 0, d, nullptr}; }
Value lost(const char* why) { return {true, 0, 0, why}; }
Value overflow() { return lost("a value does not fit into 64 bits"); }

struct Stop {
  bool opaque = false;
  std::string why;
};
template <class T>
using Result = std::expected<T, Stop>;
std::unexpected<Stop> opaque() { return std::unexpected(Stop{true, ""}); }
std::unexpected<Stop> wrong(std::string why) { return std::unexpected(Stop{false, std::move(why)}); }

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Result<std::vector<Token>> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    if (starts_name(c)) {
      while (end < text.size() && (starts_name(text[end]) || is_digit(text[end]))) ++end;
      tokens.push_back({Token::Kind::name, std::string(text.substr(i, end - i))});
    } else if (is_digit(c)) {
      while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
      if (end < text.size() && starts_name(text[end])) return opaque();  // 0x10, 1e5
      tokens.push_back({Token::Kind::number, std::string(text.substr(i, end - i))});
    } else {
      for (std::string_view two : {"**", "//", "==", "!=", "<=", ">="})
        if (text.substr(i, 2) == two) end = i + 2;
      if (end == i + 1 && std::string_view("+-*/%<>()").find(c) == std::string_view::npos) {
        if (std::string_view(".[]{},:&|^~@'\"!").find(c) != std::string_view::npos) return opaque();
        return wrong(fmt::format("unexpected character \"{}\"", c));
      }
      tokens.push_back({Token::Kind::sign, std::string(text.substr(i, end - i))});
    }
    i = end;
  }
  tokens.push_back({});
  return tokens;
}

// TRY for Result: both errors travel unchanged.
#define GET(name, expression)                                        \
  auto name##_result = (expression);                                 \
  if (!name##_result) return std::unexpected(name##_result.error()); \
  Value name = *name##_result

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::map<std::string, int64_t>& axes)
      : tokens_(std::move(tokens)), axes_(axes) {}

  Result<Value> whole_expression() {
    GET(value, either());
    if (now().kind != Token::Kind::end) {
      if (is("(") || is_name("if") || is_name("in") || is_name("is") || is_name("not") || is_name("for"))
        return opaque();
      return wrong("unexpected \"" + now().text + "\"");
    }
    return value;
  }

 private:
  struct Level {
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    int& depth_;
  };

  const Token& now() const { return tokens_[at_]; }
  bool is(std::string_view sign) const { return now().kind == Token::Kind::sign && now().text == sign; }
  bool is_name(std::string_view name) const { return now().kind == Token::Kind::name && now().text == name; }

  Result<Value> either() {
    GET(left, both());
    while (is_name("or")) {
      ++at_;
      GET(right, both());
      if (!left.lost && !left.truth()) left = right;
    }
    return left;
  }
  Result<Value> both() {
    GET(left, negation());
    while (is_name("and")) {
      ++at_;
      GET(right, negation());
      if (!left.lost && left.truth()) left = right;
    }
    return left;
  }
  Result<Value> negation() {
    Level level(depth_);
    if (depth_ > kMaxDepth) return wrong(fmt::format("nested deeper than {} levels", kMaxDepth));
    if (!is_name("not")) return comparison();
    ++at_;
    GET(value, negation());
    return value.lost ? value : whole(!value.truth());
  }

  Result<Value> comparison() {
    GET(left, sum());
    bool holds = true, any = false;
    const char* gone = nullptr;
    while (now().kind == Token::Kind::sign) {
      const std::string sign = now().text;
      if (sign != "==" && sign != "!=" && sign != "<" && sign != "<=" && sign != ">" && sign != ">=") break;
      ++at_;
      GET(right, sum());
      if (holds && !gone) {
        gone = left.lost ? left.lost : right.lost;
        holds = gone || compare(left, sign, right);
      }
      left = right;
      any = true;
    }
    if (!any) return left;
    return gone ? lost(gone) : whole(holds);
  }

  static bool compare(const Value& a, const std::string& sign, const Value& b) {
    const auto by = [&](auto x, auto y) {
      if (sign == "==") return x == y;
      if (sign == "!=") return x != y;
      if (sign == "<") return x < y;
      if (sign == "<=") return x <= y;
      return sign == ">" ? x > y : x >= y;
    };
    return a.exact && b.exact ? by(a.i, b.i) : by(a.real(), b.real());
  }

  Result<Value> sum() {
    GET(left, product());
    while (is("+") || is("-")) {
      const bool plus = is("+");
      ++at_;
      GET(right, product());
      left = add(left, plus, right);
    }
    return left;
  }

  static Value add(const Value& a, bool plus, const Value& b) {
    if (a.lost || b.lost) return a.lost ? a : b;
    if (!a.exact || !b.exact) return real(plus ? a.real() + b.real() : a.real() - b.real());
    int64_t result;
    if (plus ? __builtin_add_overflow(a.i, b.i, &result) : __builtin_sub_overflow(a.i, b.i, &result)) return overflow();
    return whole(result);
  }

  Result<Value> product() {
    GET(left, sign());
    while (is("*") || is("/") || is("//") || is("%")) {
      const std::string operation = now().text;
      ++at_;
      GET(right, sign());
      left = multiply(left, operation, right);
    }
    return left;
  }

  static Value multiply(const Value& a, const std::string& operation, const Value& b) {
    if (a.lost || b.lost) return a.lost ? a : b;
    if (operation == "*") {
      if (!a.exact || !b.exact) return real(a.real() * b.real());
      int64_t result;
      if (__builtin_mul_overflow(a.i, b.i, &result)) return overflow();
      return whole(result);
    }
    if (!b.truth()) return lost("a division by zero");
    if (operation == "/") return real(a.real() / b.real());
    if (!a.exact || !b.exact) {
      const double quotient = std::floor(a.real() / b.real());
      return real(operation == "//" ? quotient : a.real() - quotient * b.real());
    }
    if (b.i == -1) return operation == "%" ? whole(0) : a.i == INT64_MIN ? overflow() : whole(-a.i);
    int64_t quotient = a.i / b.i, rest = a.i % b.i;
    if (rest != 0 && (rest < 0) != (b.i < 0)) --quotient, rest += b.i;  // Python rounds down
    return whole(operation == "//" ? quotient : rest);
  }

  Result<Value> sign() {
    Level level(depth_);
    if (depth_ > kMaxDepth) return wrong(fmt::format("nested deeper than {} levels", kMaxDepth));
    if (!is("-") && !is("+")) return power();
    const bool minus = is("-");
    ++at_;
    GET(value, sign());
    if (!minus || value.lost) return value;
    if (!value.exact) return real(-value.d);
    if (value.i == INT64_MIN) return overflow();
    return whole(-value.i);
  }

  Result<Value> power() {
    GET(base, atom());
    if (!is("**")) return base;
    ++at_;
    GET(exponent, sign());
    return raise(base, exponent);
  }

  static Value raise(const Value& base, const Value& exponent) {
    if (base.lost || exponent.lost) return base.lost ? base : exponent;
    if (!base.exact || !exponent.exact || exponent.i < 0) {
      const double result = std::pow(base.real(), exponent.real());
      if (!std::isfinite(result)) return lost("a power without a finite value");
      return real(result);
    }
    int64_t result = 1;
    if (base.i == 0 || base.i == 1) return whole(exponent.i == 0 ? 1 : base.i);
    if (base.i == -1) return whole(exponent.i % 2 ? -1 : 1);
    for (int64_t k = 0; k < exponent.i; ++k)  // ends by overflow after at most 63 turns
      if (__builtin_mul_overflow(result, base.i, &result)) return overflow();
    return whole(result);
  }

  Result<Value> atom() {
    const Token token = now();
    if (token.kind == Token::Kind::end) return wrong("it ends where a value is expected");
    ++at_;
    if (token.kind == Token::Kind::number) return number(token.text);
    if (token.kind == Token::Kind::sign) {
      if (token.text != "(") return wrong("unexpected \"" + token.text + "\"");
      GET(value, either());
      if (!is(")")) return now().kind == Token::Kind::name ? opaque() : wrong("a \")\" is missing");
      ++at_;
      return value;
    }
    if (token.text == "True") return whole(1);
    if (token.text == "False") return whole(0);
    if (token.text == "and" || token.text == "or" || token.text == "not")
      return wrong("unexpected \"" + token.text + "\"");
    auto axis = axes_.find(token.text);
    if (axis == axes_.end()) return opaque();
    return whole(axis->second);
  }

  Result<Value> number(const std::string& text) {
    if (text.find('.') == std::string::npos) {
      int64_t value = 0;
      for (char c : text)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
          return overflow();
      return whole(value);
    }
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (*end != '\0') return wrong("\"" + text + "\" is no number");
    return real(value);
  }

  std::vector<Token> tokens_;
  const std::map<std::string, int64_t>& axes_;
  std::size_t at_ = 0;
  int depth_ = 0;
};
#undef GET

Result<Value> value_of(const std::string& text, const std::map<std::string, int64_t>& axes) {
  auto tokens = tokens_of(text);
  if (!tokens) return std::unexpected(tokens.error());
  return Parser(std::move(*tokens), axes).whole_expression();
}

}  // namespace

IntegerResult evaluate_integer(const std::string& text, const std::map<std::string, int64_t>& axes) {
  using Kind = IntegerResult::Kind;
  const auto value = value_of(text, axes);
  if (!value) return {value.error().opaque ? Kind::note : Kind::malformed, 0, value.error().why};
  if (value->lost) return {Kind::no_value, 0, value->lost};
  if (!value->exact) return {Kind::no_value, 0, "a value that is no integer"};
  return {Kind::value, value->i, ""};
}

ConstraintResult evaluate_constraint(const std::string& text, const std::map<std::string, int64_t>& axes) {
  using Kind = ConstraintResult::Kind;
  const auto value = value_of(text, axes);
  if (!value)
    return value.error().opaque ? ConstraintResult{Kind::note, ""}
                                : ConstraintResult{Kind::malformed, value.error().why};
  if (value->lost) return {Kind::no_value, value->lost};
  return {value->truth() ? Kind::holds : Kind::violated, ""};
}

}  // namespace whet
