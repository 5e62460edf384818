/** An agent that is an address: each call is one POST, repeated as requests to servers of models are. */
import { Address, PatientClient } from "@inspo/http/client"
import { PlainText } from "@inspo/domain"
import { type Duration, Effect, Option, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Answer, type Call, expected, failed, type OutsideAgent, replyOf } from "./OutsideAgent.ts"

export interface Options {
  readonly url: string
  /** How long one answer may take. */
  readonly timeout: Duration.Input
  /** How often a call without an answer is repeated; 4 when absent. */
  readonly retries?: number
}

/** None for an address that is not valid. */
export const make = ({
  retries = 4,
  timeout,
  url
}: Options): Effect.Effect<Option.Option<OutsideAgent>, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) =>
    Option.map(Address.parse(url), ({ request, shown }) => {
      const post = PatientClient.make(client, { server: shown, answerWithin: timeout, retryBudget, retries })
      const to = HttpClientRequest.setMethod(request, "POST")
      const ask = Effect.fnUntraced(function* (call: Call) {
        const body = HttpClientRequest.bodyText(to, JSON.stringify(call), "application/json")
        const text = yield* Effect.mapError(post(body), ({ body: said, reason, status }) =>
          failed(shown, `gave no answer: ${reason}${said === "" ? "" : `, ${PlainText.json(said, mostShown)}`}`, status)
        )
        const answer = decode(text)
        if (Option.isNone(answer))
          return yield* failed(shown, `answered ${PlainText.json(text, mostShown)}; expected ${expected}`)
        return yield* replyOf(shown, answer.value)
      })
      return { name: shown, ask }
    })
  )

const decode = Schema.decodeOption(Schema.fromJsonString(Answer))

const retryBudget = "10 minutes"
const mostShown = 300
