/**
 * The ids of leases on the wire: `POPULATION~TIME/CODE/LEASE`. The code authenticates the lease with a secret of the
 * population, so that a client which knows the key of a lease cannot report for it unless it was given the lease.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Effect, Schema } from "effect"

export interface LeaseIds {
  /** The id that a lease has on the wire. */
  readonly encode: (lease: string) => string
  /** The lease of such an id; null where this population gave out no such id. */
  readonly decode: (id: string) => string | null
}

/** The ids of a population. `prefix` tells them from those of others. Its secret is made once and kept beside its leases. */
export const make = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  prefix: string
): Effect.fn.Return<LeaseIds, JournalError> {
  const secret = yield* secretOf(journal)
  const codeOf = (lease: string): string =>
    createHmac("sha256", secret).update(lease).digest("base64url").slice(0, length)
  return {
    encode: (lease) => `${prefix}${codeOf(lease)}/${lease}`,
    decode: (id) => {
      if (!id.startsWith(prefix)) return null
      const code = id.slice(prefix.length, prefix.length + length)
      const lease = id.slice(prefix.length + length + 1)
      return id[prefix.length + length] === "/" && equal(code, codeOf(lease)) ? lease : null
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
