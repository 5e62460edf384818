"""Adapters of the instruction server for training loops: one module per framework, and what they share."""

from ._run import Stopped, TrainingRun
from ._stream import Stream
from ._texts import instructed, question_text, transcript

__all__ = ["Stopped", "Stream", "TrainingRun", "instructed", "question_text", "transcript"]
