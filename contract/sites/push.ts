/** Pushing: copying an environment of a site over another one. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { uuid } from "../schema.ts";

const flag = (description: string, defaultValue: boolean) =>
  Type.Optional(Type.Boolean({ default: defaultValue, description }));

export const Push = Type.Object(
  {
    source_env_id: uuid("Id of the environment to copy from."),
    target_env_id: uuid("Id of the environment to copy to.", "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53"),
    push_db: flag("Replace the target's database with the source's.", true),
    push_files: flag("Replace the target's files with the source's.", true),
    run_search_and_replace: flag(
      "Replace the source's address with the target's in everything that is pushed, including serialized and JSON values.",
      true,
    ),
    push_files_option: Type.Optional(
      Type.Enum(["ALL_FILES", "SPECIFIC_FILES"], {
        default: "ALL_FILES",
        description: "Push all files, or only those in `file_list`; the target's other files stay as they are.",
      }),
    ),
    file_list: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
        maxItems: 10_000,
        description:
          "Only with `SPECIFIC_FILES`: paths of files and folders, relative to the site's root. Folders are replaced completely.",
        examples: [["wp-content/themes/garden"]],
      }),
    ),
    push_tables: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 1_000,
        minItems: 1,
        description:
          "Push only these database tables; the target's other tables stay as they are. Default: all tables.",
        examples: [["wp_posts", "wp_postmeta"]],
      }),
    ),
    dry_run: flag(
      "Change nothing. The operation's result lists what a push would change, and what would be lost.",
      false,
    ),
  },
  {
    title: "Push",
    examples: [
      {
        source_env_id: "54fb80af-576c-4fdc-ba4f-b596c83f15a1",
        target_env_id: "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53",
        dry_run: true,
      },
    ],
  },
);

export const pushEnvironment = endpoint({
  method: "PUT",
  path: "/sites/{site_id}/environments",
  tag: "Environments",
  summary: "Push an environment",
  description:
    "Copies an environment of the site over another one: database, files, or parts of them. The result is built next to the target and tested while the target is backed up; then it is switched live at once. Writes to the target are refused for a moment so that none are lost. If anything fails, the target stays as it was.",
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  body: Push,
  responses: { 202: { description: "The environment is being pushed.", body: Accepted } },
  refusals: ["push_to_itself", "nothing_to_push", "file_list_missing", "file_outside_root", "not_of_this_site"],
  verb: "push",
  resource: { kind: "site", from: "params.site_id" },
  operation: "pushEnvironment",
  dryRunOperation: "comparePush",
});
