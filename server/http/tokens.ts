/** The tokens of requests. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { readToken, type TokenFacts } from "@sitewright/server/app/company/token.ts";

/** The token of `Authorization: Bearer …`, or an empty string. */
export function tokenOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const [scheme = "", token = "", ...rest] = (headers.authorization ?? "").trim().split(/ +/);
  return scheme.toLowerCase() === "bearer" && rest.length === 0 ? token : "";
}

/** The last header of a connection and the key in it: all requests of a connection usually have the same one. */
const lastRead = new WeakMap<Socket, { readonly header: string | undefined; readonly facts: TokenFacts }>();

/** The parts of the token that are looked up. */
export function tokenFacts(request: Pick<IncomingMessage, "headers" | "socket">): TokenFacts {
  const header = request.headers.authorization;
  const last = lastRead.get(request.socket);
  if (last !== undefined && last.header === header) return last.facts;
  const facts = readToken(tokenOf(request));
  lastRead.set(request.socket, { header, facts });
  return facts;
}
