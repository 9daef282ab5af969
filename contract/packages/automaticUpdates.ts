/** Newer versions of plugins and themes that an environment gets by itself. */
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
      description: "On which it opens.",
      examples: [["tuesday", "thursday"]],
    }),
    start: Type.String({
      pattern: pattern("^([01][0-9]|2[0-3]):[0-5][0-9]$", "must be a time of day such as 02:30"),
      description: "When it opens.",
      examples: ["02:00"],
    }),
    hours: Type.Integer({ minimum: 1, maximum: 24, description: "Length of the window in hours." }),
    time_zone: line(100, "Time zone of days and time.", "Europe/Berlin"),
  },
  { title: "UpdateWindow", description: "When updates may start." },
);

const wishes = {
  plugins: Type.Boolean({ description: "Update plugins automatically." }),
  themes: Type.Boolean({ description: "Whether themes do." }),
  vulnerable_within_hours: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 720,
      description:
        "Update packages with a known vulnerability and a fixed version within this many hours: in the window, or before it if the window would be too late. Null: don't.",
    }),
  ),
  except: Type.Array(line(200, "Slug.", "woocommerce"), {
    maxItems: 200,
    description: "Plugins and themes that are never updated automatically.",
  }),
  window,
};

const AutomaticUpdates = Type.Object({ id: uuid("Id of the environment."), automatic_updates: Type.Object(wishes) });

export const getAutomaticUpdates = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/automatic-updates",
  tag: "Plugins and themes",
  summary: "Get automatic updates",
  description: "Off unless configured.",
  params: byId,
  responses: {
    200: result(["environment"], "What is wished.", AutomaticUpdates),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const replaceAutomaticUpdates = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/automatic-updates",
  tag: "Plugins and themes",
  summary: "Set automatic updates",
  description:
    "Automatic updates are tested on a copy like requested ones. All due plugins (or themes) are updated together; if that fails, one by one. A failed update is retried after a week (after a day if vulnerable) or when another version appears. The setting belongs to the environment; clones start without it.",
  params: byId,
  body: Type.Object(wishes, { title: "AutomaticUpdatesWish" }),
  responses: {
    200: result(["environment"], "What is wished.", AutomaticUpdates),
  },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
