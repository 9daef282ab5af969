/** Events: what happens in a company, while it happens. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { uuid } from "../schema.ts";

const operation =
  "the operation as in `GET /operations`: `operation_id`, `state`, `kind`, `step`, `steps_done`, `steps_total`, `created_at`, `started_at`, `finished_at`, `message`, `idSite` and `idEnv`";
const site = "`site_id`, `name` and `display_name`";
const environment = "`environment_id`, `site_id`, `name` and `display_name`";
const domain = "`domain_id`, `environment_id`, `site_id` and `name`";
const backup = "`backup_id`, `environment_id`, `site_id`, `name` and `type`";

/** When each type of event is sent, and what its `data` has. */
export const eventTypes = {
  "operation.started": { when: "An operation was accepted.", data: operation },
  "operation.progress": { when: "It begins a step, waits for other operations, or no longer waits.", data: operation },
  "operation.succeeded": { when: "It has succeeded.", data: operation },
  "operation.failed": { when: "It has failed; `message` says why.", data: operation },
  "site.created": { when: "A site was created or restored, and can be visited.", data: site },
  "site.deleted": { when: "A site was deleted.", data: site },
  "environment.created": { when: "An environment was created or restored.", data: environment },
  "environment.changed": {
    when: "The state, a version or a setting of an environment has changed.",
    data: environment,
  },
  "environment.deleted": { when: "An environment was deleted.", data: environment },
  "domain.added": { when: "A domain was added.", data: domain },
  "domain.verified": { when: "The company has proven that it owns a domain.", data: domain },
  "domain.changed": {
    when: "A domain is served or no longer, points here for the first time, became primary, moved, or got HTTPS.",
    data: domain,
  },
  "domain.deleted": { when: "A domain was removed.", data: domain },
  "backup.created": { when: "A backup is complete.", data: backup },
  "backup.verified": { when: "A test restore of a backup has succeeded.", data: backup },
  "backup.damaged": { when: "Parts of a backup are damaged or lost.", data: backup },
  "backup.deleted": { when: "A backup was removed or has expired.", data: backup },
  "vulnerability.found": {
    when: "An installed plugin or theme turned out to be vulnerable.",
    data: "`environment_id`, `site_id`, `kind`, `name`, `title` and `version`",
  },
  "activity.recorded": {
    when: "The activity log has a new entry, whatever it is about.",
    data: "`id`, `site_id`, `category` and `type`",
  },
} as const;

/** How long events are kept for clients that connect again, in hours. */
export const eventRetentionHours = 24;

const list = Object.entries(eventTypes)
  .map(([type, { when, data }]) => `- \`${type}\`: ${when} \`data\` has ${data}.`)
  .join("\n");

const example = `id: 1795190400001
event: site.created
data: {"type":"site.created","timestamp":"2026-11-28T12:00:00.000Z","data":{"site_id":"54fb80af-576c-4fdc-ba4f-b596c83f15a1","name":"demo","display_name":"Demo"}}

`;

export const listEvents = endpoint({
  method: "GET",
  path: "/company/{id}/events",
  tag: "Events",
  summary: "Follow what happens in a company",
  description: `Server-sent events: the response stays open, and each event is sent when it happens. Callers who are limited to some sites get only the events of these.

\`data\` is a JSON object with \`type\`, \`timestamp\` and \`data\`. Ids increase. Events are kept for ${eventRetentionHours} hours: a client that connects again with the id of its last event, as browsers do by themselves, gets all later ones, each once. Without an id, it gets those from now on. If the id is older or unknown, the event \`reset\` comes first: events were missed, so read again what you need to know.

Every 20 seconds there is a sign of life. The response ends when the key or session does; a client that does not read for long is disconnected. A key or session can follow 20 times, and a company 200 times, else the call returns 429.

The types:

${list}

Later versions may add types and fields.`,
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    last_event_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "Id of the last event that the client has, if it can't send the header `Last-Event-ID`.",
        examples: ["1795190400001"],
      }),
    ),
    follow: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "`false`: the response ends after the events that there are, for clients that ask from time to time.",
      }),
    ),
  }),
  responses: {
    200: {
      description: "The events.",
      body: Type.String(),
      mediaTypes: { "text/event-stream": example },
    },
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
