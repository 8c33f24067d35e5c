"""tf.linalg.* and tf.signal.*"""

from __future__ import annotations

import numpy as np

from measuring.inputs import Floats, positive_definite, square
from measuring.recipe import Recipe
from measuring.recipes.short import MATRIX, VECTOR, fixed, floats, recipe

MATRIX3 = square()
DEFINITE = positive_definite()
RIGHT = floats(3, 2)
LOWER = Floats((3, 3), turn=lambda drawn: np.tril(drawn + 3 * np.eye(3)))
PLANE = floats(4, 4, dtype="complex64")
CUBE = floats(2, 4, 4, dtype="complex64")
PERM = [2, 0, 1]

RECIPES: dict[str, list[Recipe]] = {
    f"tf.linalg.{name}": [recipe(input=MATRIX3)] for name in ("det", "expm", "inv", "logm", "lu", "slogdet", "sqrtm")
}
RECIPES |= {
    "tf.linalg.sqrtm": [recipe(input=DEFINITE)],
    "tf.linalg.logm": [recipe(input=floats(3, 3, dtype="complex64"))],
    "tf.linalg.adjoint": [recipe(matrix=MATRIX)],
    "tf.linalg.band_part": [recipe(input=MATRIX3, num_lower=1, num_upper=0)],
    "tf.linalg.banded_triangular_solve": [recipe(bands=Floats((2, 4), turn=lambda drawn: drawn + 3), rhs=floats(4, 2))],
    "tf.linalg.cholesky": [recipe(input=DEFINITE)],
    "tf.linalg.cholesky_solve": [recipe(chol=LOWER, rhs=RIGHT)],
    "tf.linalg.cross": [recipe(a=floats(3), b=floats(3))],
    "tf.linalg.diag": [recipe(diagonal=VECTOR)],
    "tf.linalg.diag_part": [recipe(input=MATRIX3)],
    "tf.linalg.eigh": [recipe(tensor=DEFINITE)],
    "tf.linalg.eigvals": [recipe(tensor=MATRIX3)],
    "tf.linalg.eigvalsh": [recipe(tensor=DEFINITE)],
    "tf.linalg.eigh_tridiagonal": [recipe(alpha=fixed([0.3, -1.2, 2.5, 0.7]), beta=fixed([1.1, -0.4, 0.6]))],
    "tf.linalg.global_norm": [recipe(t_list=[VECTOR, VECTOR])],
    "tf.linalg.logdet": [recipe(matrix=DEFINITE)],
    "tf.linalg.lstsq": [
        recipe(matrix=floats(4, 3), rhs=floats(4, 2)),
        recipe(matrix=floats(4, 3), rhs=floats(4, 2), fast=False, variant="fast=False"),
    ],
    "tf.linalg.lu_matrix_inverse": [recipe(lower_upper=MATRIX3, perm=PERM)],
    "tf.linalg.lu_reconstruct": [recipe(lower_upper=MATRIX3, perm=PERM)],
    "tf.linalg.lu_solve": [recipe(lower_upper=MATRIX3, perm=PERM, rhs=RIGHT)],
    "tf.linalg.matmul": [recipe(a=floats(2, 3), b=floats(3, 2))],
    "tf.linalg.matrix_rank": [recipe(a=MATRIX3)],
    "tf.linalg.matrix_transpose": [recipe(a=MATRIX)],
    "tf.linalg.matvec": [recipe(a=MATRIX, b=VECTOR)],
    "tf.linalg.normalize": [recipe(tensor=VECTOR)],
    "tf.linalg.pinv": [recipe(a=floats(4, 3))],
    "tf.linalg.qr": [recipe(input=MATRIX3)],
    "tf.linalg.set_diag": [recipe(input=MATRIX3, diagonal=floats(3))],
    "tf.linalg.solve": [recipe(matrix=MATRIX3, rhs=RIGHT)],
    "tf.linalg.svd": [
        recipe(tensor=MATRIX3),
        recipe(tensor=MATRIX3, compute_uv=False, variant="compute_uv=False"),
        recipe(tensor=floats(4, 2), variant="4x2"),
    ],
    "tf.linalg.tensor_diag": [recipe(diagonal=VECTOR)],
    "tf.linalg.tensor_diag_part": [recipe(input=MATRIX3)],
    "tf.linalg.tensordot": [recipe(a=floats(2, 3), b=floats(3, 2), axes=1)],
    "tf.linalg.trace": [recipe(x=MATRIX3)],
    "tf.linalg.triangular_solve": [recipe(matrix=LOWER, rhs=RIGHT)],
    "tf.linalg.tridiagonal_matmul": [recipe(diagonals=floats(3, 4), rhs=floats(4, 2))],
    "tf.linalg.tridiagonal_solve": [
        recipe(diagonals=Floats((3, 4), turn=lambda drawn: drawn + np.array([[0.0], [6.0], [0.0]])), rhs=floats(4, 2))
    ],
    "tf.signal.dct": [recipe(input=VECTOR)],
    "tf.signal.idct": [recipe(input=VECTOR)],
    "tf.signal.fft": [recipe(input=floats(4, dtype="complex64"))],
    "tf.signal.ifft": [recipe(input=floats(4, dtype="complex64"))],
    "tf.signal.fft2d": [recipe(input=PLANE)],
    "tf.signal.ifft2d": [recipe(input=PLANE)],
    "tf.signal.fft3d": [recipe(input=CUBE)],
    "tf.signal.ifft3d": [recipe(input=CUBE)],
    "tf.signal.fftnd": [recipe(input_tensor=PLANE, fft_length=[4, 4], axes=[0, 1])],
    "tf.signal.ifftnd": [recipe(input_tensor=PLANE, fft_length=[4, 4], axes=[0, 1])],
    "tf.signal.rfftnd": [recipe(input_tensor=floats(4, 4), fft_length=[4, 4], axes=[0, 1])],
    "tf.signal.irfftnd": [recipe(input_tensor=floats(4, 3, dtype="complex64"), fft_length=[4, 4], axes=[0, 1])],
    "tf.signal.rfft": [recipe(input_tensor=VECTOR)],
    "tf.signal.rfft2d": [recipe(input_tensor=floats(4, 4))],
    "tf.signal.rfft3d": [recipe(input_tensor=floats(2, 4, 4))],
    "tf.signal.irfft": [recipe(input_tensor=floats(3, dtype="complex64"))],
    "tf.signal.irfft2d": [recipe(input_tensor=floats(4, 3, dtype="complex64"))],
    "tf.signal.irfft3d": [recipe(input_tensor=floats(2, 4, 3, dtype="complex64"))],
    "tf.signal.frame": [recipe(signal=floats(8), frame_length=4, frame_step=2)],
    "tf.signal.overlap_and_add": [recipe(signal=MATRIX, frame_step=2)],
    "tf.signal.mdct": [recipe(signals=floats(16), frame_length=8)],
    "tf.signal.inverse_mdct": [recipe(mdcts=floats(3, 4))],
    "tf.signal.stft": [recipe(signals=floats(16), frame_length=8, frame_step=4)],
    "tf.signal.inverse_stft": [recipe(stfts=floats(3, 5, dtype="complex64"), frame_length=8, frame_step=4)],
    "tf.signal.mfccs_from_log_mel_spectrograms": [recipe(log_mel_spectrograms=floats(2, 8))],
    "tf.signal.hamming_window": [recipe(window_length=8)],
    "tf.signal.hann_window": [recipe(window_length=8)],
    "tf.signal.vorbis_window": [recipe(window_length=8)],
    "tf.signal.kaiser_window": [recipe(window_length=8, beta=fixed(5.0))],
    "tf.signal.kaiser_bessel_derived_window": [recipe(window_length=8, beta=fixed(5.0))],
}
