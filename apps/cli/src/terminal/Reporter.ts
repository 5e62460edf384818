import { PlainText } from "@inspo/domain"
import { Text } from "@inspo/report"
import { Console, Effect, Ref, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { JsonFlag } from "../commands/handler.ts"

/** Where a command writes what people read, and the block at the bottom that is redrawn in place. */
export interface Reporter {
  /** Width to lay text out in. */
  readonly columns: number
  readonly live: boolean
  /** Prints permanent lines. None moves the cursor or hides anything, whatever models and files put into them. */
  readonly lines: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Replaces the block; does nothing unless the output is a live terminal. */
  readonly block: (lines: ReadonlyArray<string>) => Effect.Effect<void>
}

/** How wide lines may be, and whether they may have colours. */
export interface Style {
  readonly columns: number
  readonly canColor: boolean
}

/** Prints a document as one line of JSON or, for people, as lines, none of which moves the cursor or hides anything. */
export const print = (document: unknown, lines: (columns: number) => ReadonlyArray<string>) =>
  printStyled(document, ({ columns }) => safe(lines(columns)))

/** {@link print} for lines that have colours, and nothing else from models and files that a terminal obeys. */
export const printStyled = (document: unknown, lines: (style: Style) => ReadonlyArray<string>) =>
  Effect.gen(function* () {
    if (yield* JsonFlag) return yield* Console.log(JSON.stringify(document))
    yield* Console.log(lines(yield* styleOf).join("\n"))
  })

/** How wide this terminal is, and whether it shows colours. */
export const styleOf = Effect.gen(function* () {
  const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
  const width = yield* (yield* Terminal.Terminal).columns
  return { columns: width > 0 ? Math.min(Text.maximumColumns, width) : Text.maximumColumns, canColor }
})

/** Writes to standard output, live on a terminal. With {@link JsonFlag} it writes to standard error; with `quiet` nothing. */
export const make = Effect.fnUntraced(function* ({
  quiet = false
}: { readonly quiet?: boolean } = {}): Effect.fn.Return<Reporter, never, Terminal.Terminal> {
  const json = yield* JsonFlag
  const terminal = yield* Terminal.Terminal
  const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
  const { columns } = yield* styleOf
  if (quiet) return { columns, live: false, lines: () => Effect.void, block: () => Effect.void }
  if (json || !canAnimate) {
    const print = json ? Console.error : Console.log
    return {
      columns,
      live: false,
      lines: (lines) => (lines.length === 0 ? Effect.void : print(safe(lines).join("\n"))),
      block: () => Effect.void
    }
  }

  const shown = yield* Ref.make<ReadonlyArray<string>>([])
  // A terminal that closes must not end the run.
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
