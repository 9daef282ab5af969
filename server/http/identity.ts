/** Authenticates requests and applies the rate limit, before a body is read. */
import { type Endpoint, type IdSource, isOwnResource } from "@sitewright/contract/endpoint.ts";
import {
  type Caller,
  isAllowed,
  lookUpTarget,
  type Resource,
  type Target,
} from "@sitewright/server/app/company/access.ts";
import { isAddressAllowed } from "@sitewright/server/app/company/allowedAddresses.ts";
import type { Identified } from "@sitewright/server/app/company/identities.ts";
import type { TokenFacts } from "@sitewright/server/app/company/token.ts";
import type { App } from "@sitewright/server/app/context.ts";
import { AddressNotAllowed } from "@sitewright/server/app/failures.ts";
import { clientNetwork } from "@sitewright/server/app/traffic/networks.ts";
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { HttpFailure } from "./faults.ts";
import type { CountRequest, Usage } from "./rateLimits.ts";
import type { CheckedInput, InputReader } from "./reading/input.ts";
import type { RepeatedReads } from "./repeatedReads.ts";
import { requireOwnPage } from "./sessionCookies.ts";
import { tokenFacts } from "./tokens.ts";

export interface Route {
  readonly name: string;
  readonly row: Endpoint;
  readonly reader: InputReader;
}

declare module "fastify" {
  interface FastifyContextConfig {
    route?: Route;
  }
  interface FastifyRequest {
    identified: Identified | null;
    /** The latest snapshot of the database before anything was read for the request. */
    snapshot: string | null;
  }
}

/** The call as the contract names it: `GET /sites/{site_id}`. */
export const callOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

/**
 * Makes the hook that identifies the caller, counts the request, and refuses invalid keys and exceeded rate limits. It calls
 * `done` at once if it need not ask the database.
 */
export function makeAuthenticator(
  app: App,
  count: CountRequest,
  admissionOf: RepeatedReads["admissionOf"],
): onRequestHookHandler {
  /** Counted even if the database does not answer: every response has the rate limit headers. */
  function accept(
    request: FastifyRequest,
    reply: FastifyReply,
    identified: Identified | null,
    counted: Usage | null,
    failure?: unknown,
  ): void {
    const { route } = request.routeOptions.config;
    request.identified = identified;
    const usage = counted ?? count(route?.row, identified?.caller ?? clientNetwork(request.ip));
    reply.headers(usage.headers);
    if (usage.isExceeded) throw new HttpFailure(429);
    if (failure !== undefined) throw failure;
    if (!route || isPublic(route)) return;
    if (!identified) throw new HttpFailure(401, { "www-authenticate": "Bearer" });
    const { keyId, kind, allowedAddresses } = identified.caller;
    if (kind === "session" && route.row.method !== "GET") requireOwnPage(request);
    if (!isAddressAllowed(allowedAddresses, request.ip)) throw new AddressNotAllowed(request.ip);
    app.keyUse.note(keyId);
  }

  /**
   * Counts a request before the database is asked: by its key, if it is known. A network that has used up its limit with invalid keys
   * is refused here if it presents yet another key: finding out that this one is invalid, too, would cost a query each time.
   */
  function countEarly(request: FastifyRequest, facts: TokenFacts, caller: Caller | null): Usage | null {
    const { route } = request.routeOptions.config;
    if (caller !== null) return count(route?.row, caller);
    if (route === undefined || app.identities.isFamiliar(facts)) return null;
    const network = clientNetwork(request.ip);
    return count.isUsedUp(route.row, network) ? count(route.row, network) : null;
  }

  return (request, reply, done) => {
    const { route } = request.routeOptions.config;
    const facts = tokenFacts(request.raw, request.protocol === "https");
    const admission = admissionOf(request.raw);
    const needsNone = route === undefined || isPublic(route) || admission !== undefined;
    const caller = needsNone ? null : app.identities.known(facts);
    const usage = admission?.usage ?? countEarly(request, facts, caller);
    const finish = (identified: Identified | null, failure?: unknown) => {
      try {
        accept(request, reply, identified, usage, failure);
      } catch (error) {
        return done(error instanceof Error ? error : new Error(String(error)));
      }
      done();
    };
    if (admission?.failure !== undefined) return finish(null, admission.failure);
    // A flood of requests beyond the limit must not cost the database anything.
    if (usage?.isExceeded) return finish(caller && { caller, target: null });
    request.snapshot = app.snapshots.latest();
    const found =
      route === undefined || isPublic(route)
        ? null
        : app.identities.identify(facts, pathTarget(route, request), route.row.method === "GET");
    if (!(found instanceof Promise)) return finish(found);
    found.then(finish, (error: unknown) => finish(null, error));
  };
}

/** The caller of a request that is still open, as they are now. Null if they may no longer make the call. */
export async function callerNow(
  { identities }: Pick<App, "identities">,
  row: Endpoint,
  request: FastifyRequest,
): Promise<Caller | null> {
  const found = await identities.identify(tokenFacts(request.raw, request.protocol === "https"), null, true);
  if (found === null || !isAddressAllowed(found.caller.allowedAddresses, request.ip)) return null;
  const { caller } = found;
  return isAllowed(row, caller, { companyId: caller.companyId, siteId: null, isLive: null }) ? caller : null;
}

/** Whether the endpoint needs no key. */
const isPublic = ({ row }: Route): boolean => row.resource.kind === "anyone";

/** Whether the resource of a request is known from its path alone. */
export function isInPath({ resource }: Endpoint): boolean {
  return isOwnResource(resource) || resource.from.startsWith("params.");
}

/** The resource in the path whose owner must be looked up in the database, or null. */
function pathTarget({ row, reader }: Route, request: FastifyRequest): Resource | null {
  const { resource } = row;
  if (isOwnResource(resource) || resource.kind === "company" || !isInPath(row)) return null;
  const params = reader.params(pathParameters(request));
  const id = params && valueAt(resource.from, { params, query: {}, body: {} });
  return id ? { kind: resource.kind, id } : null;
}

export function pathParameters(request: FastifyRequest): Record<string, string> {
  const { params } = request;
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(params ?? {})) texts[name] = String(value);
  return texts;
}

/** The resource that a checked request acts on, or null if it does not exist. */
export async function targetOf(
  app: App,
  row: Endpoint,
  input: CheckedInput,
  { caller, target }: Identified,
): Promise<Target | null> {
  const { resource } = row;
  if (isOwnResource(resource)) return { companyId: caller.companyId, siteId: null, isLive: null };
  if (resource.kind === "company") {
    const companyId = valueAt(resource.from, input) ?? caller.companyId;
    return { companyId: companyId.toLowerCase(), siteId: null, isLive: null };
  }
  if (isInPath(row)) return target;
  const id = valueAt(resource.from, input);
  return id === null ? null : lookUpTarget(app.pool, resource.kind, id);
}

function valueAt(source: IdSource, input: CheckedInput): string | null {
  const [part = "", name = ""] = source.split(".");
  const value = part === "params" ? input.params[name] : part === "query" ? input.query[name] : input.body[name];
  return typeof value === "string" ? value : null;
}
