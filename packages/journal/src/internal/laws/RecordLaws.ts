/** Laws of records. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Effect, Option, Schema } from "effect"
import type { Journal } from "../../Journal.ts"
import { Put, refused, throughJson, type Use } from "./Cases.ts"

export const recordLaws = <E, R>(use: Use<E, R>, options: Law.Options | undefined): ReadonlyArray<Law.Law<R>> => [
  Law.forAll(
    "records keep the first answer to a key and are listed by step and key",
    Arbitrary.schema(Puts),
    options,
    (puts) => use((journal) => keptAndListed(journal, puts))
  ),

  Law.forAll(
    "records are forgotten by step and by the beginning of their key, and no others",
    Arbitrary.schema(
      Schema.Struct({
        puts: Puts,
        before: Schema.Literals([0, 1, 2, 3]),
        prefixes: Schema.Array(Schema.Literals(["step/", "é", "𝒳", "none"]))
      })
    ),
    options,
    (deletion) => use((journal) => forgotten(journal, deletion))
  ),

  Law.once("records are stored and found by the thousand", () =>
    use((journal) =>
      Effect.gen(function* () {
        const rows = Array.from({ length: 1201 }, (_, index) => ({ key: `k${index}`, value: index }))
        yield* journal.putRecords("many", 0, rows)
        const keys = rows.map(({ key }) => key)
        const expected = rows.map(({ key, value }) => [key, value])
        Law.same([...(yield* journal.getRecords("many", keys))], expected, "the records")
      })
    )
  ),

  Law.once("records are stored all or none", () =>
    use((journal) =>
      Effect.gen(function* () {
        const rows = [
          { key: "a", value: 1 },
          { key: "b", value: undefined }
        ]
        const { message, reason } = yield* refused(journal.putRecords("sample", 0, rows))
        Law.same(reason, "invalid", "the reason")
        Law.expect(message.includes("sample b"), `the message is ${message}`)
        Law.same(yield* journal.listRecords("sample"), [], "the records")
      })
    )
  )
]

const Puts = Schema.Array(Put)
type Puts = typeof Puts.Type

const keptAndListed = Effect.fnUntraced(function* (journal: Journal.Interface, puts: Puts) {
  const model = new Map<string, { kind: string; key: string; step: number; value: Schema.Json }>()
  for (const { kind, rows, step } of puts) {
    yield* journal.putRecords(kind, step, rows)
    for (const { key, value } of rows) {
      const id = `${kind} ${key}`
      if (!model.has(id)) model.set(id, { kind, key, step, value: throughJson(value) })
    }
  }
  const kinds = [...new Set([...model.values()].map(({ kind }) => kind))].toSorted()
  Law.same(yield* journal.recordKinds, kinds, "the kinds")
  for (const kind of ["x", "y"]) {
    const expected = [...model.values()]
      .filter((record) => record.kind === kind)
      .toSorted((a, b) => a.step - b.step || byCodePoint(a.key, b.key))
      .map(({ key, step, value }) => ({ key, step, value }))
    Law.same(yield* journal.listRecords(kind), expected, `the records ${kind}`)
    Law.same(
      yield* journal.listKeys(kind),
      expected.map(({ key, step }) => ({ key, step })),
      `the keys of the records ${kind}`
    )
    for (const step of [0, 1, 2])
      Law.same(
        yield* journal.listRecords(kind, step),
        expected.filter((record) => record.step === step),
        `the records ${kind} of step ${step}`
      )
    const keys = ["𝒳", "none", "a", "step/2"]
    Law.same(
      [...(yield* journal.getRecords(kind, keys))],
      keys.flatMap((key) => expected.filter((record) => record.key === key).map(({ value }) => [key, value])),
      `the records ${kind} under ${keys.join(", ")}`
    )
    Law.same(
      Option.getOrUndefined(yield* journal.getRecord(kind, "a")),
      expected.find(({ key }) => key === "a")?.value,
      `the record ${kind} a`
    )
  }
})

const forgotten = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  { before, prefixes, puts }: { readonly puts: Puts; readonly before: number; readonly prefixes: ReadonlyArray<string> }
) {
  for (const { kind, rows, step } of puts) yield* journal.putRecords(kind, step, rows)
  const [x, y] = [yield* journal.listRecords("x"), yield* journal.listRecords("y")]
  for (const from of [before, 1])
    Law.same(
      yield* journal.listRecords("x", { from, before: from + 1 }),
      x.filter(({ step }) => step === from),
      `the records from step ${from} on, before ${from + 1}`
    )
  Law.same(
    yield* journal.listRecords("x", { from: before }),
    x.filter(({ step }) => step >= before),
    `the records from step ${before} on`
  )
  yield* journal.deleteRecords(["x", "none"], { before })
  const left = x.filter(({ step }) => step >= before)
  Law.same(yield* journal.listRecords("x"), left, `the records after those before step ${before} were deleted`)
  yield* journal.deleteRecords(["x"], { prefixes })
  Law.same(
    yield* journal.listRecords("x"),
    left.filter(({ key }) => !prefixes.some((prefix) => key.startsWith(prefix))),
    `the records after those under ${prefixes.join(", ")} were deleted`
  )
  Law.same(yield* journal.listRecords("y"), y, "the records of the other kind")
  yield* journal.putRecords("x", 0, [{ key: "step/2", value: "again" }])
})

/** As UTF-8 sorts, which compares code points where strings compare halves of them. */
const byCodePoint = (a: string, b: string): number => {
  const [one, other] = [Array.from(a), Array.from(b)]
  const at = one.findIndex((point, index) => point !== other[index])
  return at < 0 ? one.length - other.length : (one[at]?.codePointAt(0) ?? 0) - (other[at]?.codePointAt(0) ?? -1)
}
