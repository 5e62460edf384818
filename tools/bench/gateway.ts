/**
 * Plays episodes of eight model calls through the gateway, against an engine that answers at once: 512 workers in another process
 * ask over HTTP, each with its whole conversation. Seconds are of the gateway's processor. Fails when a call costs more than 1.5
 * times a sample of `bench rollout text-http`, a sequence has a token of another episode, or memory grows with the episodes.
 *
 *     node tools/bench/gateway.ts [EPISODES] [GATEWAYS]
 *
 * 12,500 episodes, which are 100,000 calls, unless another number is given. With a number of gateways these are processes beside
 * that of the run, which workers ask instead; nothing is compared then.
 */
import { execFile, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { promisify } from "node:util"
import { Schema } from "effect"
import { print, shortRow } from "./Measure.ts"
import { calls, Measured, workers } from "./gateway/Shape.ts"

const mostRatio = 1.5
/** Megabytes in use that all episodes may add to those after the first fifth. */
const mostGrowth = 20

const start = (script: string, args: ReadonlyArray<string>) =>
  fork(join(import.meta.dirname, "gateway", script), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] })

/** The next message of a process. */
const heard = async (child: ReturnType<typeof start>): Promise<string> => String((await once(child, "message"))[0])

const [episodes = "12500", count = "0"] = process.argv.slice(2)
const gateway = start("serve.ts", [episodes])
const [url]: ReadonlyArray<unknown> = await once(gateway, "message")
const branches = Array.from({ length: Number(count) }, () => start("branch.ts", [String(url)]))
const beside = await Promise.all(branches.map(heard))
const playing = start("workers.ts", beside.length === 0 ? [String(url)] : beside)
const [message]: ReadonlyArray<unknown> = await once(gateway, "message")
playing.kill()
const measured = Schema.decodeUnknownSync(Measured)(message)
for (const branch of branches) branch.send("measure")
const processors = (await Promise.all(branches.map(heard))).map(Number)

if (branches.length > 0) {
  const { calls: made, mixed, processor, wall } = measured
  const most = Math.max(...processors)
  print(
    { bench: "gateways", met: mixed === 0, gateways: branches.length, ...shortRow({ ...measured, most }) },
    [
      `${made} calls through ${branches.length} gateways: ${(made / wall).toFixed(0)} calls a second on this machine`,
      `${((1e6 * processor) / made).toFixed(0)} µs of the run's processor a call; the busiest gateway used ${most.toFixed(1)} s, the run ${processor.toFixed(1)} s`,
      `${mixed} episodes with tokens of others`
    ],
    mixed === 0
  )
  process.exit()
}

/** The seconds of a sample of `text-http`, as its own bench reports them. */
const rollout = await promisify(execFile)(process.execPath, [join(import.meta.dirname, "rollout.ts"), "text-http"])
const Steps = Schema.fromJsonString(
  Schema.Struct({ steps: Schema.NonEmptyArray(Schema.Struct({ processor: Schema.Finite, samples: Schema.Int })) })
)
const [step] = Schema.decodeUnknownSync(Steps)(rollout.stdout.split("\n")[0]).steps

const perCall = measured.processor / measured.calls
const perSample = step.processor / step.samples
const ratio = perCall / perSample
const growth = measured.heap - measured.heapBefore
const met = ratio <= mostRatio && measured.mixed === 0 && growth <= mostGrowth
print(
  { bench: "gateway", met, workers, ...shortRow({ ...measured, perCall, perSample, ratio, growth }) },
  [
    `${measured.calls} calls, ${calls} an episode, ${workers} episodes at once: ${(1e6 * perCall).toFixed(0)} µs of processor a call`,
    `${ratio.toFixed(2)} times a sample of rollout text-http (${(1e6 * perSample).toFixed(0)} µs), at most ${mostRatio}`,
    `${measured.mixed} episodes with tokens of others; peak ${measured.peak.toFixed(0)} MB, ${growth.toFixed(1)} MB in use more than after the first fifth`
  ],
  met
)
