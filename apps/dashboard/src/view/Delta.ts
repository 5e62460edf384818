/** The instance manipulation of RFC 3229 that client and server use: the body is a JSON Patch (RFC 6902) of the version that the client has. */
export const manipulation = "json-patch"
