import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { resume, start, undisturbedRun } from "./support/Chain.ts"
import { outcomeOf, type Outcome } from "./support/Outcome.ts"
import { endAll, inspo } from "./support/Program.ts"

const wanted = process.env["INSPO_DISK_FULL"] !== undefined
const cwd = wanted ? mkdtempSync(join(tmpdir(), "inspo-disk-")) : ""
const disk = join(cwd, "disk")
let undisturbed: Outcome

const mount = (kilobytes: number): void => {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", disk], { stdio: "ignore" })
}
const unmount = (): void => {
  execFileSync("umount", [disk], { stdio: "ignore" })
}

/** Whether a small file system can be mounted here. */
const mountable = ((): boolean => {
  if (!wanted) return false
  try {
    mkdirSync(disk)
    mount(64)
    unmount()
    return true
  } catch {
    process.stdout.write("no tmpfs can be mounted here, so no disk is filled\n")
    return false
  }
})()

const kilobytes = (directory: string): number =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(directory, name)))
    .reduce((total, stat) => total + (stat.isFile() ? Math.ceil(stat.size / 4096) * 4 : 4), 0)

beforeAll(async () => {
  if (!mountable) return
  undisturbed = await undisturbedRun(cwd, "undisturbed")
}, 120_000)

afterAll(() => {
  endAll()
  if (wanted) rmSync(cwd, { recursive: true, force: true })
})

describe.skipIf(!mountable)("a disk that runs full, INSPO_DISK_FULL", () => {
  it.each([0.15, 0.35, 0.6, 0.8, 0.97])(
    "at %f of what a run needs stops it with a clear error, and it goes on once there is room",
    { timeout: 240_000 },
    async (share) => {
      mount(kilobytes(join(cwd, "undisturbed")))
      try {
        const whole = kilobytes(join(cwd, "undisturbed"))
        writeFileSync(join(disk, "ballast"), Buffer.alloc(1024 * Math.floor(whole * (1 - share)), 1))
        const full = await inspo(start("disk/run"), cwd)
        assert.strictEqual(full.code, 1, full.stderr)
        assert.match(full.stderr, /^inspo: [^\n]*(?:disk is full|ENOSPC|no space)[^\n]*\n$/iu)
        rmSync(join(disk, "ballast"))
        execFileSync("mount", ["-o", `remount,size=${3 * whole}k`, disk])
        const begun = readdirSync(disk).includes("run") && readdirSync(join(disk, "run")).includes("config.json")
        const resumed = await inspo(begun ? resume("disk/run") : start("disk/run"), cwd)
        assert.strictEqual(resumed.code, 0, resumed.stderr)
        assert.deepStrictEqual(await outcomeOf(join(disk, "run")), undisturbed)
      } finally {
        unmount()
      }
    }
  )
})
