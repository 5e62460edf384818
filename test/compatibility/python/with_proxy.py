"""Asks a model through `inspo serve --upstream` as OpenAI's client does, and fails if an answer is not as that client expects."""

import re
import sys

import openai

url, key = sys.argv[1:]
client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
system = {"role": "system", "content": "{{inspo:support|Answer the customer.}}"}
asked = {"model": "m", "messages": [system, {"role": "user", "content": "Hi"}]}
talk = {"extra_headers": {"inspo-conversation": "python"}}

raw = client.chat.completions.with_raw_response.create(**asked, **talk)
completion = raw.parse()
text = completion.choices[0].message.content
assert re.fullmatch(r"Be \w+\.", text), text
assert raw.headers["inspo-lease"], raw.headers
assert completion.usage.total_tokens == 8, completion

chunks = client.chat.completions.create(**asked, **talk, stream=True)
streamed = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
assert streamed == text, streamed

response = client.responses.create(model="m", instructions=system["content"], input="Hi", **talk)
assert response.output_text == text, response
events = client.responses.create(model="m", instructions=system["content"], input="Hi", stream=True, **talk)
deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
assert deltas == text, deltas

lost = {"role": "system", "content": "{{inspo:nobody|Answer.}}"}
raw = client.chat.completions.with_raw_response.create(model="m", messages=[lost])
assert raw.headers["inspo-unleased"] == "default", raw.headers
assert raw.parse().choices[0].message.content == "Answer."


def refused(kind, client, content):
    try:
        client.chat.completions.create(model="m", messages=[{"role": "system", "content": content}])
    except kind as error:
        assert error.body["message"].startswith("inspo: "), error.body
        return
    raise AssertionError(f"{content} was not refused")


refused(openai.InternalServerError, client, "{{inspo:nobody}}")
refused(openai.BadRequestError, client, "{{inspo:}}")
refused(openai.AuthenticationError, openai.OpenAI(base_url=url, api_key="another", max_retries=0), system["content"])

with client.chat.completions.create(**asked, user="leaves", stream=True) as stream:
    next(iter(stream))
