/** From the head of a request to the site it is for. */

import { readPath, splitTarget, type VisitorPath } from "../http/path.ts";
import { hostOf, type VisitorRequest } from "../http/visitorHttp.ts";
import { readHost } from "./hosts.ts";
import type { Route, Routes } from "./routes.ts";
import { isEmpty } from "./tableFile.ts";

export interface FoundRoute {
  readonly route: Route;
  readonly path: VisitorPath;
  /** As the visitor wrote it, with port. */
  readonly host: string;
}

/** The page to answer with. */
export type NoRoute = "badRequest" | "unknownHost" | "away" | "starting";

/** Returns the name of the page to answer with where the request is for no site. */
export function findRoute(request: VisitorRequest, routes: Routes): FoundRoute | NoRoute {
  const target = splitTarget(request.url ?? "");
  const host = target.host ?? hostOf(request);
  const name = readHost(host);
  const path = readPath(target.url);
  if (host === undefined || name === null || path === null) return "badRequest";
  const route = routes.find(name);
  if (route !== null) return { route, path, host };
  // Before the first table arrives, no name can be called unknown.
  if (isEmpty(routes.table())) return "starting";
  return routes.isAway(name) ? "away" : "unknownHost";
}
