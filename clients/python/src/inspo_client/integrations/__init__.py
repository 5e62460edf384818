"""
What puts the instruction server into training loops. A module for each framework, which imports it only when it is used; what
they share is here.
"""

from ._run import Stopped, TrainingRun
from ._texts import instructed, question_text, transcript

__all__ = ["Stopped", "TrainingRun", "instructed", "question_text", "transcript"]
