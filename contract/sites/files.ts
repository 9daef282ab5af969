/** The list of an environment's files. */
import { type TSchema, Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

const entry = {
  name: Type.String({ description: "Name of the file or folder.", examples: ["wp-content"] }),
  path: Type.String({ description: "Path relative to the site's root.", examples: ["/wp-content"] }),
  is_folder: Type.Boolean({ description: "Whether it is a folder." }),
};
const withChildren = <S extends TSchema>(child: S) =>
  Type.Object({ ...entry, children: Type.Array(child, { description: "Content of the folder; empty for a file." }) });

const exampleFiles = [
  {
    name: "wp-content",
    path: "/wp-content",
    is_folder: true,
    children: [{ name: "index.php", path: "/wp-content/index.php", is_folder: false, children: [] }],
  },
];

export const listFiles = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/file-list",
  tag: "Environments",
  summary: "List an environment's files",
  description:
    "Lists files and folders below the site's root, or below `path`, three levels deep and sorted by name. WordPress's core folders, which are shared between sites, are listed without their content. A `path` from this list can be used in `file_list` of a push, without its leading slash.",
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
        file_list: Type.Array(withChildren(withChildren(Type.Object(entry))), {
          description: "Files and folders.",
          examples: [exampleFiles],
        }),
      }),
    ),
  },
  refusals: ["too_many_files"],
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});
