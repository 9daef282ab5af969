/** The PHP versions that environments can run. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

export const listPhpVersions = endpoint({
  method: "GET",
  path: "/company/{id}/available-php-versions",
  tag: "PHP versions",
  summary: "List PHP versions",
  description: "Lists the PHP versions that a region offers, oldest first. New sites in it get the default.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    region: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: "The region: one of `GET /company/{id}/available-regions`. Default: the first of them.",
        examples: ["this-machine"],
      }),
    ),
  }),
  responses: {
    200: result(
      ["company", "available_php_versions"],
      "The versions.",
      Type.Array(
        Type.Object(
          {
            php_version: Type.String({ description: "The version.", examples: ["8.3"] }),
            php_engine_version: Type.String({
              description: "The version in the form used in `container_info`.",
              examples: ["php8.3"],
            }),
            is_default: Type.Boolean({ description: "Whether it is the default for new sites.", examples: [true] }),
            has_ended: Type.Boolean({
              description:
                "Whether the version has reached its end of life: environments are then moved to a newer one, unless they opt out of automatic PHP updates.",
            }),
          },
          { title: "AvailablePhpVersion" },
        ),
      ),
    ),
  },
  refusals: ["unknown_region"],
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "open" },
});
