/** The runtime of an environment: what runs its PHP. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { pattern, uuid } from "../schema.ts";

const params = Type.Object({ env_id: uuid("Id of the environment.") });
const phpVersion = (description: string) => Type.String({ description, examples: ["8.3"] });

export const getRuntime = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/runtime",
  tag: "Tools",
  summary: "Get an environment's runtime",
  description:
    "Returns the runtime of the environment, and all that this installation has: `playground`, PHP compiled to WebAssembly, and `native`, the PHP of the machine, which is faster.",
  params,
  responses: {
    200: result(
      ["environment"],
      "The runtime.",
      Type.Object({
        id: uuid("Id of the environment."),
        runtime: Type.String({ description: "The runtime in use.", examples: ["playground"] }),
        php_version: phpVersion("The PHP version in use."),
        available_runtimes: Type.Array(
          Type.Object({
            runtime: Type.String({ description: "Name of the runtime.", examples: ["native"] }),
            php_versions: Type.Array(phpVersion("A PHP version that it offers."), {
              description: "The PHP versions that it offers, oldest first.",
            }),
          }),
          { description: "The runtimes to which the environment can move, with the one in use." },
        ),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const RuntimeChange = Type.Object(
  {
    runtime: Type.String({
      minLength: 1,
      maxLength: 100,
      description: "The new runtime: one of `GET …/runtime`.",
      examples: ["native"],
    }),
    php_version: Type.Optional(
      Type.String({
        maxLength: 20,
        pattern: pattern("^(?:php)?\\d{1,2}\\.\\d{1,2}$", "must be a PHP version such as 8.3"),
        description: "The new PHP version: one that the new runtime offers. Default: the current one.",
        examples: ["8.3"],
      }),
    ),
  },
  { title: "RuntimeChange" },
);

export const changeRuntime = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/runtime",
  tag: "Tools",
  summary: "Move an environment to another runtime",
  description:
    "Tests the site under the new runtime while visitors still use the current one, makes a backup, and switches. Files and database stay in place. Visitors wait until the current runtime has finished its running requests, usually less than a second; no request fails. If the site does not answer under the new runtime, it stays under the current one, and the operation fails with PHP's own error as the reason. The site's region stays the same.",
  params,
  body: RuntimeChange,
  responses: { 202: { description: "The environment is being moved.", body: Accepted } },
  refusals: ["unknown_runtime", "unknown_php_version", "php_version_ended"],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "changeRuntime",
});
