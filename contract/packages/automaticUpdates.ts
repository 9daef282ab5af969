/** Automatic updates of an environment's plugins and themes. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { line, nullable, pattern, uuid } from "../schema.ts";

const byId = Type.Object({ env_id: uuid("Id of the environment.") });

export const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

const window = Type.Object(
  {
    days: Type.Array(Type.Enum([...weekdays]), {
      minItems: 1,
      maxItems: 7,
      description: "Days of the week on which the window opens.",
      examples: [["tuesday", "thursday"]],
    }),
    start: Type.String({
      pattern: pattern("^([01][0-9]|2[0-3]):[0-5][0-9]$", "must be a time of day such as 02:30"),
      description: "Time of day at which it opens, `hh:mm`.",
      examples: ["02:00"],
    }),
    hours: Type.Integer({ minimum: 1, maximum: 24, description: "Length of the window in hours." }),
    time_zone: line(100, "Time zone of `days` and `start`, such as `Europe/Berlin` or `UTC`.", "Europe/Berlin"),
  },
  { title: "UpdateWindow", description: "The weekly window in which updates may start." },
);

const settings = {
  plugins: Type.Boolean({ description: "Update plugins automatically." }),
  themes: Type.Boolean({ description: "Update themes automatically." }),
  vulnerable_within_hours: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 720,
      description:
        "Time limit for updating plugins and themes with a known vulnerability once a fixed version is available, in hours. They are updated in the window, or earlier if the window would be too late. Null: no such updates.",
    }),
  ),
  except: Type.Array(line(200, "Slug of a plugin or theme.", "woocommerce"), {
    maxItems: 200,
    description: "Plugins and themes that are never updated automatically.",
  }),
  window,
};

const AutomaticUpdates = Type.Object({ id: uuid("Id of the environment."), automatic_updates: Type.Object(settings) });

export const getAutomaticUpdates = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/automatic-updates",
  tag: "Plugins and themes",
  summary: "Get the settings of automatic updates",
  description: "Automatic updates are off by default.",
  params: byId,
  responses: {
    200: result(["environment"], "The settings.", AutomaticUpdates),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const replaceAutomaticUpdates = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/automatic-updates",
  tag: "Plugins and themes",
  summary: "Replace the settings of automatic updates",
  description:
    "Automatic updates are tested on a copy, like requested ones. All plugins (or themes) that are due are updated together; if that fails, one by one. A failed update is retried after a week (after a day if the installed version is vulnerable), or when another version appears. Clones do not copy these settings.",
  params: byId,
  body: Type.Object(settings, { title: "AutomaticUpdatesReplace" }),
  responses: {
    200: result(["environment"], "The settings.", AutomaticUpdates),
  },
  refusals: ["unknown_time_zone"],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
