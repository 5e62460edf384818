import { Effect, Layer, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"
import * as Environment from "../../rollout/Environment.ts"
import * as NullEngine from "../../rollout/NullEngine.ts"
import { play } from "../../rollout/Play.ts"
import * as RemoteEngine from "../../rollout/RemoteEngine.ts"
import { type Case, shape } from "../../rollout/Shape.ts"
import { measure } from "../Workload.ts"

/** The loop of rollouts with training data: on tokens, on text, and with the engine behind HTTP. */
export const figures = Effect.gen(function* () {
  const tokens = yield* measure(workload("tokens", "a step on tokens", [32, 1024]))
  const text = yield* measure({ ...workload("text", "a step on text", [4, 128]), rounds: 3 })
  const http = yield* measure({
    ...workload("tokens-http", "a step over HTTP", [8, 256], yield* serve("tokens-http")),
    rounds: 3
  })
  return [tokens, text, http].flatMap(({ growth, level }) => [level, growth])
})

const workload = (name: Case, title: string, sizes: readonly [number, number], url?: string) => {
  const environment = Environment.make(name)
  const { tokenizer, turns } = environment
  const engine = url === undefined ? NullEngine.layer(tokenizer, turns) : RemoteEngine.layer(url, tokenizer)
  return {
    part: "rollout",
    name: title,
    items: "samples",
    scale: "questions",
    sizes,
    itemsOf: (questions: number) => questions * shape.rollouts * shape.turns,
    make: (questions: number) =>
      Effect.map(Layer.build(environment.rollout.pipe(Layer.provideMerge(engine))), (context) =>
        Effect.provideContext(play(environment.episodes(questions)), context)
      )
  }
}

const Ready = Schema.fromJsonString(Schema.Struct({ url: Schema.String }))

/** The URL of the null engine in another process, while the scope lives. */
const serve = Effect.fnUntraced(function* (name: Case) {
  const script = fileURLToPath(new URL("../../rollout/server.ts", import.meta.url))
  const server = yield* ChildProcess.make(process.execPath, [script, name], { stderr: "inherit" })
  const line = yield* server.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)
  const { url } = yield* Schema.decodeEffect(Ready)(line._tag === "Some" ? line.value : "")
  return url
})
