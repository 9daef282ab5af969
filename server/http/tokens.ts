/** The tokens of requests: of an API key in a header, or else of a session in a cookie. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { readToken, type TokenFacts } from "@sitewright/server/app/company/token.ts";
import { sessionTokenOf } from "./sessionCookies.ts";

/** The token of `Authorization: Bearer …`, or an empty string. */
export function tokenOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const [scheme = "", token = "", ...rest] = (headers.authorization ?? "").trim().split(/ +/);
  return scheme.toLowerCase() === "bearer" && rest.length === 0 ? token : "";
}

/** The last headers of a connection and the token in them: all requests of a connection usually have the same ones. */
const lastRead = new WeakMap<
  Socket,
  { readonly authorization: string | undefined; readonly cookie: string | undefined; readonly facts: TokenFacts }
>();

/** The parts of the token that are looked up. */
export function tokenFacts(request: Pick<IncomingMessage, "headers" | "socket">): TokenFacts {
  const { authorization, cookie } = request.headers;
  const last = lastRead.get(request.socket);
  if (last !== undefined && last.authorization === authorization && last.cookie === cookie) return last.facts;
  const sessionToken = authorization === undefined ? sessionTokenOf(request.headers) : "";
  const facts = sessionToken === "" ? readToken(tokenOf(request)) : readToken(sessionToken, "session");
  lastRead.set(request.socket, { authorization, cookie, facts });
  return facts;
}

/** The token itself: the secret that only the caller has. */
export function secretOf(request: Pick<IncomingMessage, "headers">): string {
  return tokenOf(request) || sessionTokenOf(request.headers);
}
