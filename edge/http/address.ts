/** The IP address of a request. */
import type { VisitorSocket } from "./visitorHttp.ts";

const mapped = "::ffff:";

/** The visitor's IP address, with IPv4-mapped IPv6 addresses as IPv4. Requests from PHP have the loopback address. */
export function addressOf(from: {
  readonly socket: Pick<VisitorSocket, "remoteAddress">;
  readonly fromPhp: boolean;
}): string {
  const address = from.fromPhp ? "127.0.0.1" : (from.socket.remoteAddress ?? "");
  return address.startsWith(mapped) && address.includes(".") ? address.slice(mapped.length) : address;
}
