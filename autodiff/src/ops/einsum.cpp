// SPDX-License-Identifier: Apache-2.0
//
// Einstein's summation: operands are joined from left to right, each pair by one batched matrix
// product. The axes of an ellipsis count as letters, '0' for the last of them.
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <algorithm>
#include <map>

namespace tessera {
namespace {

struct Term {
  std::string letters;  ///< one for each axis
  Tensor t;
};

bool has(const std::string& s, char c) { return s.find(c) != std::string::npos; }

constexpr char kDots = '\1';  // the three dots as one mark, which no formula holds

std::string compact(const std::string& formula) {
  std::string text;
  for (char c : formula)
    if (c != ' ') text += c;
  for (std::size_t at; (at = text.find("...")) != std::string::npos;) text.replace(at, 3, 1, kDots);
  return text;
}
/// `letters` with n axes in place of the ellipsis, if there is one.
std::string spelled(std::string letters, int n) {
  std::string axes;
  while (n-- > 0) axes += static_cast<char>('0' + n);
  if (const std::size_t at = letters.find(kDots); at != std::string::npos)
    letters.replace(at, 1, axes);
  return letters;
}
/// An axis of an ellipsis that has size 1 in one operand and more, or 0, in another goes from the
/// first.
void broadcast_axes(std::vector<Term>& terms) {
  auto stretched = [&](char c) {
    return std::any_of(terms.begin(), terms.end(), [c](const Term& x) {
      return has(x.letters, c) && x.t.shape()[static_cast<int>(x.letters.find(c))] != 1;
    });
  };
  for (Term& x : terms)
    for (std::size_t d = x.letters.size(); d-- > 0;)
      if (const char c = x.letters[d];
          '0' <= c && c <= '9' && x.t.shape()[static_cast<int>(d)] == 1 && stretched(c)) {
        x.t = squeeze(x.t, static_cast<int>(d));
        x.letters.erase(d, 1);
      }
}

/// Axes of `x` in the order of `letters`, all of which it has.
Tensor arranged(const Term& x, const std::string& letters) {
  Shape order;
  for (char c : letters) order.push_back(static_cast<Index>(x.letters.find(c)));
  return transpose(x.t, order);
}
/// Takes the diagonal of repeated letters and sums those that `keep` lacks.
Term reduced(Term x, const std::string& keep) {
  for (std::size_t i = 0; i < x.letters.size(); ++i)
    for (std::size_t j = i + 1; j < x.letters.size();) {
      if (x.letters[i] != x.letters[j]) {
        ++j;
        continue;
      }
      const char c = x.letters[i];
      Tensor t = moveaxis(moveaxis(x.t, static_cast<int>(j), -1), static_cast<int>(i), -2);
      x.t = diagonal(t);
      x.letters.erase(j, 1), x.letters.erase(i, 1);
      x.letters += c;
      j = i + 1;
    }
  Shape gone;
  std::string left;
  for (std::size_t i = 0; i < x.letters.size(); ++i)
    if (has(keep, x.letters[i]))
      left += x.letters[i];
    else
      gone.push_back(static_cast<Index>(i));
  if (!gone.empty()) x.t = sum(x.t, gone);
  return {left, x.t};
}
Index count_of(const Term& x, const std::string& letters) {
  Index n = 1;
  for (char c : letters) n *= x.t.shape()[static_cast<int>(x.letters.find(c))];
  return n;
}
/// The product of two terms with all letters of `keep` left and all others summed.
Term joined(Term a, Term b, const std::string& keep) {
  a = reduced(a, keep + b.letters), b = reduced(b, keep + a.letters);
  std::string both, inner, left, right;
  for (char c : a.letters) (!has(b.letters, c) ? left : has(keep, c) ? both : inner) += c;
  for (char c : b.letters)
    if (!has(a.letters, c)) right += c;
  const Tensor x = reshape(arranged(a, both + left + inner),
                           {count_of(a, both), count_of(a, left), count_of(a, inner)});
  const Tensor y = reshape(arranged(b, both + inner + right),
                           {count_of(b, both), count_of(b, inner), count_of(b, right)});
  Shape s;
  for (char c : both + left) s.push_back(a.t.shape()[static_cast<int>(a.letters.find(c))]);
  for (char c : right) s.push_back(b.t.shape()[static_cast<int>(b.letters.find(c))]);
  return {both + left + right, reshape(matmul(x, y), s)};
}

}  // namespace

Tensor einsum(const std::string& formula, const std::vector<Tensor>& operands, SourceLine line) {
  const std::string text = compact(formula);
  auto refuse = [&](const std::string& why) {
    fail("einsum", "\"" + formula + "\": " + why, line);
  };
  const std::size_t arrow = text.find("->");
  std::vector<Term> terms(1);
  for (char c : text.substr(0, arrow)) {
    if (c == ',')
      terms.emplace_back();
    else if (('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') ||
             (c == kDots && !has(terms.back().letters, c)))
      terms.back().letters += c;
    else if (c == kDots)
      refuse("one operand has two ellipses");
    else
      refuse(std::string("'") + c + "' is neither a letter nor a comma nor '...'");
  }
  if (terms.size() != operands.size())
    refuse("names " + std::to_string(terms.size()) + " operands, got " +
           std::to_string(operands.size()));
  std::map<char, Index> sizes;
  std::map<char, int> uses;
  int dots = 0;  // axes of the longest ellipsis
  for (std::size_t k = 0; k < terms.size(); ++k) {
    terms[k].t = operands[k];
    const bool open = has(terms[k].letters, kDots);
    const int free = operands[k].ndim() - static_cast<int>(terms[k].letters.size()) + open;
    if (open ? free < 0 : free != 0)
      refuse("operand " + std::to_string(k) + " is " + to_string(operands[k].type()) +
             ", which its letters do not fit");
    terms[k].letters = spelled(terms[k].letters, free);
    if (open) dots = std::max(dots, free);
  }
  broadcast_axes(terms);
  for (std::size_t k = 0; k < terms.size(); ++k)
    for (int d = 0; d < terms[k].t.ndim(); ++d) {
      const char c = terms[k].letters[d];
      const Index n = terms[k].t.shape()[d];
      ++uses[c];
      if (!sizes.emplace(c, n).second && sizes[c] != n)
        refuse(
            ('0' <= c && c <= '9' ? std::string("an axis of '...'") : std::string("'") + c + "'") +
            " is " + std::to_string(sizes[c]) + " and, in operand " + std::to_string(k) + ", " +
            std::to_string(n));
    }
  std::string result;
  if (arrow == std::string::npos) {
    result = spelled({kDots}, dots);
    for (const auto& [c, n] : uses)
      if (n == 1 && !has(result, c)) result += c;
  } else {
    result = text.substr(arrow + 2);
    if (dots > 0 && !has(result, kDots)) refuse("the result lacks the '...' of an operand");
    result = spelled(result, dots);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!uses.contains(result[i]) || result.find(result[i], i + 1) != std::string::npos)
        refuse(std::string("'") + result[i] +
               "' in the result does not name one axis of an operand");
  }
  Term total = terms[0];
  for (std::size_t k = 1; k < terms.size(); ++k) {
    std::string keep = result;
    for (std::size_t l = k + 1; l < terms.size(); ++l) keep += terms[l].letters;
    total = joined(total, terms[k], keep);
  }
  total = reduced(total, result);
  return arranged(total, result);
}

}  // namespace tessera
