/** Checks the calling API key. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { nullable, uuid } from "../schema.ts";

export const validateKey = endpoint({
  method: "GET",
  path: "/validate",
  tag: "Authentication",
  summary: "Check an API key",
  description: "Returns the calling key's name, expiry and company. An invalid key gets a 401.",
  responses: {
    200: result(
      [],
      "The key is valid.",
      Type.Object(
        {
          name: Type.String({ description: "Name of the key.", examples: ["Deploy"] }),
          expires_at: nullable(
            Type.String({
              description: "When it expires, in milliseconds since 1970 as a string; null: never.",
              examples: ["1798761600000"],
            }),
          ),
          company: uuid("Id of the company."),
          status: Type.String({ description: "Always `active`.", examples: ["active"] }),
        },
        { title: "ValidatedKey" },
      ),
    ),
  },
  verb: "read",
  resource: { kind: "key" },
});
