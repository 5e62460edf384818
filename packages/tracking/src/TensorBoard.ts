import { Clock, Effect, FileSystem, Layer, Path, type PlatformError, Ref } from "effect"
import * as Event from "./internal/tensorBoardEvent.ts"
import { tfRecord } from "./internal/tfRecord.ts"
import { nameOf, news, type Point } from "./Point.ts"
import { type Interface, type Run, Tracker, TrackerError } from "./Tracker.ts"

export interface Options {
  /** Folder of the event files, made when it is missing: what `tensorboard --logdir` is given. */
  readonly directory: string
}

/**
 * Writes TensorBoard event files: scalars by step and the settings as text. W&B reads them too (`wandb sync DIR`). A session
 * that resumes a run adds a file to those of the sessions before; where there is none, it holds their steps too.
 *
 * The format is that of TensorFlow's `Event` messages in TFRecord frames.
 *
 * @example
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import { layer } from "@inspo/tracking/TensorBoard"
 * import { Layer } from "effect"
 *
 * const tracker = layer({ directory: "runs/mine/tensorboard" }).pipe(Layer.provide(NodeServices.layer))
 * ```
 */
export const make = Effect.fnUntraced(function* ({
  directory
}: Options): Effect.fn.Return<Interface, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = yield* Ref.make("")
  const fresh = news()

  const append = (messages: ReadonlyArray<Uint8Array>) =>
    Effect.flatMap(Ref.get(file), (name) => fs.writeFile(name, Buffer.concat(messages.map(tfRecord)), { flag: "a" }))

  const begin = Effect.fnUntraced(function* (run: Run, past: ReadonlyArray<Point>) {
    yield* fs.makeDirectory(directory, { recursive: true })
    const isFirst = !(yield* fs.readDirectory(directory)).some((name) => name.startsWith(prefix))
    const millis = yield* Clock.currentTimeMillis
    const seconds = millis / 1000
    yield* Ref.set(file, path.join(directory, `${prefix}${seconds.toFixed(3)}.inspo`))
    yield* append([
      Event.fileVersion(seconds),
      ...(isFirst
        ? [
            Event.text(seconds, "settings", settingsTable(run)),
            ...past.map((point) => messageOf(fresh(point), seconds))
          ]
        : [])
    ])
  })
  const log = Effect.fnUntraced(function* (point: Point) {
    yield* append([messageOf(fresh(point), (yield* Clock.currentTimeMillis) / 1000)])
  })
  const orRefuse = <A>(work: Effect.Effect<A, PlatformError.PlatformError>): Effect.Effect<A, TrackerError> =>
    Effect.mapError(
      work,
      ({ reason }) =>
        new TrackerError({
          tracker: "TensorBoard",
          reason: `${directory} cannot be written (${reason._tag}); check that the folder may be written and the disk is not full`
        })
    )
  return {
    begin: (run, past) => orRefuse(begin(run, past)),
    log: (point) => orRefuse(log(point)),
    end: () => Effect.void
  }
})

/** The tracker of {@link make}. */
export const layer = (options: Options): Layer.Layer<Tracker, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(Tracker, make(options))

/** TensorBoard reads every file whose name holds `tfevents`. */
const prefix = "events.out.tfevents."

const messageOf = ({ samples, step }: Point, seconds: number): Uint8Array =>
  Event.scalars(
    seconds,
    step,
    samples.map((sample) => ({ tag: nameOf(sample), value: sample.value }))
  )

const settingsTable = ({ settings }: Run): string =>
  [
    "| setting | value |",
    "|---|---|",
    ...Object.entries(settings).map(
      ([name, value]) => `| ${name} | ${value.replaceAll("|", "\\|").replaceAll("\n", " ")} |`
    )
  ].join("\n")
