import { assert, describe, it } from "@effect/vitest"
import { JournalError } from "@inspo/journal"
import { PlatformError } from "effect"
import { remedy } from "../src/Failure.ts"

const system = (code: string) => Object.assign(new Error(`${code}: a message in any language`), { code })

const journal = (fields: { readonly cause?: unknown; readonly intactEvents?: number }) =>
  new JournalError({
    reason: "storage",
    file: "journal.sqlite",
    sequence: null,
    detail: "permission denied",
    ...fields
  })

describe("remedy", () => {
  it.each([
    ["EACCES", "Let this user read and write there"],
    ["ENOSPC", "The disk is full"],
    ["EDQUOT", "The disk quota is used up"]
  ])("reads the code %s of an error or of its cause", (code, expected) => {
    const platform = new PlatformError.PlatformError(
      new PlatformError.SystemError({ _tag: "Unknown", module: "FileSystem", method: "open", cause: system(code) })
    )
    for (const error of [system(code), platform, journal({ cause: system(code) }), journal({ cause: platform })])
      assert.include(remedy(error), expected)
  })

  it("names the command that continues before the damage of a journal", () => {
    assert.include(remedy(journal({ intactEvents: 12 })), "Restore the journal from a backup")
  })

  it("says nothing where there is only a sentence", () => {
    for (const error of [journal({}), new Error("the disk is full"), "permission denied"])
      assert.strictEqual(remedy(error), "")
  })
})
