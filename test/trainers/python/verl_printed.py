"""Makes the agent loop manager that the documentation prints, `printed.py` of the working directory, and says what it refuses."""

import sys

from omegaconf import OmegaConf

sys.path.insert(0, ".")
from printed import Instructed

print(Instructed.__name__, Instructed.training_run().population)
try:
    Instructed(OmegaConf.create({}), None)
except ValueError as refusal:
    print(refusal)
