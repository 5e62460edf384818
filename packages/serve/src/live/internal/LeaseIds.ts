/**
 * The ids of leases in the API: `POPULATION~TIME/CODE/LEASE`. The code authenticates the lease with a secret of the
 * population, so that a client which knows only the key of a lease cannot report a reward for it.
 */
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from "node:crypto"
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Effect, Schema } from "effect"

export type LeaseIds = Effect.Success<ReturnType<typeof make>>

/** The ids of a population, which begin with `leaseIdPrefix`. Its secret is created once and stored in its journal. */
export const make = Effect.fnUntraced(function* (journal: Journal.Interface, leaseIdPrefix: string) {
  const secret = createSecretKey(yield* secretOf(journal), "utf8")
  const codeOf = (lease: string): string =>
    createHmac("sha256", secret).update(lease).digest("base64url").slice(0, length)
  return {
    /** The id of a lease in the API. */
    encode: (lease: string): string => `${leaseIdPrefix}${codeOf(lease)}/${lease}`,
    /** The lease of an id; null if the id is not of this population. */
    decode: (id: string): string | null => {
      if (!id.startsWith(leaseIdPrefix)) return null
      const code = id.slice(leaseIdPrefix.length, leaseIdPrefix.length + length)
      const lease = id.slice(leaseIdPrefix.length + length + 1)
      return id[leaseIdPrefix.length + length] === "/" && equal(code, codeOf(lease)) ? lease : null
    }
  }
})

/** 132 of the 256 bits. */
const length = 22

const secretOf = Effect.fnUntraced(function* (journal: Journal.Interface): Effect.fn.Return<string, JournalError> {
  const secrets = Records.make(journal, kind, Schema.String)
  const known = (yield* secrets.get([key])).get(key)
  if (known !== undefined) return known
  const secret = yield* Effect.sync(() => randomBytes(32).toString("base64url"))
  yield* journal.putRecords(kind, 0, [{ key, value: secret }])
  return secret
})

const kind = "secret"
const key = "lease-ids"

const equal = (a: string, b: string): boolean => {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
