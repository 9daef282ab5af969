/** The short name of an environment, derived from its display name like a site's. */
import { Refused } from "../failures.ts";
import { numberedNames, slugOf } from "./siteName.ts";

export const maxNames = 1_000;

/** Candidates for the name: the slug of the display name, then the slug with numbers. The first free one is used. */
export function environmentNames(displayName: string): readonly string[] {
  const slug = slugOf(displayName, "environment");
  if (slug !== "live") return numberedNames(slug, 1, maxNames);
  throw new Refused("environment_name_reserved", '"live" is reserved for the live environment. Send another name.', {
    display_name: displayName,
  });
}
