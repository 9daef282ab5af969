/** Where a request comes from. */
import type { VisitorSocket } from "./visitorHttp.ts";

const mapped = "::ffff:";

/** The visitor's address; one of version 4 as such, however the system writes it. PHP of this installation is this machine. */
export function addressOf(from: {
  readonly socket: Pick<VisitorSocket, "remoteAddress">;
  readonly fromPhp: boolean;
}): string {
  const address = from.fromPhp ? "127.0.0.1" : (from.socket.remoteAddress ?? "");
  return address.startsWith(mapped) && address.includes(".") ? address.slice(mapped.length) : address;
}
