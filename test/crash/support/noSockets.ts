/** Loaded into the program before it starts: whoever opens a socket ends it. */
import dgram from "node:dgram"
import { syncBuiltinESMExports } from "node:module"
import net from "node:net"

const forbid = (): never => {
  process.stderr.write("a socket was opened\n")
  process.exit(99)
}

net.Socket.prototype.connect = forbid
net.connect = forbid
net.createConnection = forbid
dgram.createSocket = forbid
syncBuiltinESMExports()
