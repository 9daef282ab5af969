/** The state of the installation, for its operators. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, dateTime, nullable } from "../schema.ts";

const bytes = (description: string) =>
  Type.Number({ minimum: 0, description: `${description} Bytes.`, examples: [1_234_567_890] });
const seconds = (description: string) =>
  Type.Number({ minimum: 0, description: `${description} Seconds.`, examples: [42] });

const Installation = Type.Object(
  {
    versions: Type.Object({
      sitewright: Type.String({ description: "Version of Sitewright.", examples: ["0.1.0"] }),
      node: Type.String({ description: "Version of Node.", examples: ["24.21.0"] }),
      database: Type.String({ description: "Version of PostgreSQL.", examples: ["18.1"] }),
      platform: Type.String({ description: "Operating system and processor.", examples: ["linux x64"] }),
    }),
    processes: Type.Array(
      Type.Object({
        name: Type.Enum(["control", "edge", "dns", "database"], {
          description:
            "`control`: the API and operations. `edge`: serves visitors. `dns`: the DNS server, or the client of PowerDNS.",
        }),
        answers: Type.Boolean({ description: "Whether it answers." }),
        memory_bytes: nullable(bytes("Memory in use; null: unknown.")),
        running_seconds: nullable(seconds("How long it has run; null: unknown.")),
      }),
      { description: "The processes of the installation." },
    ),
    workers: nullable(
      Type.Object(
        {
          maximum: count("PHP processes that may run at once.", 8),
          busy: count("PHP processes that answer a request.", 2),
          idle: count("PHP processes of a site that wait for a request.", 3),
          prepared: count("PHP processes that wait for a site.", 2),
        },
        { description: "PHP processes; null: the edge does not answer." },
      ),
    ),
    disk: Type.Object({
      total_bytes: bytes("Size of the disk with the data folder."),
      free_bytes: bytes("Free space."),
      environments_bytes: bytes("All environments together, as last measured."),
      database_bytes: bytes("The installation's own database."),
    }),
    content: Type.Object({
      companies: count("Number of companies.", 3),
      sites: count("Number of sites.", 120),
      environments: count("Number of environments.", 150),
    }),
    queue: Type.Object(
      {
        waiting: count("Operations that wait for their turn.", 0),
        running: count("Operations that run now.", 1),
        longest_wait_seconds: seconds("How long the first of those that wait has waited."),
        succeeded: count("Operations that succeeded in the last 24 hours.", 42),
        failed: count("Operations that failed in the last 24 hours.", 0),
      },
      { description: "Operations of all companies." },
    ),
    archives: Type.Object(
      {
        backups: count("Number of backups.", 1_200),
        stored_bytes: bytes("What they take in the archive store, where equal pieces are stored once."),
        oldest_newest_seconds: seconds("Age of the newest backup of the environment whose newest one is oldest."),
        pending: count("Environments that wait for their first backup.", 0),
        missing: count("Environments whose first backup is overdue.", 0),
        failing: count("Environments whose last scheduled backup failed.", 0),
        damaged: count("Backups that are damaged, or failed their test restore.", 0),
      },
      { description: "Backups of all companies." },
    ),
    findings: Type.Array(
      Type.Object({
        level: Type.Enum(["ok", "note", "problem"], { description: "`problem`: something to be mended." }),
        text: Type.String({ description: "What was found, and what to do.", examples: ["Disk: 40 GB free."] }),
      }),
      { description: "What `operator doctor` finds about the machine and the settings." },
    ),
    findings_at: dateTime("When that was examined; at most about a minute ago."),
  },
  { title: "Installation" },
);

export const getInstallation = endpoint({
  method: "GET",
  path: "/operator/installation",
  tag: "Operator",
  summary: "Get the state of the installation",
  description:
    "Only for sessions of users who are operators (`is_operator` of `GET /session`): the owner of the first company, and those whom `operator users make-operator` has made one. For others, it is a 404.",
  responses: { 200: result(["installation"], "The state of the installation.", Installation) },
  verb: "read",
  resource: { kind: "session" },
  isHidden: true,
});
