/** An application that evaluates a flag, and an evaluator that scores what came of it; neither knows of inspo. */
import { setTimeout as wait } from "node:timers/promises"
import { OpenFeature } from "@openfeature/server-sdk"
import { trace } from "@opentelemetry/api"
import {
  ATTR_GEN_AI_EVALUATION_NAME,
  ATTR_GEN_AI_EVALUATION_SCORE_VALUE
} from "@opentelemetry/semantic-conventions/incubating"

const flags = OpenFeature.getClient()
const tracer = trace.getTracer("support")
for (let number = 1; number <= 400; number++) {
  const context = { targetingKey: `conversation-${number}`, plan: "free" }
  await tracer.startActiveSpan("conversation", async (conversation) => {
    const { flagMetadata, value } = await flags.getStringDetails("support", "none", context)
    const again = await flags.getStringDetails("support", "none", context)
    if (again.flagMetadata["inspo.lease"] !== flagMetadata["inspo.lease"]) throw new Error("another lease")
    const attributes = {
      [ATTR_GEN_AI_EVALUATION_NAME]: "Relevance",
      [ATTR_GEN_AI_EVALUATION_SCORE_VALUE]: value.includes("which order") ? 1 : 0.1
    }
    tracer.startActiveSpan("evaluation", (evaluation) => {
      evaluation.addEvent("gen_ai.evaluation.result", attributes)
      evaluation.end()
    })
    conversation.end()
  })
  if (number % 40 === 0) await wait(400)
}
