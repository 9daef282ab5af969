/** `GET /.well-known/security.txt`, if the installation has a contact for vulnerabilities. */
import type { FastifyInstance } from "fastify";

export function serveSecurityTxt(server: FastifyInstance, write: (() => string) | null): void {
  if (write === null) return;
  server.get("/.well-known/security.txt", (_, reply) => reply.type("text/plain; charset=utf-8").send(write()));
}
