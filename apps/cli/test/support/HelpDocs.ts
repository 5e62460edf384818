import { Effect } from "effect"
import { CliOutput, Command, type HelpDoc } from "effect/cli"
import { inspo } from "../../src/Cli.ts"

/** What a command line prints, in the order it is presented. */
export const presented = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const events: Array<CliOutput.Presenter.Event> = []
    const presenter = CliOutput.layerPresenter({
      present: (event) => Effect.sync(() => void events.push(event))
    })
    yield* Command.runWith(inspo, { version: "0.0.0" })(args).pipe(Effect.ignore, Effect.provide(presenter))
    return events
  })

/** The help of every verb with its path below `inspo`, the program itself first. */
export const helpDocs = Effect.gen(function* () {
  const docs: Array<{ readonly path: ReadonlyArray<string>; readonly doc: HelpDoc.HelpDoc }> = []
  const open: Array<ReadonlyArray<string>> = [[]]
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    const here = path
    const [event] = yield* presented([...here, "--help"])
    if (event?._tag !== "Help") continue
    docs.push({ path: here, doc: event.helpDoc })
    const groups = event.helpDoc.subcommands ?? []
    open.unshift(...groups.flatMap(({ commands }) => commands.map(({ name }) => [...here, name])))
  }
  return docs
})
