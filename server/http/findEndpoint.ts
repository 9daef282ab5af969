/** Finds the endpoint of a request that Fastify has not seen yet. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import makeRouter from "find-my-way";

export const basePath = "/v2";

/** The path in the syntax of Fastify's router. */
export function routerPath({ path }: Endpoint): string {
  return basePath + path.replace(/\{(\w+)\}/g, ":$1");
}

/** Of Fastify's router and this one. Long parameters must reach their schema, which refuses them like any other malformed id. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: 100_000 };

/** Returns null if there is no such endpoint. */
export type FindEndpoint = (request: {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}) => Endpoint | null;

export function makeFindEndpoint(): FindEndpoint {
  const router = makeRouter(routerOptions);
  const rows = new Map<unknown, Endpoint>();
  for (const row of Object.values(endpoints)) {
    const handler = () => undefined;
    rows.set(handler, row);
    router.on(row.method, routerPath(row), handler);
  }
  return ({ method, url }) => {
    const found = isMethod(method) && url !== undefined ? router.find(method, url) : null;
    return rows.get(found?.handler) ?? null;
  };
}

const methods: ReadonlySet<unknown> = new Set(Object.values(endpoints).map(({ method }) => method));

function isMethod(method: string | undefined): method is Endpoint["method"] {
  return methods.has(method);
}
