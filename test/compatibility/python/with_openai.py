"""Uses a completions server through OpenAI's client, and fails if an answer is not as that client expects."""

import sys

import openai

url, key = sys.argv[1:]
client = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)

[model] = client.models.list().data
assert client.models.retrieve(model.id) == model, model
asked = {"model": model.id, "max_tokens": 8, "seed": 5}

plain = client.completions.create(prompt="Question: Who is the mayor?", n=3, **asked)
assert plain.object == "text_completion" and plain.model == model.id and plain.id and plain.created > 1e9, plain
assert [choice.index for choice in plain.choices] == [0, 1, 2], plain
assert all(choice.finish_reason in ("stop", "length") for choice in plain.choices), plain
assert plain.usage.total_tokens == plain.usage.prompt_tokens + plain.usage.completion_tokens > 0, plain.usage
again = client.completions.create(prompt="Question: Who is the mayor?", n=3, **asked)
assert [choice.text for choice in again.choices] == [choice.text for choice in plain.choices]

several = client.completions.create(prompt=["Who", "The mayor"], n=2, echo=True, logprobs=0, **asked)
assert [choice.text[:3] for choice in several.choices] == ["Who", "Who", "The", "The"], several
for choice in several.choices:
    logprobs = choice.logprobs
    assert len(logprobs.tokens) == len(logprobs.token_logprobs) == len(logprobs.text_offset), logprobs
    assert logprobs.token_logprobs[0] is None and all(value <= 0 for value in logprobs.token_logprobs[1:]), logprobs

tokens = client.completions.create(prompt=[20, 30, 40], **asked)
assert tokens.usage.prompt_tokens == 3, tokens.usage

events = list(
    client.completions.create(
        prompt="Question: Who is the mayor?", n=3, stream=True, stream_options={"include_usage": True}, **asked
    )
)
streamed = {}
for event in events:
    for choice in event.choices:
        streamed[choice.index] = streamed.get(choice.index, "") + choice.text
assert [streamed[index] for index in range(3)] == [choice.text for choice in plain.choices], streamed
assert events[-1].usage == plain.usage, events[-1]


def refused(kind, field, **changed):
    try:
        client.completions.create(**{"prompt": "Who", **asked, **changed})
    except kind as error:
        assert error.param == field and error.body["message"], error
        return
    raise AssertionError(f"{changed} was not refused")


refused(openai.BadRequestError, "frequency_penalty", frequency_penalty=0.5)
refused(openai.BadRequestError, "logprobs", logprobs=5)
refused(openai.BadRequestError, "n", n=1_000_000)
refused(openai.BadRequestError, "best_of", best_of=4)
refused(openai.BadRequestError, "unheard_of", extra_body={"unheard_of": 1})
refused(openai.NotFoundError, "model", model="another")
try:
    client.chat.completions.create(model=model.id, messages=[{"role": "user", "content": "Hello"}])
    raise AssertionError("a chat was answered")
except openai.NotFoundError as error:
    assert "/v1/completions" in error.body["message"], error
try:
    openai.OpenAI(base_url=f"{url}/v1", api_key="another", max_retries=0).models.list()
    raise AssertionError("another key was taken")
except openai.AuthenticationError:
    pass
