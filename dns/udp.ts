/** Questions by UDP. */
import type { Socket } from "node:dgram";
import type { Responder } from "./respond.ts";
import type { DnsLog } from "./served.ts";

/** What can't be sent is lost, as it might be anywhere on the way. */
const sent = (): void => undefined;

export function answerUdp(socket: Socket, responder: Pick<Responder, "overUdp">, log: DnsLog): void {
  socket.on("message", (packet, { address, port }) => {
    try {
      const answer = responder.overUdp(packet, address);
      // Port 0 is never real; a forged packet may name it.
      if (answer !== null && port !== 0) socket.send(answer, port, address, sent);
    } catch (err) {
      log.error({ err, packet: packet.toString("base64") }, "A packet could not be answered");
    }
  });
  socket.on("error", (err) => log.error({ err }, "The socket for questions by UDP has a fault"));
}
