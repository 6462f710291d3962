"""GEMM + bias + activation and its gradients in float64: first as loops to read, then vectorized.

As in the convolution's reference, ``..._loops`` computes one product at a time, the vectorized version leaves the
sums to NumPy, and the tests compare the two with each other and with SciPy.

Letters: item i of the batch, row m in M, inner index k in K, column n in N. `a` is (batch, M, K), `b` (K, N) or
(batch, K, N), `bias` (N,), `output`, its gradient `grad` and `grad_pre` (batch, M, N).
"""

import numpy as np

from helpers.operations.activations import act, derivative

Array = np.ndarray

# --- Loops: one product at a time ----------------------------------------------------------


def pre_loops(a: Array, b: Array, bias: Array) -> Array:
    """pre, (batch, M, N): the bias, and a row of a times a column of b"""
    batch, M, K = np.shape(a)
    N = np.shape(b)[-1]
    b = np.broadcast_to(b, (batch, K, N))  # one b for all items, or one each
    pre = np.zeros((batch, M, N))
    for i, m, n in np.ndindex(batch, M, N):  # for each output
        total = float(bias[n])
        for k in range(K):
            total += float(a[i, m, k]) * float(b[i, k, n])
        pre[i, m, n] = total
    return pre


def backward_loops(
    a: Array, b: Array, bias: Array, grad: Array, activation: str = "none"
) -> tuple[Array, Array, Array]:
    """In each product a * b, one factor's gradient is grad_pre times the other.

    a (batch, M, K), b (K, N), bias (N,), grad (batch, M, N)
    -> d_a (batch, M, K), d_b (K, N), d_bias (N,)
    """
    batch, M, K = np.shape(a)
    N = np.shape(b)[-1]
    b = np.broadcast_to(b, (batch, K, N))  # one b for all items, or one each
    grad_pre = grad * derivative(pre_loops(a, b, bias), activation)  # (batch, M, N)
    d_a = np.zeros((batch, M, K))
    d_b = np.zeros((K, N))
    d_bias = np.zeros(N)
    for i, m, n in np.ndindex(batch, M, N):  # for each output
        d_bias[n] += grad_pre[i, m, n]
        for k in range(K):  # for each product in it
            d_a[i, m, k] += grad_pre[i, m, n] * b[i, k, n]
            d_b[k, n] += a[i, m, k] * grad_pre[i, m, n]
    return d_a, d_b, d_bias


# --- Vectorized: the same sums as matrix products ---------------------------------------


def pre(a: Array, b: Array, bias: Array) -> Array:
    """Vectorized `pre_loops`: (batch, M, N)."""
    a, b, bias = (np.asarray(tensor, np.float64) for tensor in (a, b, bias))
    return a @ b + bias


def forward(a: Array, b: Array, bias: Array, activation: str = "none") -> Array:
    """output = act(pre), (batch, M, N)"""
    return act(pre(a, b, bias), activation)


def backward(
    a: Array, b: Array, bias: Array, grad: Array, activation: str = "none", *, per_item: bool = False
) -> tuple[Array, Array, Array]:
    """Vectorized `backward_loops`; with `per_item`, d_b is (batch, K, N), one for each item."""
    slope = derivative(pre(a, b, bias), activation)
    grad_pre = np.asarray(grad, np.float64) * slope
    return sums(a, b, grad_pre, per_item)


def sums(a: Array, b: Array, grad_pre: Array, per_item: bool = False) -> tuple[Array, Array, Array]:
    """The last three passes: d_a, d_b and d_bias from grad_pre."""
    a, b, grad_pre = (np.asarray(tensor, np.float64) for tensor in (a, b, grad_pre))
    d_a = grad_pre @ b.swapaxes(-1, -2)
    d_b = a.swapaxes(1, 2) @ grad_pre  # (batch, K, N)
    if not per_item:
        d_b = d_b.sum(axis=0)
    d_bias = grad_pre.sum(axis=(0, 1))
    return d_a, d_b, d_bias
