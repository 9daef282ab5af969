/** Which key is this? */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { nullable, uuid } from "../schema.ts";

export const validateKey = endpoint({
  method: "GET",
  path: "/validate",
  tag: "Authentication",
  summary: "Check an API key",
  description: "Tells which key made the request and which company it belongs to. An invalid key gets a 401.",
  responses: {
    200: result(
      [],
      "The key works.",
      Type.Object(
        {
          name: Type.String({ description: "Name of the key.", examples: ["Deploy"] }),
          expires_at: nullable(
            Type.String({
              description: "Milliseconds since 1970 as a string; null = never.",
              examples: ["1798761600000"],
            }),
          ),
          company: uuid("Id of the company."),
          status: Type.String({ examples: ["active"] }),
        },
        { title: "ValidatedKey" },
      ),
    ),
  },
  verb: "read",
  resource: { kind: "key" },
});
