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
    hours: Type.Integer({ minimum: 1, maximum: 24, description: "For how long updates may begin." }),
    time_zone: line(100, "Where the days and the time are meant.", "Europe/Berlin"),
  },
  { title: "UpdateWindow", description: "When updates may begin." },
);

const wishes = {
  plugins: Type.Boolean({ description: "Whether plugins get newer versions by themselves." }),
  themes: Type.Boolean({ description: "Whether themes do." }),
  vulnerable_within_hours: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 720,
      description:
        "Whatever is known to be vulnerable, and for which there is a version that is not, is updated within so many hours after that was known: in the window, or before it where that would be too late. Null: not for that reason.",
    }),
  ),
  except: Type.Array(line(200, "Slug.", "woocommerce"), {
    maxItems: 200,
    description: "Plugins and themes that are left alone, whatever is known of them.",
  }),
  window,
};

const AutomaticUpdates = Type.Object({ id: uuid("Id of the environment."), automatic_updates: Type.Object(wishes) });

export const getAutomaticUpdates = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/automatic-updates",
  tag: "Plugins and themes",
  summary: "What an environment updates by itself",
  description: "Nothing, where nobody has wished for it.",
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
  summary: "Replace what an environment updates by itself",
  description:
    "Updates are tried out beside the site, as those that somebody asks for are. All plugins, or themes, that are due are updated together; where that fails, each alone. What fails alone is tried again after a week, what is vulnerable after a day, or when there is another version. The wish belongs to the environment; a copy begins without one.",
  params: byId,
  body: Type.Object(wishes, { title: "AutomaticUpdatesWish" }),
  responses: {
    200: result(["environment"], "What is wished.", AutomaticUpdates),
  },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
