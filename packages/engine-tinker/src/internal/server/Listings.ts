import { PlainText } from "@inspo/domain"
import { DateTime, Effect } from "effect"
import type { Entry } from "../../Catalog.ts"
import { type Refusal, refuse } from "./Refusal.ts"

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** A live model, as far as it is listed. */
interface ListedModel {
  readonly id: string
  readonly loraRank: number | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly lastRequest: number
}

interface ListingsOptions {
  readonly model: string
  readonly models: () => Iterable<ListedModel>
  /** Checkpoints by path that are not over, in the order in which they came. */
  readonly entries: Effect.Effect<ReadonlyArray<readonly [path: string, entry: Entry]>>
}

/** Training runs, which are live models and those that left a checkpoint, and their checkpoints; the latest first. */
export const make = ({ entries, model, models }: ListingsOptions) => {
  const checkpoints = Effect.map(entries, (all) =>
    all.flatMap(([path, entry]) => {
      const [, run, kind, name] = /^tinker:\/\/([^/]+)\/([^/]+)\/([^/]+)$/u.exec(path) ?? []
      if (run === undefined || kind === undefined || name === undefined) return []
      const { expiresAt, loraRank = null, metadata = null, savedAt = 0 } = entry
      const listed = {
        checkpoint_id: `${kind}/${name}`,
        checkpoint_type: kind === "weights" ? ("training" as const) : ("sampler" as const),
        time: iso(savedAt),
        tinker_path: path,
        public: false,
        expires_at: expiresAt === undefined ? null : iso(expiresAt),
        user_metadata: metadata
      }
      return [{ run, savedAt, loraRank, listed }]
    })
  )

  const trainingRuns = Effect.map(checkpoints, (all) => {
    const live = new Map(Array.from(models(), (one) => [one.id, one]))
    const ids = new Set([...all.map(({ run }) => run), ...live.keys()])
    return Array.from(ids, (id) => {
      const [own, alive] = [all.filter(({ run }) => run === id), live.get(id)]
      const rank = alive?.loraRank ?? own.at(-1)?.loraRank ?? null
      const last = Math.max(alive?.lastRequest ?? 0, ...own.map(({ savedAt }) => savedAt))
      const latest = (type: "training" | "sampler") =>
        own.findLast(({ listed }) => listed.checkpoint_type === type)?.listed ?? null
      return {
        last,
        run: {
          training_run_id: id,
          base_model: model,
          model_owner: "local",
          is_lora: rank !== null,
          lora_rank: rank,
          corrupted: false,
          last_request_time: iso(last),
          last_checkpoint: latest("training"),
          last_sampler_checkpoint: latest("sampler"),
          user_metadata: labels(alive?.metadata ?? null)
        }
      }
    })
      .toSorted((a, b) => b.last - a.last)
      .map(({ run }) => run)
  })

  return {
    trainingRuns: (page: Page) =>
      Effect.map(trainingRuns, (all) => ({ training_runs: pageOf(all, page), cursor: cursor(page, all.length) })),
    trainingRun: Effect.fnUntraced(function* (id: string): Effect.fn.Return<object, Refusal> {
      const found = (yield* trainingRuns).find((one) => one.training_run_id === id)
      return found ?? (yield* refuse(`Training run ${id} not found`, 404))
    }),
    checkpointsOf: (id: string) =>
      Effect.map(checkpoints, (all) => ({
        checkpoints: all.filter(({ run }) => run === id).map(({ listed }) => listed),
        cursor: null
      })),
    checkpoints: (page: Page) =>
      Effect.map(checkpoints, (all) => ({
        checkpoints: pageOf(
          all.toReversed().map(({ listed }) => listed),
          page
        ),
        cursor: cursor(page, all.length)
      }))
  }
}

const pageOf = <A>(all: ReadonlyArray<A>, { limit, offset }: Page): ReadonlyArray<A> =>
  all.slice(offset, offset + limit)

const cursor = (page: Page, total_count: number) => ({ ...page, total_count })

const iso = (milliseconds: number): string => DateTime.formatIso(DateTime.makeUnsafe(milliseconds))

/** Characters of a label in a listing. */
const longestLabel = 10_000

/** The protocol's listings hold texts alone. */
const labels = (metadata: Readonly<Record<string, unknown>> | null): Readonly<Record<string, string>> | null =>
  metadata === null
    ? null
    : Object.fromEntries(
        Object.entries(metadata).map(([name, value]) => [
          name,
          typeof value === "string" ? value : PlainText.json(value, longestLabel)
        ])
      )
