import { Waiting } from "@inspo/http/client"
import { Clock, Effect, Result } from "effect"
import * as Protobuf from "../../Protobuf.ts"
import type { RetryBudget } from "./RetryBudget.ts"
import type * as Reply from "./Reply.ts"
import { failure, type RequestFailure } from "./RequestFailure.ts"
import { jsonBody, type Send } from "./Transport.ts"
import { type FutureVerdict, judgeFuture, pending } from "./Verdict.ts"

/** Waits for the result of a future; the failure within says why the server has none. */
type Retrieve = <A>(
  path: string,
  id: string,
  decode: Reply.Decode<A>
) => Effect.Effect<Result.Result<A, string>, RequestFailure>

/** How the questions about a future went. */
interface Course {
  /** When the server last said that it is at work, in milliseconds. */
  readonly since: number
  /** Answers in a row that came at once. */
  readonly quick: number
  /** Unusable answers in a row. */
  readonly faults: number
}

/** `protobuf` says whether results may come so. */
export const make = (send: Send, retryBudget: RetryBudget, protobuf: boolean): Retrieve => {
  const isWell = Effect.match(send("GET", "healthz"), {
    onSuccess: ({ status }) => status < 500,
    onFailure: () => false
  })

  const ask = Effect.fnUntraced(function* <A>(
    question: Parameters<Send>[2],
    decode: Reply.Decode<A>,
    faults: number
  ): Effect.fn.Return<FutureVerdict<A>> {
    const answer = yield* Effect.result(send("POST", "retrieve_future", question))
    // Some servers hold the question for longer than an answer may take: those that are well are at work.
    const holds = Result.isFailure(answer) && answer.failure.silent && (yield* isWell)
    return holds ? pending : judgeFuture(answer, decode, faults)
  })

  return Effect.fnUntraced(function* <A>(path: string, id: string, decode: Reply.Decode<A>) {
    const question = {
      body: jsonBody({ request_id: id }),
      headers: {
        ...(protobuf ? { accept: Protobuf.contentType } : {}),
        "x-tinker-request-type": typeOf(path)
      }
    }
    const began = yield* Clock.currentTimeMillis
    let course: Course = { since: began, quick: 0, faults: 0 }
    for (;;) {
      const asked = yield* Clock.currentTimeMillis
      const verdict = yield* ask(question, decode, course.faults)
      const now = yield* Clock.currentTimeMillis
      switch (verdict._tag) {
        case "Done":
          return Result.succeed(verdict.value)
        case "Lost":
          return Result.fail(verdict.reason)
        case "Failed":
          return yield* failure(path, verdict.kind, verdict)
        case "Pending":
          course = { since: now, quick: now - asked < 100 ? course.quick + 1 : 0, faults: 0 }
          // Servers that answer at once instead of waiting set no pace.
          if (course.quick > 0) yield* Effect.sleep(Math.min(5 * 2 ** course.quick, 1000))
          // A server may work for as long as it likes.
          if (now - began > retryBudget.limit)
            yield* retryBudget.report(path, `it has been at work for ${Waiting.span(now - began)}`)
          continue
        case "Again":
          if (!(yield* retryBudget.wait(path, verdict, course.faults, course.since)))
            return yield* failure(path, "unreachable", verdict)
          course = { ...course, faults: course.faults + 1 }
      }
    }
  })
}

/** The name of a request as the header of `retrieve_future` has it. */
const typeOf = (path: string): string =>
  path === "asample" ? "Sample" : path.replaceAll(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase())
