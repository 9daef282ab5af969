/** One request on its way through the edge. */

import type { Body } from "../bodies/bodyStore.ts";
import type { VisitorPath } from "../http/path.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import type { Route } from "../tables/routes.ts";
import type { PageRequest } from "./pageRequest.ts";
import type { Sender } from "./sender.ts";

export interface Visit extends Sender {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
  /** The request's body, complete. Null if it has none, or has not been received yet. */
  readonly body: Body | null;
  readonly route: Route;
  readonly path: VisitorPath;
  /** As sent by the visitor, including the port. */
  readonly host: string;
  readonly https: boolean;
  /** Absent if the request can't be a login. */
  readonly login?: VisitLogin;
  /** Null if the response may be private. */
  readonly pageRequest: PageRequest | null;
}

/** A request that may be a login, among others of its visitor. */
export interface VisitLogin {
  /** Called when PHP begins. False if PHP must refuse to log anyone in, because of earlier failures. */
  begin(): boolean;
  /** Called with PHP's headers, or with none if PHP has failed. */
  onAnswer(headers: readonly (readonly [name: string, value: string])[]): void;
}
