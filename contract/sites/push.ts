/** Copying one environment of a site over another. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { uuid } from "../schema.ts";

const flag = (description: string, standard: boolean) =>
  Type.Optional(Type.Boolean({ default: standard, description }));

export const Push = Type.Object(
  {
    source_env_id: uuid("Id of the environment to copy from."),
    target_env_id: uuid("Id of the environment to copy to.", "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53"),
    push_db: flag("Whether the source's database replaces the target's.", true),
    push_files: flag("Whether the source's files replace the target's.", true),
    run_search_and_replace: flag(
      "Whether to replace the source's address by the target's in everything that is pushed, including serialized and JSON values.",
      true,
    ),
    push_files_option: Type.Optional(
      Type.Enum(["ALL_FILES", "SPECIFIC_FILES"], {
        default: "ALL_FILES",
        description: "All files, or those in `file_list`. Files that are not pushed stay as they are on the target.",
      }),
    ),
    file_list: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
        maxItems: 10_000,
        description:
          "With `SPECIFIC_FILES`: files and folders, relative to the site's root. Folders are replaced completely.",
        examples: [["wp-content/themes/garden"]],
      }),
    ),
    push_tables: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 1_000,
        minItems: 1,
        description: "Only push these database tables; the others stay as they are on the target. Default: all tables.",
        examples: [["wp_posts", "wp_postmeta"]],
      }),
    ),
    dry_run: flag("Change nothing; the operation's result lists what would change and what would be lost.", false),
  },
  { title: "Push" },
);

export const pushEnvironment = endpoint({
  method: "PUT",
  path: "/sites/{site_id}/environments",
  tag: "Environments",
  summary: "Push an environment",
  description:
    "Copies an environment of the site over another: database, files, or parts of them. The result is built next to the target and tested, then switched live at once. The target is backed up first, and writes to it are refused for a moment so that none is lost. If anything fails, the target stays as it was.",
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  body: Push,
  responses: { 202: { description: "The environment is being pushed.", body: Accepted } },
  verb: "push",
  resource: { kind: "site", from: "params.site_id" },
  operation: "pushEnvironment",
});
