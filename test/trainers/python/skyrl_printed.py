"""Makes the generator of the entrypoint that the documentation prints, `printed.py` of the working directory."""

import sys

from skyrl.train.config import SkyRLTrainConfig

import tiny_model

sys.path.insert(0, ".")
from printed import Experiment

made = Experiment.get_generator(object.__new__(Experiment), SkyRLTrainConfig(), tiny_model.tokenizer(), None)
print(type(made).__name__, "around", type(made._generator).__name__)
