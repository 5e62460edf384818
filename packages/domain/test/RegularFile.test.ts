import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as RegularFile from "@inspo/domain/RegularFile"
import { afterAll, assert, describe, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "inspo-regular-"))
const file = join(folder, "file")
writeFileSync(file, "Grüße\n")

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const problemOf = (path: string, most?: number) =>
  RegularFile.readText(path, most).then(
    (text) => `read: ${text}`,
    (error: unknown) => String(error)
  )

describe("RegularFile.readText", () => {
  it("reads a file, and a link to one, of exactly the limit", async () => {
    const link = join(folder, "link")
    symlinkSync(file, link)
    assert.strictEqual(await RegularFile.readText(link, 8), "Grüße\n")
    assert.strictEqual(await problemOf(file, 7), "Error: it has 8 bytes; expected at most 7")
  })

  it.skipIf(process.platform === "win32")(
    "opens no pipe, device or directory (skipped on Windows, which has no mkfifo)",
    async () => {
      const pipe = join(folder, "pipe")
      execFileSync("mkfifo", [pipe])
      const device = join(folder, "device")
      symlinkSync("/dev/zero", device)
      assert.strictEqual(await problemOf(pipe), "Error: it is a named pipe; expected a regular file")
      assert.strictEqual(await problemOf(device), "Error: it is a device; expected a regular file")
      assert.strictEqual(await problemOf(folder), "Error: it is a directory; expected a regular file")
      assert.match(await problemOf(join(folder, "none")), /ENOENT/u)
    }
  )

  it("allocates nothing for a file that is too large", async () => {
    const large = join(folder, "large")
    writeFileSync(large, "")
    truncateSync(large, 2 ** 30)
    assert.strictEqual(await problemOf(large), "Error: it has 1073741824 bytes; expected at most 536870888")
  })
})
