/** The virtual environment that holds the trainers. */
import { existsSync } from "node:fs"
import { python } from "../../compatibility/support/Foreign.ts"

export { python }

/** Why trainers cannot be run, or null when they can. */
export const problem: string | null =
  process.env["INSPO_TRAINERS"] === undefined
    ? "skipped without INSPO_TRAINERS=1, see docs/how-to/trainers.md"
    : existsSync(python)
      ? null
      : `skipped, since ${python} is not there: run test/trainers/run`
