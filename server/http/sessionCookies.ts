/**
 * The cookie of a session. Scripts can't read it, and browsers send it only with requests from pages of the same site. Over HTTPS, its
 * name begins with `__Host-`, so that no other host, and no page without HTTPS, can set it.
 *
 * Browsers don't keep cookies of different ports of a host apart. So pages of the same host, such as a customer's site, can send
 * requests with it, and `requireOwnPage` refuses those that change something.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { CrossSiteRequest } from "@sitewright/server/app/failures.ts";
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyRequest } from "fastify";
import type { IsTrustedProxy } from "./edgeSocket.ts";
import { originOf } from "./paths.ts";

const plainName = "sitewright";
/** Of a sign-in through the provider that has begun. */
const signInName = `${plainName}-sign-in`;

const nameOf = (isSecure: boolean, name = plainName): string => (isSecure ? `__Host-${name}` : name);

/**
 * The token in the cookie, or an empty string. None if there are several cookies of this name: one of them may be forged. `isSecure`:
 * whether the client used HTTPS.
 */
export const sessionTokenOf = (headers: IncomingHttpHeaders, isSecure: boolean): string =>
  cookieNamed(headers, nameOf(isSecure));

/** What the browser keeps of a sign-in through the provider (`signInCookie`), or an empty string. */
export const signInCookieOf = ({ headers, protocol }: FastifyRequest): string =>
  cookieNamed(headers, nameOf(protocol === "https", signInName));

function cookieNamed({ cookie }: IncomingHttpHeaders, name: string): string {
  if (cookie === undefined || !cookie.includes(plainName)) return "";
  const ofName = cookie.split(";").filter((pair) => pair.split("=", 1)[0]?.trim() === name);
  return ofName.length === 1 ? (parseCookie(cookie)[name] ?? "") : "";
}

/** Whether a client used HTTPS, as Fastify's `request.protocol` says. */
export function isSecure(
  { headers, socket }: Pick<IncomingMessage, "headers" | "socket">,
  isTrusted: IsTrustedProxy,
): boolean {
  const forwarded = headers["x-forwarded-proto"];
  if (typeof forwarded !== "string" || !isTrusted(socket.remoteAddress)) return false;
  return forwarded.split(",").at(-1)?.trim() === "https";
}

/** The header that stores the token in the browser. `origin`: this server as the browser addressed it. */
export const sessionCookie = (origin: string, token: string, seconds: number): string =>
  cookieOf(origin, plainName, token, seconds);

/** The header that stores what the browser keeps of a sign-in through the provider. */
export const signInCookie = (origin: string, value: string, seconds: number): string =>
  cookieOf(origin, signInName, value, seconds);

function cookieOf(origin: string, name: string, value: string, seconds: number): string {
  const isSecure = origin.startsWith("https:");
  return stringifySetCookie({
    name: nameOf(isSecure, name),
    value,
    httpOnly: true,
    secure: isSecure,
    sameSite: "strict",
    path: "/",
    maxAge: seconds,
  });
}

/** The header that removes the token from the browser. */
export const endedCookie = (origin: string): string => sessionCookie(origin, "", 0);

/** Throws `CrossSiteRequest` unless a page of this origin has sent the request. Browsers let no script set these headers. */
export function requireOwnPage(request: FastifyRequest): void {
  const { "sec-fetch-site": site, origin } = request.headers;
  if (site === "same-origin") return;
  if (site === undefined && origin !== undefined && origin === originOf(request)) return;
  throw new CrossSiteRequest();
}
