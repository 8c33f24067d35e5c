"""tf.sparse.*, tf.ragged.*, tf.random.* and keras.random.*"""

from __future__ import annotations

import tensorflow as tf

from measuring.inputs import Ragged, Sparse
from measuring.recipe import Recipe
from measuring.recipes.short import MATRIX, VECTOR, as_int, fixed, floats, recipe

SPARSE = Sparse()
OTHER = Sparse(indices=((0, 0), (0, 3), (1, 1), (2, 3)))
SEED = (1, 2)
SEGMENTS = {"indices": tf.constant([0, 2, 1]), "segment_ids": tf.constant([0, 0, 1])}

RECIPES: dict[str, list[Recipe]] = {
    "tf.sparse.add": [
        recipe(a=SPARSE, b=OTHER),
        recipe(a=SPARSE, b=MATRIX, variant="dense"),
    ],
    "tf.sparse.bincount": [recipe(values=tf.constant([0, 1, 1, 2]), weights=VECTOR)],
    "tf.sparse.concat": [recipe(axis=0, sp_inputs=[SPARSE, OTHER])],
    "tf.sparse.eye": [recipe(num_rows=2)],
    "tf.sparse.expand_dims": [recipe(sp_input=SPARSE, axis=0)],
    "tf.sparse.fill_empty_rows": [
        recipe(sp_input=Sparse(indices=((0, 0), (0, 2), (2, 1)), shape=(3, 4)), default_value=fixed(0.5))
    ],
    "tf.sparse.from_dense": [recipe(tensor=MATRIX)],
    "tf.sparse.map_values": [recipe(op=tf.square, args=[SPARSE])],
    "tf.sparse.mask": [
        Recipe(
            {"a.values": floats(3, 2)},
            call=lambda f, **given: f(tf.IndexedSlices(given["a.values"], tf.constant([0, 2, 4])), [2]),
        )
    ],
    "tf.sparse.maximum": [recipe(sp_a=SPARSE, sp_b=OTHER)],
    "tf.sparse.minimum": [recipe(sp_a=SPARSE, sp_b=OTHER)],
    "tf.sparse.reduce_max": [recipe(sp_input=SPARSE, axis=1)],
    "tf.sparse.reduce_sum": [recipe(sp_input=SPARSE, axis=1)],
    "tf.sparse.reorder": [recipe(sp_input=SPARSE)],
    "tf.sparse.reset_shape": [recipe(sp_input=SPARSE)],
    "tf.sparse.reshape": [recipe(sp_input=SPARSE, shape=[2, 6])],
    "tf.sparse.retain": [recipe(sp_input=SPARSE, to_retain=[True, False, True, False])],
    "tf.sparse.sampled_addmm": [
        recipe(
            indices=tf.constant([[0, 0], [1, 2]]),
            values=floats(2),
            dense_shape=tf.constant([3, 3]),
            mat1=floats(3, 2),
            mat2=floats(2, 3),
        )
    ],
    "tf.sparse.segment_mean": [recipe(data=floats(4, 2), **SEGMENTS)],
    "tf.sparse.segment_sqrt_n": [recipe(data=floats(4, 2), **SEGMENTS)],
    "tf.sparse.segment_sum": [recipe(data=floats(4, 2), **SEGMENTS)],
    "tf.sparse.slice": [recipe(sp_input=SPARSE, start=[0, 0], size=[2, 2])],
    "tf.sparse.softmax": [recipe(sp_input=Sparse(indices=((0, 0), (0, 2), (1, 1), (1, 3)), shape=(2, 4)))],
    "tf.sparse.sparse_dense_matmul": [
        recipe(sp_a=SPARSE, b=floats(4, 2)),
    ],
    "tf.sparse.split": [recipe(sp_input=SPARSE, num_split=3, axis=0)],
    "tf.sparse.to_dense": [
        recipe(sp_input=SPARSE),
        recipe(sp_input=SPARSE, default_value=fixed(0.5), variant="default_value"),
    ],
    "tf.sparse.to_indicator": [
        recipe(
            call_with=lambda f, values: f(
                tf.SparseTensor([[0, 0], [1, 0]], tf.cast(values, tf.int64), [2, 1]), vocab_size=4
            ),
            values=fixed([1.0, 3.0]),
        )
    ],
    "tf.sparse.transpose": [recipe(sp_input=SPARSE)],
    "tf.ragged.boolean_mask": [recipe(data=MATRIX, mask=[[True, False, True, True]] * 3)],
    "tf.ragged.map_flat_values": [recipe(op=tf.square, args=[Ragged()])],
    "tf.ragged.range": [recipe(starts=fixed([0.0, 1.0]), limits=fixed([2.0, 3.0]), deltas=fixed([0.5, 1.0]))],
    "tf.ragged.stack": [recipe(values=[VECTOR, floats(3)])],
    "tf.ragged.stack_dynamic_partitions": [recipe(data=VECTOR, partitions=[0, 1, 0, 1], num_partitions=2)],
    "tf.ragged.constant": [recipe(pylist=[[1.0, 2.0], [3.0]])],
    "tf.random.categorical": [recipe(logits=MATRIX, num_samples=3, seed=1)],
    "tf.random.gamma": [recipe(shape=[4], alpha=fixed(1.5), beta=fixed(0.7), seed=1)],
    "tf.random.normal": [recipe(shape=[4], mean=fixed(0.3), stddev=fixed(1.5), seed=1)],
    "tf.random.truncated_normal": [recipe(shape=[4], mean=fixed(0.3), stddev=fixed(1.5), seed=1)],
    "tf.random.uniform": [recipe(shape=[4], minval=fixed(0.3), maxval=fixed(1.5), seed=1)],
    "tf.random.poisson": [recipe(shape=[4], lam=fixed(1.5), seed=1)],
    "tf.random.shuffle": [recipe(value=VECTOR, seed=1)],
    "tf.random.stateless_binomial": [
        recipe(shape=[4], seed=SEED, counts=fixed([5.0, 6.0, 7.0, 8.0]), probs=fixed([0.3, 0.4, 0.5, 0.6]))
    ],
    "tf.random.stateless_categorical": [recipe(logits=MATRIX, num_samples=3, seed=SEED)],
    "tf.random.stateless_gamma": [recipe(shape=[4], seed=SEED, alpha=fixed(1.5), beta=fixed(0.7))],
    "tf.random.stateless_normal": [recipe(shape=[4], seed=SEED, mean=fixed(0.3), stddev=fixed(1.5))],
    "tf.random.stateless_truncated_normal": [recipe(shape=[4], seed=SEED, mean=fixed(0.3), stddev=fixed(1.5))],
    "tf.random.stateless_uniform": [recipe(shape=[4], seed=SEED, minval=fixed(0.3), maxval=fixed(1.5))],
    "tf.random.stateless_poisson": [recipe(shape=[4], seed=SEED, lam=fixed(1.5), dtype=tf.float32)],
    "tf.random.stateless_parameterized_truncated_normal": [
        recipe(shape=[4], seed=SEED, means=fixed(0.3), stddevs=fixed(1.5), minvals=fixed(-2.0), maxvals=fixed(2.5))
    ],
    "keras.random.beta": [recipe(shape=(4,), alpha=fixed(1.5), beta=fixed(0.7), seed=1)],
    "keras.random.binomial": [recipe(shape=(4,), counts=fixed(5.0), probabilities=fixed(0.4), seed=1)],
    "keras.random.categorical": [recipe(logits=MATRIX, num_samples=3, seed=1)],
    "keras.random.dropout": [recipe(inputs=floats(40), rate=0.5, seed=3)],
    "keras.random.gamma": [recipe(shape=(4,), alpha=fixed(1.5), seed=1)],
    "keras.random.normal": [recipe(shape=(4,), mean=fixed(0.3), stddev=fixed(1.5), seed=1)],
    "keras.random.truncated_normal": [recipe(shape=(4,), mean=fixed(0.3), stddev=fixed(1.5), seed=1)],
    "keras.random.uniform": [recipe(shape=(4,), minval=fixed(0.3), maxval=fixed(1.5), seed=1)],
    "keras.random.randint": [recipe(shape=(4,), minval=as_int(0.0), maxval=as_int(5.0), seed=1)],
    "keras.random.shuffle": [recipe(x=VECTOR, seed=1)],
}
