/** The automatic updates of an environment: which packages, and when. */
import { type replaceAutomaticUpdates, weekdays } from "@sitewright/contract/packages/automaticUpdates.ts";
import {
  type AutomaticUpdateSettings,
  findAutomaticUpdates,
  setAutomaticUpdates,
} from "@sitewright/server/store/packages/automaticUpdates.ts";
import { isTimeZone } from "@sitewright/server/updateWindow.ts";
import type { Static } from "typebox";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { requireEnvironment } from "../sites/environmentOperations.ts";

type ReplaceRequest = Static<(typeof replaceAutomaticUpdates)["body"]>;

const everyDay = weekdays.map((_, day) => day);

/** Off. The window is at night, when sites have few visitors. */
const defaultUpdates: AutomaticUpdateSettings = {
  plugins: false,
  themes: false,
  vulnerable_within_hours: null,
  except_names: [],
  days: everyDay,
  start_minute: 120,
  hours: 3,
  time_zone: "UTC",
};

export async function get({ database }: Context, environmentId: string) {
  const found = await findAutomaticUpdates(database, environmentId);
  if (found === null) throw new NotFound();
  return { id: found.id, automatic_updates: view(found.settings ?? defaultUpdates) };
}

export function replace(context: Context, environmentId: string, request: ReplaceRequest) {
  const { time_zone } = request.window;
  if (!isTimeZone(time_zone)) {
    const message = `The time zone ${time_zone} is unknown. Send a name such as Europe/Berlin, or UTC.`;
    throw new Refused("unknown_time_zone", message, { time_zone });
  }
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const stored = storedForm(request);
    await setAutomaticUpdates(transaction, environment.id, stored);
    await recordDone(context, transaction, {
      type: "replaceAutomaticUpdates",
      category: "siteActions",
      siteId: environment.site_id,
      parameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
    return { id: environment.id, automatic_updates: view(stored) };
  });
}

function storedForm({ window, except, ...rest }: ReplaceRequest): AutomaticUpdateSettings {
  const [hours = 0, minutes = 0] = window.start.split(":").map(Number);
  return {
    ...rest,
    except_names: [...new Set(except)],
    days: everyDay.filter((day) => window.days.some((name) => weekdays.indexOf(name) === day)),
    start_minute: hours * 60 + minutes,
    hours: window.hours,
    time_zone: window.time_zone,
  };
}

const twoDigits = (value: number) => String(value).padStart(2, "0");

function view({ except_names, days, start_minute, hours, time_zone, ...rest }: AutomaticUpdateSettings) {
  const start = `${twoDigits(Math.floor(start_minute / 60))}:${twoDigits(start_minute % 60)}`;
  return {
    ...rest,
    except: [...except_names],
    window: { days: weekdays.filter((_, day) => days.includes(day)), start, hours, time_zone },
  };
}
