// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Linear algebra on stacks of matrices: the last two axes are the matrix, all before them a batch.
// f32, f64, c64 and c128 through LAPACK, one thread per matrix, so that results are the same bits
// on any number of threads. `A^H` is the conjugate transpose. A factorisation that does not exist
// throws and names the matrix of the batch and the pivot.

namespace tessera {

/// Matrix product of [..., m, k] and [..., k, n]; leading axes broadcast; vectors [k] are rows or
/// columns as in NumPy. Bitwise the same on any number of threads.
Tensor matmul(Arg a, Arg b);
/// Sum of products of two vectors (no conjugation).
Tensor dot(Arg a, Arg b);
Tensor outer(Arg a, Arg b);  ///< [m] and [n] -> [m, n], a_i b_j
Tensor kron(Arg a, Arg b);   ///< Kronecker product of two matrices
/// Einstein's summation, `einsum("bij,bjk->bik", {x, y})`: letters that the result lacks are
/// summed. Without
/// `->` the result has the letters that occur once, in alphabetical order. `...` stands for any
/// number of axes, which broadcast and which the result must have; without `->` they come first:
/// `einsum("...ij,...jk", {x, y})`.
Tensor einsum(const std::string& formula, const std::vector<Tensor>& operands,
              SourceLine line = SourceLine::here());

Tensor diagonal(Arg x);  ///< [..., m, n] -> [..., min(m, n)]
Tensor diag(Arg x);      ///< [..., n] -> [..., n, n] with x on the diagonal
Tensor trace(Arg x);
Tensor tril(Arg x, Index k = 0);  ///< zero above the k-th diagonal
Tensor triu(Arg x, Index k = 0);  ///< zero below the k-th diagonal
Tensor adjoint(Arg x);            ///< x^H
/// Square root of the sum of |x|^2 over all axes, or over those named; its derivative at 0 is 0,
/// the second one NaN.
Tensor norm(Arg x);
Tensor norm(Arg x, const Shape& axes, bool keep_dims = false);

/// L of A = L L^H for (A + A^H)/2, lower with positive diagonal. Throws where A is not positive
/// definite.
Tensor cholesky(Arg a);

struct TriangularOptions {
  bool lower = true;       ///< which triangle of A is read
  bool transpose = false;  ///< A^T in place of A
  bool conjugate = false;  ///< conj(A) in place of A; with `transpose` A^H
  bool unit = false;       ///< take the diagonal as ones, unread
  bool left = true;        ///< solve A X = B; else X A = B
};
/// X of A X = B (or X A = B) with triangular A [..., n, n] and B [..., n, m] (or [..., m, n]). A
/// zero on the diagonal throws.
Tensor triangular_solve(Arg a, Arg b, TriangularOptions options = {});

/// P A = L U with row pivoting: `packed` [..., m, n] holds U and, below the diagonal, L without its
/// unit diagonal; row i of P A is row permutation[i] of A (i32 [..., m]).
struct PackedLU {
  Tensor packed, permutation;
};
/// Derivatives of a matrix with a zero on U's diagonal are NaN, those of others in the stack are
/// not concerned.
PackedLU lu_packed(Arg a);
/// A = P L U: P [..., m, m], L [..., m, k] with unit diagonal, U [..., k, n]; k = min(m, n).
struct LU {
  Tensor p, l, u;
};
LU lu(Arg a);

/// A = Q R with Q [..., m, k], Q^H Q = 1, and R [..., k, n] upper with a diagonal that is real and
/// >= 0; k = min(m, n). Derivatives need the first k columns of A to be independent and are NaN
/// otherwise.
struct QR {
  Tensor q, r;
};
QR qr(Arg a);

/// What derivatives say of eigenvectors (singular vectors) whose eigenvalues (singular values) are
/// equal, that is, differ by no more than 8 n eps max |w|. A change of the matrix may turn them
/// inside of their common space by any angle at once, so that none of them has a derivative.
enum class Degenerate : std::uint8_t {
  nan,   ///< NaN for these vectors, and for second derivatives of their eigenvalues
  zero,  ///< they do not turn inside of their space: right for first derivatives of what does not
         ///< depend on the choice of vectors in it, as projectors on the space; second derivatives
         ///< are NaN
};

/// (A + A^H)/2 = V diag(w) V^H, w real and rising, eigenvectors in the columns of V. The largest
/// component of each vector (the first, at ties) is real and positive. Derivatives take v^H dv = 0,
/// which for complex matrices fixes the phase differently: only what does not depend on phases has
/// a meaningful derivative. Of equal eigenvalues first derivatives of what is symmetric in them
/// exist, as of sum w^2; for more there is ops/spectral.h.
struct Eigh {
  Tensor values, vectors;
};
Eigh eigh(Arg a, Degenerate degenerate = Degenerate::nan);

/// A = U diag(s) Vh with U [..., m, k], s falling and >= 0, Vh [..., k, n]; k = min(m, n). The
/// largest component of each column of U is real and positive. Derivatives as for `eigh`: of what
/// does not depend on the phases. Those that divide by a singular value that is 0 (vectors of m !=
/// n or of complex matrices) are NaN, or 0 with Degenerate::zero.
struct SVD {
  Tensor u, s, vh;
};
SVD svd(Arg a, Degenerate degenerate = Degenerate::nan);

/// X of A X = B; B is [..., n, m], or [..., n] with one axis less than A, or [n].
Tensor solve(Arg a, Arg b);
Tensor inv(Arg a);  ///< A^-1 [..., n, n], as `solve` finds it
/// Its gradient is the conjugate of the cofactor matrix, which exists for matrices of any rank and
/// vanishes below n - 1; so do all further derivatives. That of order k + 1 costs about 3^k n^3,
/// and more for matrices of much lower rank.
Tensor det(Arg a);
struct SlogDet {
  Tensor sign, log_abs;
};
SlogDet slogdet(Arg a);  ///< det = sign exp(log_abs), free of overflow; derivatives of a singular
                         ///< matrix are NaN
/// x of least |A x - b| for A [..., m, n] of full rank, b [..., m, k]; of all such x the shortest
/// (m < n).
Tensor lstsq(Arg a, Arg b);

}  // namespace tessera
