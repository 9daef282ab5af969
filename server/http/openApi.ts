/** `GET /v2/openapi.json`: the contract's document, with the address that the client used as the server's address. */
import { openApiDocument } from "@sitewright/contract/openapi.ts";
import type { FastifyInstance } from "fastify";
import { originOf } from "./paths.ts";

/** Stands for the server's address, so that the document is serialised only once. */
const placeholder = "https://origin.invalid";

export function serveOpenApi(server: FastifyInstance, basePath: string): void {
  const document = JSON.stringify(openApiDocument(placeholder));
  server.get(`${basePath}/openapi.json`, (request, reply) =>
    reply.type("application/json; charset=utf-8").send(document.replace(placeholder, originOf(request))),
  );
}
