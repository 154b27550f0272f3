"""A second model of multi-head attention: plain numpy, one head, sample and place at a time."""

import numpy as np
from scipy.optimize import minimize


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


def head_gradients(u: np.ndarray, W: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Lemma 1 for one head with the full decoder, sample by sample: the gradient, flat."""
    rows = []
    for X in tokens:
        P = attention(W, X)
        of_W = np.zeros_like(W)
        for t in range(len(X)):
            of_W += np.outer(X[t], u[t] @ X.T @ (np.diag(P[t]) - np.outer(P[t], P[t])) @ X)
        rows.append(np.r_[(P @ X).ravel(), of_W.ravel()])
    return np.array(rows)


def best_margin(features: np.ndarray, y: np.ndarray) -> float:
    """The largest margin of a unit vector, by SLSQP on the shortest vector with margins one."""
    A = y[:, None] * features
    found = minimize(
        lambda w: w @ w / 2, np.linalg.pinv(A) @ np.ones(len(y)), jac=lambda w: w, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda w: A @ w - 1, "jac": lambda w: A},
        options={"ftol": 1e-14, "maxiter": 400},
    )  # fmt: skip
    return float(1 / np.linalg.norm(found.x))
