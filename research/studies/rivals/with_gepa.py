"""`gepa.optimize` with its adapter for one prompt; feedback reaches its reflection by the evaluator."""

import gepa
from gepa.adapters.default_adapter.default_adapter import EvaluationResult
from host import case_of, give, trials


def optimize(trial):
    def agent(messages):
        system, user = messages
        return trial.ask(system["content"], case_of(user["content"]))

    def evaluate(data, response):
        return EvaluationResult(**trial.scored(response))

    def reflect(request):
        parent = request.split("```")[1].strip()
        return f"```\n{trial.propose(parent, request, 1)[0]}\n```"

    tickets = [{"input": f"Ticket {case}", "additional_context": {}, "answer": ""} for case in range(trial.cases)]
    training = trial.cases - trial.settings["validation"]
    result = gepa.optimize(
        seed_candidate={"system_prompt": trial.prompt},
        trainset=tickets[:training],
        valset=tickets[training:],
        task_lm=agent,
        evaluator=evaluate,
        reflection_lm=reflect,
        max_metric_calls=trial.calls,
        reflection_minibatch_size=trial.settings["minibatch"],
        seed=trial.seed,
        # The last evaluation can exceed the budget, which ends the search.
        raise_on_exception=False,
        stop_callbacks=lambda state: trial.is_spent,
    )
    return result.best_candidate["system_prompt"]


for trial in trials():
    give(optimize(trial))
