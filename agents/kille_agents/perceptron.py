"""The forward pass of a multilayer perceptron, each row by itself.

BLAS multiplies a row in ways that depend on the rows beside it and on the processor. Here a row is
summed in the order of its inputs, so that what a policy does at a table does not depend on which
other tables it is asked about. Most features of an observation are 0, and cost nothing.
"""

from collections.abc import Callable, Sequence

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import PolicyError

Layer = tuple[np.ndarray, np.ndarray]
"""Weights [in, out] and biases [out], float32."""


@kernel
def _affine(inputs, weight, bias, out):
    """Writes inputs [N, in] @ weight [in, out] + bias [out] to `out` [N, out]."""
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
    """Returns a layer's output, [N, out] float32.

    Args:
        inputs: [N, in] float32.
        layer: Its weights and biases.

    Raises:
        PolicyError: They do not fit together.
    """
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
    inputs: np.ndarray, layers: Sequence[Layer], activation: Callable[..., np.ndarray]
) -> np.ndarray:
    """Returns the output of the last layer, [N, out] float32.

    Args:
        inputs: [N, in] float32.
        layers: The layers.
        activation: Called between two layers with their values and, as `out`, where to write.
    """
    values = affine(inputs, layers[0])
    for layer in layers[1:]:
        values = affine(activation(values, out=values), layer)
    return values
