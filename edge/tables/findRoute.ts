/** Finds the site that a request is for. */

import { readPath, splitTarget, type VisitorPath } from "../http/path.ts";
import { hostOf, type VisitorRequest } from "../http/visitorHttp.ts";
import { readHost } from "./hosts.ts";
import type { Route, Routes } from "./routes.ts";
import { isEmpty } from "./tableFile.ts";

export interface FoundRoute {
  readonly route: Route;
  readonly path: VisitorPath;
  /** As sent by the visitor, including the port. */
  readonly host: string;
}

/** The edge's page to send if there is no route. */
export type NoRoute = "badRequest" | "unknownHost" | "away" | "starting";

/** What a request is for. */
export interface Target {
  /** As sent by the visitor, including the port; undefined if it is missing or ambiguous. */
  readonly host: string | undefined;
  /** The name of the host, in lower case. Null if the host is malformed. */
  readonly name: string | null;
  readonly url: string;
}

export function targetOf(request: Pick<VisitorRequest, "url" | "rawHeaders">): Target {
  const { host: own, url } = splitTarget(request.url ?? "");
  const host = own ?? hostOf(request);
  return { host, name: readHost(host), url };
}

/** Returns the route, or the name of the edge's page to send if there is none. */
export function findRoute({ host, name, url }: Target, routes: Routes): FoundRoute | NoRoute {
  const path = readPath(url);
  if (host === undefined || name === null || path === null) return "badRequest";
  const route = routes.find(name);
  if (route !== null) return { route, path, host };
  // Before the first table, the edge can't know that a name is unknown.
  if (isEmpty(routes.table())) return "starting";
  return routes.isAway(name) ? "away" : "unknownHost";
}
