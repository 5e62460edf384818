import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Completions } from "effect/cli"
import { inspo } from "../src/Cli.ts"
import { helpLines } from "../src/terminal/Help.ts"
import { helpDocs, presented } from "./support/HelpDocs.ts"

const all = Effect.cached(Effect.provide(helpDocs, NodeServices.layer)).pipe(Effect.runSync)

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** The commands that the pages print in their shell blocks. */
const documented = globSync(["README.md", "{docs,research}/**/*.md", "apps/*/README.md"], { cwd: root }).flatMap(
  (page) =>
    [...readFileSync(`${root}/${page}`, "utf8").matchAll(/^```sh\n(.*?)^```/gmsu)].flatMap(([, block = ""]) =>
      [...block.replaceAll("\\\n", " ").matchAll(/^(?:npx (?:pnpm@12 )?)?(inspo [^#|\n]*)/gmu)].map(
        ([, command = ""]) => command
      )
    )
)

describe("--help", () => {
  it.effect("describes every verb, its flags and arguments, with examples", () =>
    Effect.gen(function* () {
      for (const { doc, path } of yield* all) {
        const verb = ["inspo", ...path].join(" ")
        assert.isNotEmpty(doc.description, verb)
        for (const flag of doc.flags) assert.strictEqual(flag.description._tag, "Some", `${verb} --${flag.name}`)
        for (const argument of doc.args ?? [])
          assert.strictEqual(argument.description._tag, "Some", `${verb} ${argument.name}`)
        if (doc.subcommands === undefined) assert.isNotEmpty(doc.examples ?? [], `${verb} has no example`)
      }
    })
  )

  it.effect("has at most 18 verbs, each in a group", () =>
    Effect.gen(function* () {
      const groups = (yield* all)[0]?.doc.subcommands ?? []
      assert.deepStrictEqual(
        groups.map(({ group }) => group),
        ["Start", "Look", "Compare", "Connect"]
      )
      assert.isAtMost(groups.flatMap(({ commands }) => commands).length, 18)
    })
  )

  it.effect("fits a terminal of 80 columns, but for examples, which are to be copied", () =>
    Effect.gen(function* () {
      for (const { doc, path } of yield* all) {
        const verb = ["inspo", ...path].join(" ")
        const { examples: _, ...rest } = doc
        for (const line of helpLines(rest, { columns: 80, canColor: false })) assert.isAtMost(line.length, 80, verb)
        // The list of verbs can be taken in at a glance.
        if (path.length === 0)
          for (const { commands } of doc.subcommands ?? [])
            for (const { description, name, shortDescription } of commands)
              assert.isAtMost((shortDescription ?? description).length, 67, name)
      }
    })
  )

  it.effect("gives examples that call known verbs with known flags, as the pages of the documentation do", () =>
    Effect.gen(function* () {
      const docs = yield* all
      const known = new Map(docs.map(({ doc, path }) => [path.join(" "), doc]))
      const verbs = [...known.keys()].toSorted((a, b) => b.length - a.length)
      const examples = docs.flatMap(({ doc }) => (doc.examples ?? []).map(({ command }) => command))
      assert.isAbove(documented.length, 50)
      for (const command of [...examples, ...documented]) {
        assert.match(command, /^inspo /u)
        const verb = verbs.find((name) => `${command} `.startsWith(`inspo ${name} `))
        const flags = known.get(verb ?? "")?.flags.map(({ name }) => name) ?? []
        for (const [, flag = ""] of command.matchAll(/(?<= )--([\w-]+)/gu))
          assert.include([...flags, ...flags.map((name) => `no-${name}`)], flag, command)
      }
    })
  )
})

describe("a slip of the hand", () => {
  /** One letter twice. */
  const slip = (name: string) => name.replace(/^(.)(.)/u, "$1$2$2")

  const suggested = (args: ReadonlyArray<string>) =>
    Effect.map(presented(args), (events) =>
      events
        .flatMap((event) => (event._tag === "InvalidInvocation" ? event.errors.map(({ message }) => message) : []))
        .join(" ")
    )

  it.effect("in a verb is reported with the verb that was meant", () =>
    Effect.gen(function* () {
      for (const { path } of yield* all) {
        const verb = path.at(-1)
        if (verb !== undefined) assert.include(yield* suggested([...path.slice(0, -1), slip(verb)]), verb)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("in a flag is reported with the flag that was meant", () =>
    Effect.gen(function* () {
      for (const { doc, path } of yield* all)
        for (const { name } of doc.flags)
          assert.include(yield* suggested([...path, `--${slip(name)}`, "1"]), `--${name}`, path.join(" "))
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("--completions", () => {
  const script = (shell: Completions.Shell) => Completions.generate("inspo", shell, Completions.fromCommand(inspo))

  it("prints a script that bash takes, and that completes verbs and flags", () => {
    const complete = (...words: ReadonlyArray<string>) => {
      const line = words.join(" ")
      const { status, stderr, stdout } = spawnSync("bash", ["--norc"], {
        encoding: "utf8",
        input: [
          script("bash"),
          `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}`,
          `COMP_LINE='${line}'; COMP_POINT=${line.length}`,
          `$(complete -p inspo | sed 's/.*-F \\([^ ]*\\).*/\\1/') inspo '${words.at(-1)}' '${words.at(-2)}'`,
          'printf "%s\\n" "${COMPREPLY[@]}"'
        ].join("\n")
      })
      assert.strictEqual(status, 0, stderr)
      return stdout.split("\n").map((word) => word.trim())
    }
    assert.include(complete("inspo", "res"), "resume")
    assert.include(complete("inspo", "data", "con"), "convert")
    assert.include(complete("inspo", "run", "--pre"), "--preset")
    assert.include(complete("inspo", "data", "score", "--scope", ""), "searchr1")
  })

  it("knows every shell", () => {
    for (const shell of ["bash", "zsh", "fish", "powershell"] as const) assert.include(script(shell), "resume")
  })
})

describe("colours", () => {
  it("are left out where NO_COLOR is set", () => {
    const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
    const help = (environment: Record<string, string>) =>
      spawnSync(process.execPath, [main, "show", "--help"], {
        encoding: "utf8",
        env: { ...process.env, ...environment }
      }).stdout
    assert.include(help({ NO_COLOR: "", FORCE_COLOR: "1" }), "\u001b[")
    assert.notInclude(help({ NO_COLOR: "1", FORCE_COLOR: "1" }), "\u001b[")
  })
})
