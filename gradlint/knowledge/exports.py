"""Exports: which of several star imports a name comes from, for the modules that people import so."""

from __future__ import annotations

_EXPORTS = {
    "keras.models": "Model Sequential load_model save_model clone_model model_from_json",
    "keras.optimizers": "SGD RMSprop Adam AdamW Adadelta Adagrad Adamax Adafactor Nadam Ftrl Lion Lamb Muon "
    "LossScaleOptimizer Optimizer",
    "keras.initializers": "Initializer Constant Zeros Ones Identity Orthogonal RandomNormal RandomUniform "
    "TruncatedNormal VarianceScaling GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal LecunUniform STFT",
    "keras.regularizers": "Regularizer L1 L2 L1L2 OrthogonalRegularizer l1 l2 l1_l2",
    "keras.constraints": "Constraint MaxNorm NonNeg UnitNorm MinMaxNorm",
    "keras.callbacks": "Callback EarlyStopping ModelCheckpoint TensorBoard ReduceLROnPlateau CSVLogger History "
    "LearningRateScheduler LambdaCallback TerminateOnNaN ProgbarLogger BackupAndRestore",
    "keras.utils": "to_categorical plot_model Sequence get_file image_dataset_from_directory set_random_seed",
    "keras.activations": "relu elu selu gelu softplus softsign sigmoid tanh softmax linear swish silu",
}
_BY_NAME = {name: module for module, names in _EXPORTS.items() for name in names.split()}


def exporter(name: str, modules: list[str]) -> str | None:
    """The star-imported module that a name comes from, or None when that cannot be told."""
    if len(modules) == 1:
        return modules[0]
    listed = _BY_NAME.get(name)
    if listed is not None:
        return listed if listed in modules else None
    open_modules = [module for module in modules if module not in _EXPORTS]
    return open_modules[0] if len(open_modules) == 1 else None
