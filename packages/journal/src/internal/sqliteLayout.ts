import { emptyHead } from "./chain.ts"

const recordsTable = `CREATE TABLE records (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    step INTEGER NOT NULL,
    value BLOB NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT`

const recordsIndex = `CREATE INDEX records_by_step ON records (kind, step, key)`

const ledgerTable = `CREATE TABLE ledger (
    entry INTEGER PRIMARY KEY,
    phase TEXT NOT NULL,
    key TEXT,
    settles INTEGER UNIQUE,
    redone INTEGER NOT NULL,
    rollouts INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    usd REAL NOT NULL,
    seconds REAL NOT NULL
  ) STRICT`

const ledgerIndex = `CREATE INDEX ledger_by_key ON ledger (phase, key) WHERE key IS NOT NULL`

/** What makes the tables of the present version. */
export const tables: ReadonlyArray<string> = [
  `CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    step INTEGER NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    state TEXT
  ) STRICT`,
  `CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 0),
    events INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) STRICT`,
  `INSERT INTO head VALUES (0, ${emptyHead.events}, '${emptyHead.hash}')`,
  recordsTable,
  recordsIndex,
  ledgerTable,
  ledgerIndex
]
