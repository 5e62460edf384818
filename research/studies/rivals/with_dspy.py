"""DSPy's optimizers of instructions, by name. Only GEPA takes feedback; MIPROv2 and COPRO get scores."""

import json
import re
import sys
from types import SimpleNamespace

import dspy
from host import case_of, give, trials


def completion(texts):
    choices = [SimpleNamespace(message=SimpleNamespace(content=text), finish_reason="stop") for text in texts]
    return SimpleNamespace(choices=choices, usage={}, model="scripted")


class Agent(dspy.BaseLM):
    def __init__(self, trial):
        super().__init__("scripted/agent", cache=False)
        self.trial = trial

    def forward(self, prompt=None, messages=None, **kwargs):
        _, instruction = messages[0]["content"].split("your objective is:")
        output = self.trial.ask(" ".join(instruction.split()), case_of(messages[-1]["content"]))
        return completion([f"[[ ## label ## ]]\n{output}\n\n[[ ## completed ## ]]"])


class Proposer(dspy.BaseLM):
    """Fills the output fields of a request: a new instruction where one is asked for, else a sentence that says nothing."""

    def __init__(self, trial):
        super().__init__("scripted/proposer", cache=False)
        self.trial = trial

    def forward(self, prompt=None, messages=None, n=1, **kwargs):
        request = "\n".join(message["content"] for message in messages)
        own = [name for name in ("new_instruction", "proposed_instruction") if name in request]
        if not own:
            fields = [re.findall(r"`\[\[ ## (\w+) ## \]\]`", request) or re.findall(r"`(\w+)`", request)]
            return completion([written({fields[0][0]: "Tickets are sorted."}, "JSON" in request)] * n)
        # The last of the prompts that a request shows: the current one, or the best of those that were tried.
        parent = re.findall(rf"{re.escape(self.trial.prompt)}[^\n\"'«»\]]*", request)[-1].strip()
        prefix = {"proposed_prefix_for_output_field": "Label:"} if "proposed_prefix_for_output_field" in request else {}
        texts = self.trial.propose(parent, request, n)
        return completion([written({own[0]: text, **prefix}, own[0] == "new_instruction") for text in texts])


def written(fields, is_json):
    if is_json:
        return json.dumps(fields)
    return "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in {**fields, "completed": ""}.items())


def optimize(trial, name):
    agent, proposer = Agent(trial), Proposer(trial)
    dspy.configure(lm=agent, num_threads=1, disable_history=True)
    tickets = [
        dspy.Example(ticket=f"Ticket {case}", label="").with_inputs("ticket") for case in range(trial.cases)
    ]
    training = trial.cases - trial.settings.get("validation", 0)
    train, test = tickets[:training], tickets[training:]
    program = dspy.Predict(dspy.Signature("ticket -> label", trial.prompt))

    def score(example, prediction, trace=None):
        return trial.scored(prediction.label)["score"]

    def feedback(gold, pred, trace=None, pred_name=None, pred_trace=None):
        return dspy.Prediction(**trial.scored(pred.label))

    if name == "gepa":
        optimizer = dspy.GEPA(
            feedback,
            max_metric_calls=trial.calls,
            reflection_lm=proposer,
            reflection_minibatch_size=trial.settings["minibatch"],
            num_threads=1,
            seed=trial.seed,
            track_stats=True,
        )
        best = optimizer.compile(program, trainset=train, valset=test)
    elif name == "miprov2":
        # Instructions alone, and as many trials as the budget allows beside the examples that its proposer bootstraps.
        optimizer = dspy.MIPROv2(
            score,
            prompt_model=proposer,
            auto=None,
            num_candidates=trial.settings["candidates"],
            max_bootstrapped_demos=0,
            max_labeled_demos=0,
            num_threads=1,
            seed=trial.seed,
        )
        best = optimizer.compile(program, trainset=train, valset=test, num_trials=trial.settings["trials"])
    else:
        # All of its prompts are evaluated on all cases that it gets.
        breadth, depth, cases = (trial.settings[name] for name in ("breadth", "depth", "cases"))
        optimizer = dspy.COPRO(prompt_model=proposer, metric=score, breadth=breadth, depth=depth)
        best = optimizer.compile(program, trainset=train[:cases], eval_kwargs={"num_threads": 1})
    return best.signature.instructions


for trial in trials():
    try:
        best = optimize(trial, sys.argv[1])
    except Exception:
        # DSPy gives up after ten calls that fail.
        if not trial.is_spent:
            raise
        best = trial.best()
    give(best)
