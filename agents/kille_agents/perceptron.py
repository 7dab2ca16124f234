"""The forward pass of a multilayer perceptron, each row by itself.

BLAS multiplies a row in ways that depend on the rows beside it and on the processor. Here a row is
summed in the order of its inputs, so that what a policy does at a table does not depend on which
other tables it is asked about. Most features of an observation are 0, and cost nothing.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import PolicyError

Layer = tuple[np.ndarray, np.ndarray]  # weights [in, out] and biases [out], float32
Activation = Callable[..., np.ndarray]
"""Is called with values [N, units] float32 and, as `out`, where to write."""


@kernel
def _gelu(values, out):
    """Write values times the standard normal distribution function at them."""
    for row in range(values.shape[0]):
        for unit in range(values.shape[1]):
            value = values[row, unit]
            out[row, unit] = 0.5 * value * (1.0 + math.erf(value * math.sqrt(0.5)))


def _written(activation: Callable[[np.ndarray], np.ndarray]) -> Activation:
    """Return a function as an activation that writes into `out`."""

    def write(values: np.ndarray, *, out: np.ndarray) -> np.ndarray:
        out[...] = activation(values)
        return out

    return write


def _gelu_written(values: np.ndarray, *, out: np.ndarray) -> np.ndarray:
    _gelu(values, out)
    return out


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return np.float32(0.5) * (np.float32(1.0) + np.tanh(np.float32(0.5) * values))


ACTIVATIONS: dict[str, Activation] = {
    "tanh": np.tanh,
    "relu": partial(np.maximum, np.float32(0.0)),
    "sigmoid": _written(_sigmoid),
    "silu": _written(lambda values: values * _sigmoid(values)),
    "gelu": _gelu_written,
    "elu": _written(lambda values: np.where(values > 0, values, np.expm1(np.minimum(values, 0)))),
    "leaky_relu": _written(lambda values: np.where(values > 0, values, np.float32(0.01) * values)),
    "softplus": _written(lambda values: np.logaddexp(np.float32(0.0), values)),
    "identity": lambda values, *, out: values,
}
"""Activations, as torch has them by default."""


@kernel
def _affine(inputs, weight, bias, out):
    """Write inputs [N, in] @ weight [in, out] + bias [out] to `out` [N, out]."""
    units = out.shape[1]
    for row in range(inputs.shape[0]):
        for unit in range(units):
            out[row, unit] = bias[unit]
        for i in range(inputs.shape[1]):
            value = inputs[row, i]
            if value != 0.0:
                for unit in range(units):
                    out[row, unit] += value * weight[i, unit]


def affine(inputs: np.ndarray, layer: Layer) -> np.ndarray:
    """Return a layer's output, [N, out] float32."""
    weight, bias = layer
    if inputs.ndim != 2 or weight.shape != (inputs.shape[1], len(bias)):
        raise PolicyError(
            f"a layer has weights {list(weight.shape)} and biases {list(bias.shape)}, and its "
            f"inputs are {list(inputs.shape)}; expected [in, out], [out] and [N, in]"
        )
    out = np.empty((len(inputs), len(bias)), dtype=np.float32)
    _affine(np.ascontiguousarray(inputs), weight, bias, out)
    return out


def forward(
    inputs: np.ndarray, layers: Sequence[Layer], activations: Sequence[Activation]
) -> np.ndarray:
    """Return the output of the last layer, [N, out] float32."""
    values = affine(inputs, layers[0])
    for layer, activation in zip(layers[1:], activations, strict=True):
        values = affine(activation(values, out=values), layer)
    return values
