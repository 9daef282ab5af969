/** Notes refused API keys for the activity log. */
import { isAddressAllowed } from "@sitewright/server/app/company/allowedAddresses.ts";
import type { App } from "@sitewright/server/app/context.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { callOf } from "./identity.ts";
import { tokenOf } from "./tokens.ts";

/** Requests without a key, and those beyond the rate limit, are not noted. */
export function noteRefusals(server: FastifyInstance, { refusedKeys }: Pick<App, "refusedKeys">): void {
  server.addHook("onResponse", (request, { statusCode }, done) => {
    if (statusCode === 401 || statusCode === 403) note(request, statusCode);
    done();
  });

  function note(request: FastifyRequest, status: 401 | 403): void {
    const { route } = request.routeOptions.config;
    const token = tokenOf(request);
    if (route === undefined || token === "") return;
    if (status === 401) refusedKeys.unusable(token, request.ip);
    if (status === 401 || !request.identified) return;
    const { caller } = request.identified;
    if (isAddressAllowed(caller.allowedAddresses, request.ip))
      refusedKeys.notAllowed(caller, request.ip, callOf(route.row));
    else refusedKeys.addressNotAllowed(caller, request.ip);
  }
}
