/** The laws of every store of a journal. */
import type { Law } from "@inspo/domain/testing"
import type { Layer } from "effect"
import type { Journal } from "../Journal.ts"
import { within } from "../internal/laws/Cases.ts"
import { commitLaws } from "../internal/laws/CommitLaws.ts"
import { eventLaws } from "../internal/laws/EventLaws.ts"
import { ledgerLaws } from "../internal/laws/LedgerLaws.ts"
import { recordLaws } from "../internal/laws/RecordLaws.ts"

/**
 * The laws of `Journal`: events, records, commits and the ledger. `fresh` makes an empty journal for each case. What happens when
 * a process or a machine fails is not among them.
 */
export const laws = <E, R>(fresh: Layer.Layer<Journal, E, R>, options?: Law.Options): ReadonlyArray<Law.Law<R>> => {
  const use = within(fresh)
  return [eventLaws, recordLaws, commitLaws, ledgerLaws].flatMap((lawsOf) => lawsOf(use, options))
}
