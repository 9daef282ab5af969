/** The activity log of the demo. */
import { send } from "./events.ts";
import { signedInPerson } from "./find.ts";
import type { ActivityCategory, ActivityEntry, Recorded, World } from "./world.ts";

interface Action {
  readonly type: string;
  readonly category?: ActivityCategory;
  readonly siteId?: string | null;
  readonly isDone?: boolean;
  /** In English, for people. */
  readonly text: string;
}

/** Adds an entry about an action of the signed-in person. Returns it. */
export function record(
  world: World,
  { type, category = "siteActions", siteId = null, isDone = true, text }: Action,
): Recorded {
  const person = signedInPerson(world);
  world.lastNumber += 1;
  const recorded: Recorded = {
    category,
    entry: {
      id: world.lastNumber,
      site_id: siteId,
      created_at: world.clock.now(),
      is_done: isDone,
      has_failed: false,
      has_warning: false,
      type,
      public_error: null,
      ip_address: "203.0.113.7",
      initiated_by: {
        id: person.id,
        role: person.access.role,
        full_name: person.fullName,
        first_name: person.fullName.split(" ")[0] ?? "",
      },
      user_agent_info: { browser_name: "This browser", browser_version: null, os_name: null },
      api_key_info: null,
      descriptions: [text],
    },
  };
  world.activity.unshift(recorded);
  send(world, "activity.recorded", { id: recorded.entry.id, site_id: siteId, category, type });
  return recorded;
}

/** Replaces the entry by one with its end. `problem`: why it failed. */
export function finish(world: World, { entry: { id } }: Recorded, problem: string | null): void {
  const at = world.activity.findIndex(({ entry }) => entry.id === id);
  const recorded = world.activity[at];
  if (recorded === undefined) return;
  const ended: ActivityEntry = {
    ...recorded.entry,
    is_done: true,
    has_failed: problem !== null,
    public_error: problem,
  };
  world.activity[at] = { ...recorded, entry: ended };
}
