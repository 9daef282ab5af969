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
      "Whether the source's address becomes the target's wherever it stands in what is pushed, in serialised and JSON values too.",
      true,
    ),
    push_files_option: Type.Optional(
      Type.Enum(["ALL_FILES", "SPECIFIC_FILES"], {
        default: "ALL_FILES",
        description: "All files, or those of `file_list`; whatever is not pushed stays the target's own.",
      }),
    ),
    file_list: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
        maxItems: 10_000,
        description:
          "With `SPECIFIC_FILES`: files and folders, relative to the site's root. A folder is replaced whole.",
        examples: [["wp-content/themes/garden"]],
      }),
    ),
    push_tables: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 1_000,
        minItems: 1,
        description: "Only these tables of the database; the others stay the target's own. Without it, all.",
        examples: [["wp_posts", "wp_postmeta"]],
      }),
    ),
    dry_run: flag("Changes nothing: the operation's result says what would change and what would be lost.", false),
  },
  { title: "Push" },
);

export const pushEnvironment = endpoint({
  method: "PUT",
  path: "/sites/{site_id}/environments",
  tag: "Environments",
  summary: "Push an environment",
  description:
    "Copies one environment of the site over another: its database, its files, or parts of them. The result is built beside the target and tried out; then visitors are moved to it at once. Until then the target is backed up, and what would be written to it is refused for a moment rather than lost. If anything fails, the target stays as it was.",
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  body: Push,
  responses: { 202: { description: "The environment is being pushed.", body: Accepted } },
  verb: "push",
  resource: { kind: "site", from: "params.site_id" },
  operation: "pushEnvironment",
});
