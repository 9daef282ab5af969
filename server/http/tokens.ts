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

interface Read {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly isSecure: boolean;
  /** The token itself: the secret that only the caller has. */
  readonly secret: string;
  readonly facts: TokenFacts;
}

/** The last headers of a connection and the token in them: all requests of a connection usually have the same ones. */
const lastRead = new WeakMap<Socket, Read>();

type Request = Pick<IncomingMessage, "headers" | "socket">;

/** `isSecure`: whether the client used HTTPS. */
function read(request: Request, isSecure: boolean): Read {
  const { authorization, cookie } = request.headers;
  const last = lastRead.get(request.socket);
  const isSame = last?.authorization === authorization && last?.cookie === cookie && last?.isSecure === isSecure;
  if (last !== undefined && isSame) return last;
  const sessionToken = authorization === undefined ? sessionTokenOf(request.headers, isSecure) : "";
  const secret = sessionToken === "" ? tokenOf(request) : sessionToken;
  const facts = readToken(secret, sessionToken === "" ? "key" : "session");
  const made = { authorization, cookie, isSecure, secret, facts };
  lastRead.set(request.socket, made);
  return made;
}

/** The parts of the token that are looked up. */
export const tokenFacts = (request: Request, isSecure: boolean): TokenFacts => read(request, isSecure).facts;

/** The token itself: the secret that only the caller has. */
export const secretOf = (request: Request, isSecure: boolean): string => read(request, isSecure).secret;
