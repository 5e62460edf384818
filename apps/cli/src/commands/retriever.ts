import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

const serve = Command.make(
  "serve",
  {
    corpus: Argument.String("corpus").pipe(
      Argument.withDescription('JSON lines of {"id", "contents"}, the title on the first line of contents')
    ),
    ...flags.address(8000, "Authorization: Bearer KEY"),
    index: Flag.String("index").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("File of the index; CORPUS.bm25 by default"),
      Flag.optional
    ),
    topk: Flag.Int("topk").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Documents per query where a request names no number"),
      Flag.withDefault(3)
    ),
    json: flags.json,
    quiet: flags.quiet
  },
  (input) =>
    handler(
      () => import("../retriever/Serve.ts"),
      ({ serve }) => serve(input)
    )
).pipe(
  Command.withDescription(
    "Serve a corpus to any client of Search-R1's POST /retrieve, until Ctrl-C. The index is built the first time and " +
      "after the corpus has changed"
  ),
  Command.withShortDescription("Serve a corpus over the /retrieve protocol"),
  Command.withExamples([
    { command: "inspo retriever serve corpus.jsonl", description: "On http://127.0.0.1:8000/retrieve" },
    {
      command: "inspo run --set retrieval.url=http://127.0.0.1:8000 --set data.questions=train.parquet",
      description: "A run that searches there"
    }
  ])
)

export const retriever = Command.make("retriever").pipe(
  Command.withDescription("Search in a corpus of your own"),
  Command.withSubcommands([serve])
)
