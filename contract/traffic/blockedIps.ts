/** Blocked IP addresses of environments. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

const environmentId = uuid("Id of the environment.");

const maxBlockedIps = 1_000;

export const listDeniedIps = endpoint({
  method: "GET",
  path: "/sites/tools/denied-ips",
  tag: "Tools",
  summary: "List blocked IP addresses",
  description: "Returns addresses and networks in their shortest form, in the order in which they were sent.",
  query: Type.Object({ environment_id: environmentId }),
  responses: {
    200: result(
      ["environment"],
      "The list.",
      Type.Object({
        id: environmentId,
        ip_list: Type.Array(Type.String({ examples: ["203.0.113.7"] }), {
          description: "The blocked addresses and networks.",
        }),
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
  summary: "Replace the list of blocked IP addresses",
  description:
    "In force when this call returns: every request of a blocked visitor gets a short page with status 403. The whole list is replaced; an empty list blocks no one. If any entry is invalid, nothing is changed. Invalid are entries that are not an address or network, networks with bits set after the prefix, networks that contain all addresses, and the installation's own machine (`127.0.0.0/8`, `::1`). Clones start without a list; pushes, restores and resets do not change it.",
  body: Type.Object(
    {
      environment_id: environmentId,
      ip_list: Type.Array(Type.String({ maxLength: 64, examples: ["203.0.113.7", "2001:db8::/32"] }), {
        maxItems: maxBlockedIps,
        description:
          "Addresses (`203.0.113.7`, `2001:db8::1`) and networks (`203.0.113.0/24`, `2001:db8::/32`). Duplicates are removed.",
      }),
    },
    { title: "DeniedIps" },
  ),
  responses: {
    200: result(["result"], "The list is in force.", Type.Null({ description: "Always null." })),
  },
  refusals: ["not_an_address"],
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
});
