/** The IP address of a connection. */
import type { VisitorSocket } from "./visitorHttp.ts";

const mapped = "::ffff:";

/** Returns the IP address, with IPv4-mapped IPv6 addresses as IPv4. The empty string if the connection is closed. */
export function addressOf({ remoteAddress = "" }: Pick<VisitorSocket, "remoteAddress">): string {
  return remoteAddress.startsWith(mapped) && remoteAddress.includes(".")
    ? remoteAddress.slice(mapped.length)
    : remoteAddress;
}
