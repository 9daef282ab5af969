/** The files of an environment, by name. */
import { type TSchema, Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

const entry = {
  name: Type.String({ examples: ["wp-content"] }),
  path: Type.String({ description: "From the site's root.", examples: ["/wp-content"] }),
  is_folder: Type.Boolean({ description: "Whether it is a folder." }),
};
const withChildren = <S extends TSchema>(child: S) => Type.Object({ ...entry, children: Type.Array(child) });

export const listFiles = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/file-list",
  tag: "Environments",
  summary: "List an environment's files",
  description:
    "Files and folders below the site's root, or below `path`, three levels deep and sorted by name. For `file_list` of a push, use a `path` without its leading slash. WordPress's core folders, which are shared between sites, are shown without their content.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: Type.Object({
    path: Type.Optional(
      Type.String({
        maxLength: 4_096,
        default: "/",
        description: "The folder to list, relative to the site's root.",
        examples: ["/wp-content/uploads"],
      }),
    ),
  }),
  responses: {
    200: result(
      ["environment"],
      "The files.",
      Type.Object({
        id: uuid("Id of the environment."),
        file_list: Type.Array(withChildren(withChildren(Type.Object(entry)))),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});
