import { journalVersion } from "../Journal.ts"
import { emptyHead } from "./chain.ts"

/**
 * What makes the tables of a run in a schema of its own. JSON is text, since JSONB refuses U+0000, and numbers are double
 * precision, which holds every integer of a journal exactly and reads as a number.
 */
export const tables: ReadonlyArray<string> = [
  `CREATE TABLE identity (
    only_one DOUBLE PRECISION PRIMARY KEY CHECK (only_one = 0),
    version DOUBLE PRECISION NOT NULL,
    token DOUBLE PRECISION NOT NULL,
    expires TIMESTAMPTZ NOT NULL
  )`,
  `INSERT INTO identity VALUES (0, ${journalVersion}, 0, '-infinity')`,
  `CREATE TABLE events (
    sequence DOUBLE PRECISION PRIMARY KEY,
    type TEXT NOT NULL,
    step DOUBLE PRECISION NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    state TEXT
  )`,
  `CREATE TABLE head (
    only_one DOUBLE PRECISION PRIMARY KEY CHECK (only_one = 0),
    events DOUBLE PRECISION NOT NULL,
    hash TEXT NOT NULL
  )`,
  `INSERT INTO head VALUES (0, ${emptyHead.events}, '${emptyHead.hash}')`,
  `CREATE TABLE records (
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    step DOUBLE PRECISION NOT NULL,
    value BYTEA NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  )`,
  `CREATE INDEX records_by_step ON records (kind, step, key)`,
  `CREATE TABLE ledger (
    entry DOUBLE PRECISION PRIMARY KEY,
    phase TEXT COLLATE "C" NOT NULL,
    key TEXT,
    settles DOUBLE PRECISION UNIQUE,
    redone DOUBLE PRECISION NOT NULL,
    rollouts DOUBLE PRECISION NOT NULL,
    tokens DOUBLE PRECISION NOT NULL,
    calls DOUBLE PRECISION NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    seconds DOUBLE PRECISION NOT NULL
  )`,
  `CREATE INDEX ledger_by_key ON ledger (phase, key) WHERE key IS NOT NULL`
]
