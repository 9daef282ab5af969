/** Changing an environment's PHP version, and restarting PHP. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { pattern, uuid } from "../schema.ts";

const environmentId = uuid("Id of the environment.");

export const PhpVersionChange = Type.Object(
  {
    environment_id: environmentId,
    php_version: Type.String({
      maxLength: 20,
      pattern: pattern("^(?:php)?\\d{1,2}\\.\\d{1,2}$", "must be a PHP version such as 8.3"),
      description: "PHP version: one of `GET /company/{id}/available-php-versions`. `php8.3` means `8.3`.",
      examples: ["8.3"],
    }),
    is_opt_out_from_automatic_php_update: Type.Optional(
      Type.Boolean({
        description: "Stay on this version after its end of life. Default: the current setting.",
      }),
    ),
  },
  { title: "PhpVersionChange" },
);

export const modifyPhpVersion = endpoint({
  method: "PUT",
  path: "/sites/tools/modify-php-version",
  tag: "Tools",
  summary: "Change an environment's PHP version",
  description:
    "Tests the site on the new version, and switches it if it answers. If not, nothing is changed, and the operation fails with PHP's own error as the reason.",
  body: PhpVersionChange,
  responses: { 202: { description: "The version is being changed.", body: Accepted } },
  refusals: ["unknown_php_version", "php_version_ended"],
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
  operation: "modifyPhpVersion",
});

export const restartPhp = endpoint({
  method: "POST",
  path: "/sites/tools/restart-php",
  tag: "Tools",
  summary: "Restart PHP",
  description: "Restarts PHP gracefully: running requests finish first.",
  body: Type.Object({ environment_id: environmentId }, { title: "PhpRestart" }),
  responses: { 202: { description: "PHP is being restarted.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
  operation: "restartPhp",
});
