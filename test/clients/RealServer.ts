/** The instruction server itself behind the faults of the reference server, as far as a scenario does not say what it draws. */
import { Effect, Exit, Layer, Schema, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { Lease, Limits } from "@inspo/serve"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"
import * as Registry from "@inspo/serve/live/Populations"
import * as Server from "@inspo/serve/http/Server"
import { type Answer, ReferenceServer, type Setup } from "./ReferenceServer.ts"

const decodeLeases = Schema.decodeUnknownSync(Lease.Leases)
const decodeResults = Schema.decodeUnknownSync(Lease.RewardResults)
const decodeRewards = Schema.decodeUnknownSync(Schema.fromJsonString(Lease.Rewards))

export class RealServer extends ReferenceServer {
  readonly #profile: "online" | "trainer"
  readonly #keys = new Map<string, string>()
  readonly #kept = Scope.makeUnsafe()
  readonly #store = Effect.runSync(Scope.provide(Layer.build(SqliteStore.layerMemory), this.#kept))
  #routes: ReturnType<typeof this.routes> | undefined

  constructor(setup: typeof Setup.Type, profile: "online" | "trainer") {
    super(setup)
    this.#profile = profile
  }

  override async start(): Promise<void> {
    this.#routes = this.routes()
    const { instruction } = this.setup
    const seed = instruction === undefined ? "Be brief." : wordingOf(instruction)
    await this.#ask("PUT", "/v1/populations/support", JSON.stringify({ seed, profile: this.#profile }))
    await super.start()
  }

  override async stop(): Promise<void> {
    await super.stop()
    await this.#routes?.dispose()
    this.#routes = undefined
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    await this.stop()
    await Effect.runPromise(Scope.close(this.#kept, Exit.void))
  }

  protected routes() {
    return HttpRouter.toWebHandler(
      Server.layer().pipe(
        Layer.provide(Registry.layer),
        Layer.provide(Layer.succeedContext(this.#store)),
        Layer.provideMerge(HttpServer.layerServices)
      ),
      { disableLogger: true, routerConfig: { maxParamLength: Limits.leaseLength } }
    )
  }

  protected override async done(method: string, url: string, text: string): Promise<Answer> {
    const answer = await this.#ask(method, url, text)
    if (answer.status !== 200) return answer
    if (url.endsWith("/leases"))
      for (const { key, lease } of decodeLeases(answer.body).leases) this.#keys.set(lease, key)
    if (url.endsWith("/rewards")) {
      const { rewards } = decodeRewards(text)
      for (const [index, { outcome }] of decodeResults(answer.body).results.entries()) {
        const reward = rewards[index]
        if (reward === undefined || (outcome !== "accepted" && outcome !== "late")) continue
        const { lease, sample = 0 } = reward
        this.accepted.set(`${lease}#${sample}`, { key: this.#keys.get(lease) ?? "", sample, reward })
      }
    }
    return answer
  }

  async #ask(method: string, path: string, body: string): Promise<Answer> {
    if (this.#routes === undefined) throw new Error("the server is stopped")
    const answer = await this.#routes.handler(
      new Request(`http://localhost${path}`, {
        method,
        headers: { "content-type": "application/json" },
        ...(method === "GET" ? {} : { body })
      })
    )
    return { status: answer.status, body: await answer.json() }
  }
}

const decodeInstruction = Schema.decodeUnknownSync(
  Schema.Union([
    Schema.Struct({ text: Schema.String }),
    Schema.Struct({ texts: Schema.Record(Schema.String, Schema.String) })
  ])
)

const wordingOf = (instruction: unknown) => {
  const given = decodeInstruction(instruction)
  return "text" in given ? given.text : given.texts
}
