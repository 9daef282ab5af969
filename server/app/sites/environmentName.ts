/** The short name of an environment, which follows from its display name as a site's does. */
import { Refused } from "../failures.ts";
import { numberedNames, slugOf } from "./siteName.ts";

export const mostNames = 1_000;

/** The slug of the display name, then with numbers behind it: the first that is free is the environment's. */
export function environmentNames(displayName: string): readonly string[] {
  const slug = slugOf(displayName, "environment");
  if (slug !== "live") return numberedNames(slug, 1, mostNames);
  throw new Refused("environment_name_reserved", '"live" is the name of the environment that every site has.', {
    display_name: displayName,
  });
}
