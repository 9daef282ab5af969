/** SQL statements that an environment's database refused although MySQL has them. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, milliseconds, nullable, uuid } from "../schema.ts";

const RefusedStatement = Type.Object(
  {
    reason: Type.String({ description: "What the database can't do.", examples: ["This database has no triggers"] }),
    plugin: nullable(
      Type.String({
        description: "Folder of the plugin that sent the statements. Null: another script, such as a theme.",
        examples: ["updraftplus"],
      }),
    ),
    count: count("Number of refused statements.", 12),
    first_refused_at: milliseconds("When the first one was refused.", 1795190400000),
    last_refused_at: milliseconds("When the latest one was refused.", 1795276800000),
    latest_statement: Type.String({
      description: "The latest statement, at most 500 characters.",
      examples: ["CREATE TRIGGER t BEFORE INSERT ON wp_posts FOR EACH ROW SET NEW.post_title = ''"],
    }),
  },
  { title: "RefusedStatement" },
);

export const listRefusedStatements = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/refused-statements",
  tag: "Logs",
  summary: "List statements that the database refused",
  description:
    "Counts the SQL statements in the error log that work on MySQL but not on the environment's database, by plugin and reason, the latest first. A plugin that depends on them needs a host with MySQL or MariaDB: create a download with `POST …/downloads`, whose database is a dump for both. Empty: all plugins work with this database as far as they have been used. The log is kept for 30 days, up to 50 MB.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  responses: {
    200: result(
      ["environment"],
      "The refused statements.",
      Type.Object({
        refused_statements: Type.Array(RefusedStatement),
        is_complete: Type.Boolean({
          description: "False if the log has more refused statements than could be counted.",
          examples: [true],
        }),
      }),
    ),
  },
  refusals: [],
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});
