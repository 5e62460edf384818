import * as PlainText from "@inspo/domain/PlainText"
import { Console, Effect, Ref, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { maximumColumns } from "./Text.ts"

/** Where a command writes what people read, and the block at the bottom that is redrawn in place. */
export interface Reporter {
  /** Width to lay text out in. */
  readonly columns: number
  readonly live: boolean
  /** Lines that stay. None moves the cursor or hides anything, whatever models and files put into them. */
  readonly lines: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Replaces the block; does nothing where output is not watched. */
  readonly block: (lines: ReadonlyArray<string>) => Effect.Effect<void>
}

/**
 * `normal` writes to standard output, live on a terminal; `json` keeps standard output for one document and writes plain
 * lines to standard error; `quiet` writes nothing.
 */
export type Mode = "normal" | "json" | "quiet"

export const make = Effect.fnUntraced(function* (mode: Mode): Effect.fn.Return<Reporter, never, Terminal.Terminal> {
  const terminal = yield* Terminal.Terminal
  const capabilities = yield* TerminalCapabilities.TerminalCapabilities
  const width = yield* terminal.columns
  const columns = width > 0 ? Math.min(maximumColumns, width) : maximumColumns
  if (mode === "quiet") return { columns, live: false, lines: () => Effect.void, block: () => Effect.void }
  if (mode === "json" || !capabilities.canAnimate) {
    const print = mode === "json" ? Console.error : Console.log
    return {
      columns,
      live: false,
      lines: (lines) => (lines.length === 0 ? Effect.void : print(safe(lines).join("\n"))),
      block: () => Effect.void
    }
  }

  const shown = yield* Ref.make<ReadonlyArray<string>>([])
  // A terminal that went away must not end the run.
  const display = (text: string) => Effect.ignore(terminal.display(text))
  const erase = (height: number) => (height === 0 ? "" : `\u001b[${height}A\r\u001b[J`)
  const text = (lines: ReadonlyArray<string>) =>
    safe(lines)
      .map((line) => `${line}\n`)
      .join("")
  return {
    columns,
    live: true,
    lines: (lines) =>
      Effect.flatMap(Ref.get(shown), (block) => display(erase(block.length) + text(lines) + text(block))),
    block: (lines) => Effect.flatMap(Ref.getAndSet(shown, lines), (block) => display(erase(block.length) + text(lines)))
  }
})

const safe = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map(PlainText.escape)
