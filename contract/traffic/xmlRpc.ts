/** WordPress's XML-RPC interface of environments. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

const environmentId = uuid("Id of the environment.");

const isEnabled = Type.Boolean({ description: "Whether `/xmlrpc.php` can be used. Default: false.", examples: [true] });

export const getXmlRpc = endpoint({
  method: "GET",
  path: "/sites/tools/xml-rpc",
  tag: "Tools",
  summary: "Get the XML-RPC setting",
  description: "Returns whether WordPress's XML-RPC interface (`/xmlrpc.php`) can be used.",
  query: Type.Object({ environment_id: environmentId }),
  responses: {
    200: result(["environment"], "The setting.", Type.Object({ id: environmentId, is_enabled: isEnabled }), {
      title: "XmlRpc",
    }),
  },
  verb: "read",
  resource: { kind: "environment", from: "query.environment_id" },
});

export const updateXmlRpc = endpoint({
  method: "PUT",
  path: "/sites/tools/xml-rpc",
  tag: "Tools",
  summary: "Turn XML-RPC on or off",
  description:
    "In force when this call returns. Turn it on for Jetpack, the WordPress mobile app with a password, and other programs that need it; while it is off, requests get status 403. Failed logins are limited in either case. Clones start with it off; pushes, restores and resets do not change it.",
  body: Type.Object({ environment_id: environmentId, is_enabled: isEnabled }, { title: "XmlRpcChange" }),
  responses: {
    200: result(["result"], "The setting is in force.", Type.Null({ description: "Always null." })),
  },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
});
