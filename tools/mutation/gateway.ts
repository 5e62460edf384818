/** Planted bugs of the gateway. */
import { inFile, type Mutation } from "./planted.ts"

const context = inFile("packages/gateway/src/Context.ts")
const segments = inFile("packages/gateway/src/Segments.ts")
const gateway = inFile("packages/gateway/src/Gateway.ts")
const rollout = inFile("packages/gateway/src/GatewayRollout.ts")
const workers = inFile("packages/gateway/src/Workers.ts")
const branch = inFile("packages/gateway/src/Branch.ts")
const openAi = inFile("packages/gateway/src/wires/OpenAi.ts")
const responses = inFile("packages/gateway/src/wires/Responses.ts")
const anthropic = inFile("packages/gateway/src/wires/Anthropic.ts")

export const ofGateway: ReadonlyArray<Mutation> = [
  context("found.length > 0 ? [index] : []", "[]", "a message that comes back is tokenised again"),
  context(
    "found.findLast((answer) => isSame(answer.context, context))",
    "found.at(-1)",
    "an answer of another context is continued"
  ),
  context('text !== "" && begun.startsWith(text)', "false", "what the policy wrote in a message is tokenised again"),
  context('content.replaceAll(/\\s+/gu, "")', "content", "a message with other white space is not recognised"),
  segments("compare(observed, known.context.observed)", "0", "segments depend on the order of calls"),
  segments("one.rank - other.rank", "0", "segments are not in the order of their calls"),
  segments("!continuing.has(answer)", "answer.context.parent === null", "of two answers that go on, one is lost"),
  segments("mask.push(0)", "mask.push(1)", "observations are trained on"),
  gateway('state.limit ??= "context-exhausted"', "", "an episode of a full context counts as failed"),
  gateway("=== times + 1) state", "=== -1) state", "a call that was given up and comes again is another one"),
  gateway("state.calls++", "", "calls have no limit"),
  gateway('message.role === "tool" && ', 'message.role === "user" && ', "a tool can write special tokens"),
  gateway("/${times}`", "`", "a repeated call gets the same draw"),
  rollout("recording.transcript.length === 0", "false", "an agent that does not ask the model gets a reward"),
  rollout("return limit === null ? failed", "return true ? failed", "a limit of the run is a failure of its agent"),
  rollout(
    "status === lost && attempt === 0",
    "status === lost && attempt < 0",
    "an episode whose worker is lost is not played again"
  ),
  workers("open.delete(nameOf(path))", "true", "an episode that is over takes another reward"),
  workers('{ output: "" }', "{}", "a score without an output is no reward"),
  workers("() => lose(episode)", "() => Effect.void", "the episodes of a gateway that is killed are not played again"),
  gateway("state.lentTo ??= to", "state.lentTo = to", "an episode is recorded by two gateways"),
  gateway("state.episode.sampler === undefined ?", "true ?", "a gateway beside the run samples from other weights"),
  branch("const known = loans.get(name)", "const known = undefined", "each call borrows its episode"),
  openAi('request.tool_choice === "none" ? [] : ', "", "tools are offered that may not be called"),
  responses('last?.role === "assistant"', "last === null", "a call is another message than the text before it"),
  anthropic("    ...results,\n", "", "results of tools are left out")
]
