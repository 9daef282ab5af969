/** Queries over UDP. */
import type { Socket } from "node:dgram";
import type { Responder } from "./respond.ts";
import type { DnsLog } from "./served.ts";

/** Send errors are ignored: UDP packets may be lost anyway. */
const sent = (): void => undefined;

export function answerUdp(socket: Socket, responder: Pick<Responder, "overUdp">, log: DnsLog): void {
  socket.on("message", (packet, { address, port }) => {
    try {
      const answer = responder.overUdp(packet, address);
      // Port 0 only occurs in forged packets.
      if (answer !== null && port !== 0) socket.send(answer, port, address, sent);
    } catch (err) {
      log.error({ err, packet: packet.toString("base64") }, "Could not answer a packet");
    }
  });
  socket.on("error", (err) => log.error({ err }, "UDP socket failed"));
}
