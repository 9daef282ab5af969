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

/** Returns the route, or the name of the edge's page to send if there is none. */
export function findRoute(request: VisitorRequest, routes: Routes): FoundRoute | NoRoute {
  const target = splitTarget(request.url ?? "");
  const host = target.host ?? hostOf(request);
  const name = readHost(host);
  const path = readPath(target.url);
  if (host === undefined || name === null || path === null) return "badRequest";
  const route = routes.find(name);
  if (route !== null) return { route, path, host };
  // Before the first table, the edge can't know that a name is unknown.
  if (isEmpty(routes.table())) return "starting";
  return routes.isAway(name) ? "away" : "unknownHost";
}
