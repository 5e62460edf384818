"""Makes the agent loop manager that the documentation prints, `printed.py` of the working directory, and says what it refuses."""

import sys

from omegaconf import OmegaConf

sys.path.insert(0, ".")
from printed import Instructed

print(Instructed.__name__, Instructed.training_run().population)
for mode in ["colocate_async", "sync"]:
    try:
        Instructed(OmegaConf.create({"trainer": {"v1": {"trainer_mode": mode}}}), None)
    except ValueError as refusal:
        print(refusal)
