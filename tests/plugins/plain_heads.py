"""A second model of multi-head attention: plain numpy, one head, sample and place at a time."""

import numpy as np


def attention(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Softmax of the rows of X W X', row by row."""
    rows = []
    for x in X:
        scores = np.array([x @ W @ other for other in X])
        p = np.exp(scores - scores.max())
        rows.append(p / p.sum())
    return np.array(rows)


def decoder(u: np.ndarray, output: str, T: int) -> np.ndarray:
    if output == "full":
        return u
    U = np.zeros((T, len(u)))
    U[-1 if output == "last" else slice(None)] = u
    return U


def head(u: np.ndarray, W: np.ndarray, X: np.ndarray, output: str = "full") -> float:
    """<U, softmax(X W X') X>."""
    U, P = decoder(u, output, len(X)), attention(W, X)
    return float(sum(U[t] @ sum(P[t, s] * X[s] for s in range(len(X))) for t in range(len(X))))


def model(U, W, counts, H: float, X: np.ndarray, output: str = "full") -> float:
    """Groups of equal heads, each counted as often as it has heads, over sqrt(H)."""
    return sum(c * head(u, w, X, output) for u, w, c in zip(U, W, counts, strict=True)) / H**0.5


def loss(U, W, counts, H, tokens, labels, weights, output: str = "full") -> float:
    """The weighted logistic loss."""
    return float(
        sum(
            w * np.logaddexp(0, -y * model(U, W, counts, H, X, output))
            for X, y, w in zip(tokens, labels, weights, strict=True)
        )
    )


def gradient(f, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function of one array, entry by entry."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = step
        found[i] = (f(x + e) - f(x - e)) / (2 * step)
    return found
