/** Replacing a text everywhere in an environment's database. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { pattern, uuid } from "../schema.ts";

const noNul = pattern("^[^\\u0000]*$", "must be without the character U+0000");

export const SearchAndReplace = Type.Object(
  {
    environment_id: uuid("Id of the environment."),
    search: Type.String({
      minLength: 1,
      maxLength: 2000,
      pattern: noNul,
      description: "What is looked for: literally, with capitals and small letters told apart.",
      examples: ["old.example.com"],
    }),
    replace: Type.String({
      maxLength: 2000,
      pattern: noNul,
      description: "What comes in its place; may be empty.",
      examples: ["new.example.com"],
    }),
    perform_replacement: Type.Optional(
      Type.Boolean({ default: false, description: "False: only counts what would be replaced, and changes nothing." }),
    ),
    is_clear_cache: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Accepted, and makes no difference: after a replacement nothing old is served anyway. Pages are made for each visitor, and what WordPress itself remembers stands in the database in which the text is replaced.",
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
    "Without `perform_replacement` a preview: nothing is changed, and `data.result` of the operation tells what would be. With it the environment is backed up (`system-generated`), the text is replaced in a copy of the database, the site is tried out with it, and only a site that answers takes the place of the present one; nothing can be written meanwhile. `data.result` is `{performed, rows, occurrences, places: [{table, column, rows, occurrences}], skipped: {occurrences, listed: [{table, column, row, occurrences}]}, addresses: [{place, from, to}]}`. Serialised values and JSON stay right, however deep; what is found where replacing would break one (in the name of a class, in a damaged value) is left and counted as `skipped`. Looked at is every column of text, `guid` included; not keys, passwords, sessions and application passwords. A replacement by which the site would no longer be at its address fails; `addresses` of a preview tells beforehand.",
  body: SearchAndReplace,
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  operation: "searchAndReplace",
});
