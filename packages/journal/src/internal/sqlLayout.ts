import { emptyHead } from "./chain.ts"

/** How a database names its types; `name` is a text that sorts by its code points, and `ends` is said behind each table. */
export interface Types {
  readonly integer: string
  readonly real: string
  readonly name: string
  readonly bytes: string
  readonly ends: string
}

/** What makes the tables of the present version. */
export const tables = ({ bytes, ends, integer, name, real }: Types): ReadonlyArray<string> => [
  `CREATE TABLE events (
    sequence ${integer} PRIMARY KEY,
    type TEXT NOT NULL,
    step ${integer} NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    state TEXT
  )${ends}`,
  `CREATE TABLE head (
    only_one ${integer} PRIMARY KEY CHECK (only_one = 0),
    events ${integer} NOT NULL,
    hash TEXT NOT NULL
  )${ends}`,
  `INSERT INTO head VALUES (0, ${emptyHead.events}, '${emptyHead.hash}')`,
  `CREATE TABLE records (
    kind ${name} NOT NULL,
    key ${name} NOT NULL,
    step ${integer} NOT NULL,
    value ${bytes} NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  )${ends}`,
  `CREATE INDEX records_by_step ON records (kind, step, key)`,
  `CREATE TABLE ledger (
    entry ${integer} PRIMARY KEY,
    phase ${name} NOT NULL,
    key TEXT,
    settles ${integer} UNIQUE,
    redone ${integer} NOT NULL,
    rollouts ${integer} NOT NULL,
    tokens ${integer} NOT NULL,
    calls ${integer} NOT NULL,
    usd ${real} NOT NULL,
    seconds ${real} NOT NULL
  )${ends}`,
  `CREATE INDEX ledger_by_key ON ledger (phase, key) WHERE key IS NOT NULL`
]
