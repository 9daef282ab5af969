/** Search and replace in an environment's database. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { noNul, uuid } from "../schema.ts";

export const SearchAndReplace = Type.Object(
  {
    environment_id: uuid("Id of the environment."),
    search: Type.String({
      minLength: 1,
      maxLength: 2000,
      pattern: noNul,
      description: "Text to search for; literal and case-sensitive.",
      examples: ["old.example.com"],
    }),
    replace: Type.String({
      maxLength: 2000,
      pattern: noNul,
      description: "Replacement text; may be empty.",
      examples: ["new.example.com"],
    }),
    perform_replacement: Type.Optional(
      Type.Boolean({ default: false, description: "Replace the matches. False: only count them and change nothing." }),
    ),
    is_clear_cache: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Ignored: caches are always cleared after a replacement.",
      }),
    ),
  },
  { title: "SearchAndReplace" },
);

export const searchAndReplace = endpoint({
  method: "POST",
  path: "/sites/tools/search-and-replace",
  tag: "Tools",
  summary: "Search and replace in the database",
  description:
    "Without `perform_replacement` this is a preview: nothing is changed, and the operation's `data.result` lists what would be replaced. With it, the environment is backed up (`system-generated`), the text is replaced in a copy of the database, the site is tested with the copy, and the copy is switched live if the site answers. Writes are refused meanwhile. All text columns are searched, including `guid`, except keys, passwords, sessions and application passwords. Serialized values and JSON stay valid at any depth; matches whose replacement would break a value (class names, damaged values) are not replaced and are counted as `skipped`. A replacement that would change the site's own address fails; `addresses` in the preview lists such changes. `data.result` is `{performed, rows, occurrences, places: [{table, column, rows, occurrences}], skipped: {occurrences, listed: [{table, column, row, occurrences}]}, addresses: [{place, from, to}]}`.",
  body: SearchAndReplace,
  responses: { 202: { description: "The search has started.", body: Accepted } },
  refusals: ["nothing_to_replace"],
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  operation: "searchAndReplace",
});
