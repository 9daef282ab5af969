/** Addresses that an environment doesn't answer. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

const environmentId = uuid("Id of the environment.");

export const mostDeniedIps = 1_000;

export const listDeniedIps = endpoint({
  method: "GET",
  path: "/sites/tools/denied-ips",
  tag: "Tools",
  summary: "List the addresses that an environment does not answer",
  description: "Each as short as it can be written, in the order in which they were sent.",
  query: Type.Object({ environment_id: environmentId }),
  responses: {
    200: result(
      ["environment"],
      "The list.",
      Type.Object({
        id: environmentId,
        ip_list: Type.Array(Type.String({ examples: ["203.0.113.7"] })),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "query.environment_id" },
});

export const replaceDeniedIps = endpoint({
  method: "PUT",
  path: "/sites/tools/denied-ips",
  tag: "Tools",
  summary: "Replace the addresses that an environment does not answer",
  description:
    "The whole list; an empty one denies nobody. Visitors from there get a short page with the status 403, whatever they ask for, from the moment of this answer on. What is no address or network is refused, and nothing is changed; so is a network in whose address bits behind the prefix are set, one that holds everybody, and one that holds the installation's own machine (`127.0.0.0/8`, `::1`). The list belongs to the environment: a copy begins without one, and a push, a restore or a reset changes none.",
  body: Type.Object(
    {
      environment_id: environmentId,
      ip_list: Type.Array(Type.String({ maxLength: 64, examples: ["203.0.113.7", "2001:db8::/32"] }), {
        maxItems: mostDeniedIps,
        description:
          "Addresses (`203.0.113.7`, `2001:db8::1`) and networks (`203.0.113.0/24`, `2001:db8::/32`). Those that mean the same are kept once.",
      }),
    },
    { title: "DeniedIps" },
  ),
  responses: {
    200: result(["result"], "The list is in force.", Type.Null()),
  },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
});
