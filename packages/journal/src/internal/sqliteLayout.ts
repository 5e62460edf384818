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

const version1 = {
  records: "kind, key, step, CAST(value AS BLOB) AS value, hash",
  ledger: "entry, phase, NULL AS key, NULL AS settles, redone, rollouts, tokens, calls, usd, 0.0 AS seconds"
}

/**
 * From each earlier version, in order. `migrate` brings the tables to the next version; `view` makes them look like the
 * present one to a connection that may not change them.
 */
export const earlier: ReadonlyArray<{
  readonly version: number
  readonly migrate: ReadonlyArray<string>
  readonly view: ReadonlyArray<string>
}> = [
  {
    version: 1,
    migrate: [
      `ALTER TABLE events ADD COLUMN state TEXT`,
      `DROP INDEX records_by_step`,
      `ALTER TABLE records RENAME TO records1`,
      recordsTable,
      `INSERT INTO records SELECT ${version1.records} FROM records1`,
      `DROP TABLE records1`,
      recordsIndex,
      `ALTER TABLE ledger RENAME TO ledger1`,
      ledgerTable,
      `INSERT INTO ledger SELECT ${version1.ledger} FROM ledger1`,
      `DROP TABLE ledger1`,
      ledgerIndex
    ],
    view: [
      `CREATE TEMP VIEW events AS SELECT sequence, type, step, payload, hash, NULL AS state FROM main.events`,
      `CREATE TEMP VIEW records AS SELECT ${version1.records} FROM main.records`,
      `CREATE TEMP VIEW ledger AS SELECT ${version1.ledger} FROM main.ledger`
    ]
  }
]
